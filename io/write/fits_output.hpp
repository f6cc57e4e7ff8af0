// A FITS file that is written.
#pragma once

#include <cstdint>
#include <filesystem>

#include <fitsio.h>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/read/fits/fits_file.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {

/// To be used while fits_mutex() is held.
class FitsOutput {
 public:
  /// Creates `file` anew. Errors name `target` and the bytes that it is `wanted` to hold. Throws ResourceError, as
  /// every function here.
  FitsOutput(const std::filesystem::path& file, std::filesystem::path target, std::uint64_t wanted);
  ~FitsOutput();
  FitsOutput(const FitsOutput&) = delete;
  FitsOutput& operator=(const FitsOutput&) = delete;

  [[nodiscard]] fitsfile* get() const noexcept { return file_.get(); }

  /// Whether it is the system that could not do what cfitsio wanted to write.
  [[nodiscard]] static bool is_of_system(int status) noexcept;
  /// Throws ResourceError if a call failed, with the system's reason if it has one.
  void check(int status) const;
  /// The keywords EPS, MINPTS, METRIC and, where eps has a unit of its own, EPSUNIT of the extension that is open.
  void write_variant(const Variant& variant, const Metric& metric) const;
  /// Writes what cfitsio still holds.
  void close();

 private:
  FitsMessageMark mark_;
  std::filesystem::path target_;
  std::uint64_t wanted_;
  FitsHandle file_;
};

inline constexpr std::size_t kMostFitsColumns = 999;

/// TableFormat::look and TableFormat::copy.
[[nodiscard]] SourceColumns look_at_fits(const CopySource& source);
void copy_fits(const std::filesystem::path& file, const std::filesystem::path& target, const CopySource& source,
               std::span<const std::string> names, const CopyLabels& labels);

}  // namespace epsflow::io
