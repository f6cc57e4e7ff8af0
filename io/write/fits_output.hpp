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

/// Use it only while fits_mutex() is held.
class FitsOutput {
 public:
  /// Creates or overwrites `file`. Errors name `target` and the `wanted` bytes. Throws ResourceError, as every function
  /// here.
  FitsOutput(const std::filesystem::path& file, std::filesystem::path target, std::uint64_t wanted);
  ~FitsOutput();
  FitsOutput(const FitsOutput&) = delete;
  FitsOutput& operator=(const FitsOutput&) = delete;

  [[nodiscard]] fitsfile* get() const noexcept { return file_.get(); }

  /// Returns true if the status of cfitsio means that the system could not write.
  [[nodiscard]] static bool is_of_system(int status) noexcept;
  /// Throws ResourceError, with the system's reason if there is one, if `status` is an error.
  void check(int status) const;
  /// Writes the keywords EPS, MINPTS, METRIC and, if eps has a unit of its own, EPSUNIT to the open extension.
  void write_variant(const Variant& variant, const Metric& metric) const;
  /// Writes the bytes that cfitsio still holds.
  void close();

 private:
  FitsMessageMark mark_;
  std::filesystem::path target_;
  std::uint64_t wanted_;
  FitsHandle file_;
};

inline constexpr std::size_t kMostFitsColumns = 999;

/// These are TableFunctions::look and TableFunctions::copy of FITS.
[[nodiscard]] SourceColumns look_at_fits(const CopySource& source);
void copy_fits(const std::filesystem::path& file, const std::filesystem::path& target, const CopySource& source,
               std::span<const std::string> names, const CopyLabels& labels);

}  // namespace epsflow::io
