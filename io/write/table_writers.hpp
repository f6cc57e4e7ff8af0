// Writing tables in formats that need a library of their own. A build without it has the same functions, which refuse.
#pragma once

#include <filesystem>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/table.hpp>

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

}  // namespace epsflow::io
