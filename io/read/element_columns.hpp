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
  std::string unit = {};      ///< in the words of the file; empty where it says none
};

/// float32 when float32 holds all of the columns, else float64.
[[nodiscard]] Precision precision_of(std::span<const ElementChoice> columns) noexcept;

/// As select_columns, the weights last, for columns of which number i holds elements[i] values per row. A column of one
/// value is chosen by its name or number; of any other one value is chosen as "name[k]", k from 0. Throws InputError that
/// says how many there are, UsageError for a value asked for twice.
[[nodiscard]] std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                                         std::span<const std::uint64_t> elements);

/// How many values a column holds in each row; kUnknownCount where no row has any that says so.
using ElementCount = std::function<std::uint64_t(std::size_t column)>;
inline constexpr std::uint64_t kUnknownCount = std::numeric_limits<std::uint64_t>::max();

/// Overload for formats in which counting the elements of a column is expensive: counts only columns that may be chosen, some repeatedly.
[[nodiscard]] std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                                         const ElementCount& count_of);

/// Throws InputError for a matrix of a few long rows, as of coordinates that lie in rows: points are its rows, and so many
/// columns are coordinates only where ReadOptions::columns chooses of them.
void refuse_transposed(const Source& source, std::uint64_t rows, std::uint64_t columns);

/// For InputRows::kind: ", 2 rows of 5 columns; transposed?" for a few rows of more columns, else nothing.
[[nodiscard]] std::string describe_wide(std::uint64_t rows, std::uint64_t columns);

/// Writes names and numbers of the chosen columns into the points.
void set_columns(FilePoints& points, std::span<const ElementChoice> chosen);

/// What is left to do with points once their values are read: apply_nan_policy(), the units of coordinates, and take_weights(), which
/// leaves coordinates of float32 columns as float32 though the weights be float64. set_columns() was called for them before.
void finish_points(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source);

}  // namespace epsflow::io
