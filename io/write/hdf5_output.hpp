// An HDF5 file that is being written.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/read/hdf5/hdf5_handle.hpp>

namespace epsflow::io {

/// Writes data sets and attributes to an HDF5 file. Use it only within an Hdf5Session. Every function throws
/// ResourceError if HDF5 reports an error. The destructor closes the file if close() was not called, and ignores
/// errors.
class Hdf5Output {
 public:
  /// Creates or overwrites `file`. Later, the caller may move it to `target`, so errors name `target`.
  Hdf5Output(const std::filesystem::path& file, std::filesystem::path target);
  ~Hdf5Output();
  Hdf5Output(const Hdf5Output&) = delete;
  Hdf5Output& operator=(const Hdf5Output&) = delete;

  [[nodiscard]] hid_t file() const noexcept { return file_; }

  /// Returns the result of an HDF5 call. Throws if the call failed.
  template <class T>
  T check(T result) const {
    if (result < 0) fail();
    return result;
  }

  /// Returns creation properties for new data sets. Data sets then store no times, so that equal results make equal
  /// files.
  [[nodiscard]] ListHandle layout() const;
  /// Creates a data set. shape: its size along each axis.
  [[nodiscard]] DatasetHandle create(const char* name, hid_t file_type, std::span<const hsize_t> shape) const;
  /// Creates a data set of these values: [n] or, if `width` is given, [n / width × width].
  template <class T>
  DatasetHandle write(const char* name, std::span<const T> values, hsize_t width = 0) const {
    const std::array<hsize_t, 2> shape{width > 0 ? values.size() / width : values.size(), width};
    DatasetHandle set = create(name, hdf5_type<T>().file, std::span(shape).first(width > 0 ? 2 : 1));
    if (!values.empty()) {
      check(H5Dwrite(set.get(), hdf5_type<T>().memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    }
    return set;
  }

  /// Writes an attribute of one number.
  template <class T>
  void attribute(hid_t object, const char* name, T value) const {
    attribute(object, name, SpaceHandle(check(H5Screate(H5S_SCALAR))), hdf5_type<T>(), &value);
  }
  /// Writes an attribute of one axis.
  template <class T>
  void attribute(hid_t object, const char* name, const std::vector<T>& values) const {
    const hsize_t count = values.size();
    attribute(object, name, SpaceHandle(check(H5Screate_simple(1, &count, nullptr))), hdf5_type<T>(), values.data());
  }
  void attribute(hid_t object, const char* name, const std::string& value) const;
  /// Writes these attributes: eps, minpts, clusters, noise, core, border, largest, the text `metric`, and `eps_unit` if
  /// the metric defines the unit of eps. If the variant has a min_cluster_size, min_cluster_size replaces eps, and
  /// `clustered` replaces core and border.
  void attributes(hid_t object, const VariantResult& result, const Metric& metric) const;

  /// Writes the bytes that the library still holds, and closes the file. Every other handle must be closed before.
  void close();

 private:
  [[noreturn]] void fail() const;
  void attribute(hid_t object, const char* name, const SpaceHandle& space, Hdf5Type type, const void* value) const;

  std::filesystem::path target_;
  hid_t file_;
};

}  // namespace epsflow::io
