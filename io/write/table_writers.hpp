// Writing tables in formats that need a library of their own. A build without it has the same functions, which refuse.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/table.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// What a table of a variant says of it.
struct TableOrigin {
  const char* name;  ///< of the table: "catalog"
  const VariantResult& result;
  const Metric& metric;
};

// Each creates or overwrites `file`, not atomically, and names `target` in errors. Throws ResourceError; UsageError where the format cannot
// hold such columns.

/// A binary table: 64-bit integers, float64 and text; units as TUNIT; FitsOutput::write_variant().
void write_fits_table(const std::filesystem::path& file, const std::filesystem::path& target, const Table& table,
                      const TableOrigin& origin);
/// One data set of compound elements, with Hdf5Output::attributes().
void write_hdf5_table(const std::filesystem::path& file, const std::filesystem::path& target, const Table& table,
                      const TableOrigin& origin);
/// int64, double and string columns, with the metadata of write_parquet_labels().
void write_parquet_table(const std::filesystem::path& file, const std::filesystem::path& target, const Table& table,
                         const TableOrigin& origin);

/// Groups of friends as SWIFT's own finder has them. Each is [groups], in the order of the groups.
struct SwiftGroups {
  std::span<const double> masses;
  std::span<const double> centres;  ///< [groups × 3]
  std::span<const std::int64_t> sizes;
  std::array<double, 3> box{};         ///< its sides; 0 where it is open
  double length_unit = 3.08567758e24;  ///< in cm: Mpc
  double mass_unit = 1.98841e43;       ///< in g: 10^10 solar masses
};

/// Writes SWIFT's catalogue of groups: Groups/Masses, Centres, GroupIDs (from 1) and Sizes, with their units, which swiftsimio opens.
/// Source: github.com/SWIFTSIM/SWIFT, src/fof_catalogue_io.c. Atomic. Throws UsageError where lengths differ; errors as AtomicFile.
void write_swift_groups(const std::filesystem::path& target, const SwiftGroups& groups, Overwrite overwrite);

}  // namespace epsflow::io
