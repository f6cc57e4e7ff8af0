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

/// A value that each row has: one element of a column.
struct ElementChoice {
  std::size_t column = 0;     ///< index into ColumnList
  std::uint64_t element = 0;  ///< which of the values that the column holds in each row
  std::string name = {};      ///< "POS[0]" or "0[0]" if chosen so; else the column's own name, empty without names
  bool is_float32 = false;    ///< true if the column is stored as float32 and not scaled
  std::string unit = {};      ///< as the file spells it; empty if the file has none

  /// Returns the name in errors: 'POS[0]' or 3.
  [[nodiscard]] std::string label() const;
};

/// Returns float32 if every column has is_float32, else float64.
[[nodiscard]] Precision precision_of(std::span<const ElementChoice> columns) noexcept;

/// Returns how many values a column holds in each row. Returns kUnknownCount for a column of lists if no row has a
/// list; then every element may be chosen by name. An empty function stands for one value in every column.
using ElementCount = std::function<std::uint64_t(std::size_t column)>;
inline constexpr std::uint64_t kUnknownCount = std::numeric_limits<std::uint64_t>::max();

/// Returns the columns that source.options select as coordinates (`columns`, else `choose`, else all), followed by the
/// weight column if the options name one. If `columns` is empty, a weight column of one value is not a coordinate; one
/// of several values counts as any other column. If `columns` names the weight column, it is a coordinate, too. A
/// column of one value is chosen by its name or number, a value of any other column as "name[k]", k from 0. Calls
/// `count_of` for columns that may be chosen, for some repeatedly. Throws InputError if a column does not exist (the
/// error lists all), if two columns have the name, if an element does not exist, or if a column of several values or of
/// none is chosen without an element, also by default; UsageError if `columns` names a value twice or the weight entry
/// names several columns.
[[nodiscard]] std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                                         const ElementCount& count_of = {});

/// Returns text for InputRows::kind: ", 2 rows of 5 columns; transposed?" for 1 to 4 rows of more than 4 columns, else
/// nothing. Such a matrix may hold one coordinate per row, whereas each row is read as a point. Throws InputError if
/// such a matrix has more than 32 columns and ReadOptions::columns is empty, and always for more than 2^20 columns.
[[nodiscard]] std::string describe_width(const Source& source, std::uint64_t rows, std::uint64_t columns);

/// Finishes points of make_points() whose values have been read. Sets InputRows::rows. By ReadOptions::on_nan, drops
/// and records the rows with NaN or infinity, throws InputError naming the first, or keeps them. Then calls
/// take_columns(). O(n·d).
void finish_points(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source);

/// Stores names, numbers and units of the chosen columns in the points. If source.options name a weight column, the
/// last column becomes the weights, and the points become float32 if all other columns are, even if the weights are
/// not. O(n·d).
void take_columns(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source);

}  // namespace epsflow::io
