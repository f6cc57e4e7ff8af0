// A table for a file, and the formats that write it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/label_numbers.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write_table.hpp>

namespace epsflow::io {

/// Names of the columns that a labelled file has in addition to the input's.
inline constexpr const char* kLabelColumn = "label";
inline constexpr const char* kCoreColumn = "core";
inline constexpr const char* kRowColumn = "row";
inline constexpr const char* kProbabilityColumn = "probability";
/// About how many bytes are written at a time.
inline constexpr std::size_t kOutputBlockBytes = std::size_t{1} << 20;

/// Values of a column in memory, with a fixed distance between them. A view: the caller keeps the values.
template <class T>
struct ColumnView {
  const T* data = nullptr;
  std::size_t stride = 1;  ///< 1: the values lie side by side

  [[nodiscard]] const T& operator[](std::size_t row) const noexcept { return data[row * stride]; }
  /// Returns the values of rows [first, first + count). `copy` holds them if they do not lie side by side.
  [[nodiscard]] std::span<const T> block(std::size_t first, std::size_t count, std::vector<T>& copy) const {
    if (stride == 1) return {data + first, count};
    copy.resize(count);
    for (std::size_t i = 0; i < count; ++i) copy[i] = (*this)[first + i];
    return copy;
  }
};

/// A column. The alternative of the variant is its type in the file; std::uint8_t is a mask of 0 and 1, which Parquet
/// stores as truth values.
struct OutputColumn {
  std::string name;
  std::variant<ColumnView<std::int32_t>, ColumnView<std::int64_t>, ColumnView<float>, ColumnView<double>,
               ColumnView<std::uint8_t>, ColumnView<std::string>>
      values;
  std::string unit = {};  ///< written to FITS only; empty: none, or not known
};

/// Returns the bytes of the longest text of a column, at least 1: formats have no texts of length 0.
[[nodiscard]] inline std::size_t text_width(const ColumnView<std::string>& texts, std::size_t rows) noexcept {
  std::size_t width = 1;
  for (std::size_t row = 0; row < rows; ++row) width = std::max(width, texts[row].size());
  return width;
}

/// A table that any format of TableFunctions can write.
struct OutputTable {
  TableOrigin origin;
  std::size_t rows = 0;
  std::vector<OutputColumn> columns = {};
  LabelNumbers numbers = LabelNumbers::label;  ///< meaning of a label column; a file of groups is marked as one
};

/// Input files whose columns are copied, and the points that were read from them.
struct CopySource {
  std::span<const std::filesystem::path> files;
  const ReadOptions& options;
  const FilePoints& points;
};

/// The columns of the input files.
struct SourceColumns {
  std::vector<std::string> names;  ///< of all columns
  std::string left_out;            ///< LabelledCopy::left_out()
};

/// The functions of one format. All are null in a build without the format. `list_columns` and `copy` are also null if
/// the format cannot copy all columns of an input of its own kind.
struct TableFunctions {
  /// Throws UsageError if the format cannot hold columns with these names and `others` more columns. `what`: the word
  /// for a column in errors.
  void (*check)(std::span<const std::string> names, std::size_t others, std::string_view what) = nullptr;
  /// Creates `file`, not atomically. Overwrites an existing file; for FITS there must be none. Errors name `target`.
  /// Throws ResourceError. O(values), some MiB of memory.
  void (*write)(const std::filesystem::path& file, const std::filesystem::path& target,
                const OutputTable& table) = nullptr;
  /// Opens the files again and lists their columns. Throws InputError if the files differ in their columns, if the
  /// format has no space for the columns of labels, or if a file has changed.
  SourceColumns (*list_columns)(const CopySource& source) = nullptr;
  /// Writes one row for each row of the files, with all columns as they are, followed by the columns of `added`:
  /// labels, and masks of core points and probabilities if there are any. Dropped rows have no value there; in ASCII
  /// tables of FITS their probability is 0. `names` come from list_columns(). Creates `file` as write() does. Reads
  /// blockwise. O(bytes), some MiB of memory. Throws as list_columns() and write().
  void (*copy)(const std::filesystem::path& file, const std::filesystem::path& target, const CopySource& source,
               std::span<const std::string> names, const OutputTable& added) = nullptr;
};

/// Returns the functions for CSV. A file has a header line, then a line of fields for each row. NaN is an empty field.
/// A copy has commas between its fields, or semicolons if commas are decimal marks. It has no comments, blank lines or
/// units.
[[nodiscard]] TableFunctions csv_tables();
/// Returns the functions for FITS. A file has a binary table, with units as TUNIT and the keywords of
/// FitsOutput::write_variant(). A copy is the table of the first file with its keywords, types and units, followed by
/// the rows of the other files. The label of a dropped row is the null value TNULL.
[[nodiscard]] TableFunctions fits_tables();
/// Returns the functions for HDF5. A file has one data set of compound elements, with Hdf5Output::attributes(). A table
/// of one column is a data set of plain values.
[[nodiscard]] TableFunctions hdf5_tables();
/// Returns the functions for Parquet. The metadata of the schema are equal to the attributes in HDF5.
[[nodiscard]] TableFunctions parquet_tables();

/// Throws UsageError for a format that this build leaves out. format: one of kTableFormats.
[[nodiscard]] TableFunctions table_format(OutputFormat format);

}  // namespace epsflow::io
