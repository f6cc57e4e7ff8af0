// Owners of HDF5's identifiers, and its errors as text.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace epsflow::io {

/// Owns an identifier that Close releases.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  explicit Handle(hid_t id) noexcept : id_(id) {}
  ~Handle() {
    if (id_ >= 0) Close(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&&) = delete;  // no handle here changes its object
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  [[nodiscard]] bool valid() const noexcept { return id_ >= 0; }

 private:
  hid_t id_;
};
using FileHandle = Handle<H5Fclose>;
using ObjectHandle = Handle<H5Oclose>;
using DatasetHandle = Handle<H5Dclose>;
using SpaceHandle = Handle<H5Sclose>;
using TypeHandle = Handle<H5Tclose>;
using ListHandle = Handle<H5Pclose>;
using AttributeHandle = Handle<H5Aclose>;

/// The HDF5 types of a number.
struct Hdf5Type {
  hid_t memory;  ///< the type of this machine
  hid_t file;    ///< the little-endian type that is stored on every machine
};

/// Returns the types of a number of type T.
template <class T>
[[nodiscard]] Hdf5Type hdf5_type() {
  if constexpr (std::is_same_v<T, double>) return {H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE};
  if constexpr (std::is_same_v<T, float>) return {H5T_NATIVE_FLOAT, H5T_IEEE_F32LE};
  if constexpr (std::is_same_v<T, std::int8_t>) return {H5T_NATIVE_INT8, H5T_STD_I8LE};
  if constexpr (std::is_same_v<T, std::int32_t>) return {H5T_NATIVE_INT32, H5T_STD_I32LE};
  if constexpr (std::is_same_v<T, std::int64_t>) return {H5T_NATIVE_INT64, H5T_STD_I64LE};
  if constexpr (std::is_same_v<T, std::uint8_t>) return {H5T_NATIVE_UINT8, H5T_STD_U8LE};
  if constexpr (std::is_same_v<T, std::uint32_t>) return {H5T_NATIVE_UINT32, H5T_STD_U32LE};
  if constexpr (std::is_same_v<T, std::uint64_t>) return {H5T_NATIVE_UINT64, H5T_STD_U64LE};
}

/// Frees memory that the library allocated for its caller.
struct FreeHdf5 {
  void operator()(void* p) const noexcept { H5free_memory(p); }
};

/// Hold one around every use of the library, which is not thread-safe. The constructor waits for other sessions to end.
/// A session turns the library's error printing off and restores it at the end.
class Hdf5Session {
 public:
  Hdf5Session();
  ~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// The library's text for a filter that it lacks, followed by the filter's name.
inline constexpr std::string_view kLackedFilter = "required filter";

/// Returns the outermost and the innermost message of the library's error stack, which are the failed step and its
/// cause, and empties the stack. If a message is about a lacked filter, it replaces the innermost one, which is then
/// about a folder of plugins.
[[nodiscard]] std::string take_error_text();

}  // namespace epsflow::io
