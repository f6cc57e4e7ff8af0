// Writing a table of clusters, in the format that the file's name asks for.
#pragma once

#include <filesystem>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/table.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/table_writers.hpp>
#include <epsflow/io/write_labels.hpp>

namespace epsflow::io {

/// Formats of tables: .csv (a header line; empty fields for NaN), .fits, .h5 and .parquet (io/write/table_writers.hpp).
inline constexpr std::array kTableFormats{OutputFormat::csv, OutputFormat::fits, OutputFormat::hdf5,
                                          OutputFormat::parquet};

/// Creates or overwrites `file`, not atomically; errors name `target`. format: one of kTableFormats. Throws ResourceError; UsageError for a
/// format that this build leaves out or that cannot hold such columns, and where two columns have one name.
void write_table(const std::filesystem::path& file, const std::filesystem::path& target, OutputFormat format,
                 const Table& table, const TableOrigin& origin);
/// The same, atomically, in the format of the name. Errors also as output_format() and AtomicFile.
void write_table(const std::filesystem::path& target, const Table& table, const TableOrigin& origin,
                 Overwrite overwrite);

}  // namespace epsflow::io
