// Owners of HDF5's identifiers, and its errors as text.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <string_view>
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

/// Frees memory that the library allocated for its caller.
struct FreeHdf5 {
  void operator()(void* p) const noexcept { H5free_memory(p); }
};

/// To be held around every use of the library, which is not thread-safe. Admits one thread at a time, turns the
/// library's error printing off and restores it at the end.
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
