// Rows grouped by the values of a column: the slices of a table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/points.hpp>

namespace epsflow {

/// The rows in the order of their slices, which are in the order of their keys. A position is an index in this order.
struct SliceRows {
  std::vector<double> keys;            ///< [slices] ascending, all different
  std::vector<std::uint64_t> offsets;  ///< [slices + 1] begin of each slice in that order, and n
  /// [slices] The whole number key / width of each slice. Empty without a width.
  std::vector<double> stretches;
  std::vector<std::uint32_t> order;  ///< [n] the row at each position; empty if the rows are in this order already

  [[nodiscard]] std::size_t count() const noexcept { return keys.size(); }
  /// Returns the row at a position.
  [[nodiscard]] std::size_t row(std::size_t position) const noexcept {
    return order.empty() ? position : order[position];
  }
};

/// Groups rows by value. With width 0, rows of one value are a slice, and its key is the value. With another width,
/// rows from a whole multiple of it to below the next are a slice, and its key is the multiple. Multiples are decimal
/// numbers rounded to float64: with the width 0.1 the value 0.3 begins a slice. Rows of a slice keep their order. O(n),
/// or O(n log n) if values do not ascend. Throws InputError naming the first row that has NaN or infinity; UsageError
/// for a width that is below 0, not finite, or too small for the values.
[[nodiscard]] SliceRows slice_rows(std::span<const double> values, double width = 0);

/// Copies the points with these ids, in the order of the list. O(ids · d).
[[nodiscard]] Points in_order(PointsView points, std::span<const std::uint32_t> ids);

/// Reorders values by position to values by row. order: SliceRows::order; if it is empty, nothing changes.
template <class T>
void back_to_rows(std::span<T> values, std::span<const std::uint32_t> order) {
  const std::vector<T> by_position(values.begin(), values.end());
  for (std::size_t position = 0; position < order.size(); ++position) values[order[position]] = by_position[position];
}

}  // namespace epsflow
