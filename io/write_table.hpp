// Writes a table of clusters. The format follows from the file's name.
#pragma once

#include <filesystem>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/table.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io {

/// The variant of a table, and the name of the table: "catalog". Formats with metadata hold the variant and the metric.
struct TableOrigin {
  const char* name;
  const VariantResult& result;
  const Metric& metric;
};

/// Creates `file`, not atomically; errors name `target`. Overwrites an existing file; for FITS there must be none.
/// format: one of kTableFormats. NaN is an empty field in CSV. Throws ResourceError; UsageError for a format that this
/// build leaves out or that cannot hold such columns, and if two columns have the same name.
void write_table(const std::filesystem::path& file, const std::filesystem::path& target, OutputFormat format,
                 const Table& table, const TableOrigin& origin);
/// Writes `target` atomically, in the format of its name. Errors also as output_format() and commit_file().
void write_table(const std::filesystem::path& target, const Table& table, const TableOrigin& origin,
                 Overwrite overwrite);

}  // namespace epsflow::io
