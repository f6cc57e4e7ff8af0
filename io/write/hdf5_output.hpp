// An HDF5 file that is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/read/hdf5/hdf5_handle.hpp>

namespace epsflow::io {

/// To be used within an Hdf5Session.
class Hdf5Output {
 public:
  /// Creates `file` anew. Errors name `target`. Throws ResourceError, as every function here.
  Hdf5Output(const std::filesystem::path& file, std::filesystem::path target);
  ~Hdf5Output();
  Hdf5Output(const Hdf5Output&) = delete;
  Hdf5Output& operator=(const Hdf5Output&) = delete;

  [[nodiscard]] hid_t file() const noexcept { return file_; }

  /// Passes on what an HDF5 call returned; throws where it failed.
  template <class T>
  T check(T result) const {
    if (result < 0) fail();
    return result;
  }

  /// What data sets are made with: they hold no times, so that equal results make equal files.
  [[nodiscard]] ListHandle layout() const;

  /// A data set of one axis.
  template <class T>
  DatasetHandle write(const char* name, std::span<const T> values, hid_t memory_type, hid_t file_type) const {
    const hsize_t size = values.size();
    const SpaceHandle space(check(H5Screate_simple(1, &size, nullptr)));
    DatasetHandle set(
        check(H5Dcreate2(file(), name, file_type, space.get(), H5P_DEFAULT, layout().get(), H5P_DEFAULT)));
    if (size > 0) check(H5Dwrite(set.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    return set;
  }

  void attribute(hid_t object, const char* name, const void* value, hid_t memory_type, hid_t file_type) const;
  void attribute(hid_t object, const char* name, double value) const;
  void attribute(hid_t object, const char* name, std::uint64_t value) const;
  void attribute(hid_t object, const char* name, const std::string& value) const;
  /// eps, minpts and the counts of a variant, `metric` and, where eps has a unit of its own, `eps_unit`.
  void attributes(hid_t object, const VariantResult& result, const Metric& metric) const;

  /// Writes what the library still holds. Every handle must be closed by then.
  void close();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path target_;
  hid_t file_;
};

}  // namespace epsflow::io
