// A FITS file that is being written.
#pragma once

#include <cstdint>
#include <filesystem>

#include <fitsio.h>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/read/fits/fits_file.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {

/// A FITS file that is open for writing. Hold fits_mutex() as long as the object exists.
class FitsOutput {
 public:
  /// Creates `file`, which must not exist. Later, the caller moves it to `target`, so errors name `target`. They also
  /// report `wanted`, the expected bytes of the file, unless it is 0. Throws ResourceError, as check(), write_variant()
  /// and close() do.
  FitsOutput(const std::filesystem::path& file, std::filesystem::path target, std::uint64_t wanted);
  ~FitsOutput();
  FitsOutput(const FitsOutput&) = delete;
  FitsOutput& operator=(const FitsOutput&) = delete;

  [[nodiscard]] fitsfile* get() const noexcept { return file_.get(); }

  /// Returns true if this status of cfitsio means that a system call failed, whose reason errno may have.
  [[nodiscard]] static bool is_of_system(int status) noexcept;
  /// Throws ResourceError, with the system's reason if there is one, if `status` is an error.
  void check(int status) const;
  /// Writes the keywords EPS (or MINSIZE, for min_cluster_size), MINPTS, METRIC and, if eps has a unit of its own,
  /// EPSUNIT to the open extension.
  void write_variant(const Variant& variant, const Metric& metric) const;
  /// Writes the bytes that cfitsio still buffers, and closes the file.
  void close();

 private:
  FitsMessageMark mark_;
  std::filesystem::path target_;
  std::uint64_t wanted_;
  FitsHandle file_;
};

inline constexpr std::size_t kMostFitsColumns = 999;

/// Returns the columns of FITS tables, as TableFunctions::list_columns describes. Locks fits_mutex().
[[nodiscard]] SourceColumns list_fits_columns(const CopySource& source);
/// Copies FITS tables and adds the labels, as TableFunctions::copy describes. Locks fits_mutex().
void copy_fits(const std::filesystem::path& file, const std::filesystem::path& target, const CopySource& source,
               std::span<const std::string> names, const OutputTable& added);

}  // namespace epsflow::io
