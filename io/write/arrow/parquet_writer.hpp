// Writing Parquet, through Apache Arrow's C++ libraries.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/label_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/labelled_rows.hpp>

namespace epsflow::io {

/// Writes a column `label` (int32). The key-value metadata of the schema hold what the attributes of an HDF5 file do: eps, minpts,
/// the counts, metric and, where eps has a unit of its own, eps_unit. Atomic. Errors as AtomicFile; UsageError where this build has
/// no Parquet.
void write_parquet_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                          const Metric& metric, LabelNumbers numbers);

/// Throws UsageError for a name that is no UTF-8.
void require_parquet_names(std::span<const std::string> names);

/// Writes one row for each point: its row (int64) where points are renumbered, its coordinates under `names`, label (int32) and
/// core (bool); with the metadata of write_parquet_labels(). O(n·d); memory: some ten MiB. Throws ResourceError naming `target`.
void write_parquet_coordinates(const std::filesystem::path& file, const std::filesystem::path& target,
                               std::span<const std::string> names, const LabelledRows& rows);

}  // namespace epsflow::io
