// Writes the labels of one variant, or points. The format follows from the file's name.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/io/label_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::io {

/// The format of an output file, which follows from the extension of its name: output_format().
enum class OutputFormat : std::uint8_t { npy, csv, fits, hdf5, parquet };

/// Returns the one of the `allowed` formats that a file name stands for: by its ending .npy .csv .fits .h5 .hdf5
/// .parquet in lower or upper case, or CSV for standard output. Throws UsageError for any other name, and for a format
/// that this build leaves out.
[[nodiscard]] OutputFormat output_format(const std::filesystem::path& file, std::span<const OutputFormat> allowed);

/// Returns `format`. Throws UsageError if this build leaves it out.
OutputFormat require_known(OutputFormat format);

/// Formats of labels: .npy (int32), .csv (a column `label`), .fits (a binary table with an int32 column LABEL, the
/// variant and the metric as keywords), .h5 (a data set `labels` with the variant, its counts and the metric as
/// attributes), .parquet (an int32 column `label`, with the same as metadata of the schema).
inline constexpr std::array kLabelFormats{OutputFormat::npy, OutputFormat::csv, OutputFormat::fits, OutputFormat::hdf5,
                                          OutputFormat::parquet};
/// Formats of points: .npy, .csv (with a header line if there are names).
inline constexpr std::array kPointFormats{OutputFormat::npy, OutputFormat::csv};
/// Formats of masks of core points.
inline constexpr std::array kMaskFormats{OutputFormat::npy};
/// Formats of tables (write_table.hpp), and of the input with labels (labelled_copy.hpp).
inline constexpr std::array kTableFormats{OutputFormat::csv, OutputFormat::fits, OutputFormat::hdf5,
                                          OutputFormat::parquet};
/// Formats of neighbour tables.
inline constexpr std::array kNeighborFormats{OutputFormat::hdf5};

/// Writes result.labels as they are, in one of kLabelFormats. Formats with metadata (FITS, HDF5, Parquet) also hold
/// `metric`. numbers: the meaning of the labels. A file of groups is marked; is_marked_as_groups() finds the mark,
/// except in CSV. Atomic. Errors as output_format() and commit_file().
void write_labels(const std::filesystem::path& file, const VariantResult& result, Overwrite overwrite,
                  const Metric& metric = {}, LabelNumbers numbers = LabelNumbers::label);

/// Writes points in one of kPointFormats. names: [d] for the header line of CSV, or empty. Atomic. Errors as
/// output_format() and commit_file().
void write_points(const std::filesystem::path& file, PointsView points, const std::vector<std::string>& names,
                  Overwrite overwrite);

}  // namespace epsflow::io
