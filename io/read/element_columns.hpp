// Choosing one number per row from columns that may hold several: vectors of FITS, sub-arrays of NPY and HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// One value per row.
struct ElementChoice {
  std::size_t column = 0;     ///< into ColumnList
  std::uint64_t element = 0;  ///< of the values that the column holds in each row
  std::string name = {};      ///< "POS[0]", or the column's own name when it holds one value; empty without names
  bool is_float32 = false;    ///< whether float32 holds whatever the column holds
  std::string unit = {};      ///< in the words of the file; empty if it says none

  /// How errors name it: 'POS[0]' or 3.
  [[nodiscard]] std::string label() const;
};

/// float32 when float32 holds all of the columns, else float64.
[[nodiscard]] Precision precision_of(std::span<const ElementChoice> columns) noexcept;

/// How many values a column holds in each row; kUnknownCount if no row has any. Empty if every column holds one.
using ElementCount = std::function<std::uint64_t(std::size_t column)>;
inline constexpr std::uint64_t kUnknownCount = std::numeric_limits<std::uint64_t>::max();

/// The columns that source.options asks for as coordinates, or all, followed by that of the weights if the options name
/// one. It may be one of the coordinates as well; only if no coordinates are named it is left out of them. A column of
/// one value is chosen by its name or number, a value of any other as "name[k]", k from 0. Counts columns that may be
/// chosen, some repeatedly. Throws as columns_of(), InputError that says how many values a column holds, UsageError for
/// a value that is named twice or a range of weights.
[[nodiscard]] std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                                         const ElementCount& count_of = {});

/// Overload for columns of which number i holds elements[i] values in each row.
[[nodiscard]] std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                                         std::span<const std::uint64_t> elements);

/// Throws InputError for a matrix of a few long rows, as of coordinates that lie in rows: points are its rows, and so many
/// columns are coordinates only where ReadOptions::columns chooses of them.
void refuse_transposed(const Source& source, std::uint64_t rows, std::uint64_t columns);

/// For InputRows::kind: ", 2 rows of 5 columns; transposed?" for a few rows of more columns, else nothing.
[[nodiscard]] std::string describe_wide(std::uint64_t rows, std::uint64_t columns);

/// What is left to do with points after their values are read. Drops and counts the rows with NaN or infinity, or
/// throws InputError naming the first, as the options say, and calls take_columns(). O(n·d).
void finish_points(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source);

/// Stores names, numbers and units of the chosen columns in the points, and makes weights of the last one if
/// source.options asks for weights. Coordinates of float32 columns become float32, though the weights be float64.
/// O(n·d).
void take_columns(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source);

}  // namespace epsflow::io
