// The cells around a cell, row by row or slab by slab.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow::index {

/// The surrounding cells that form one range.
enum class WindowRanges {
  rows,        ///< 2·reach + 1 slots along the last axis
  rows_up_to,  ///< rows, without the rows after the cell's own
  slabs,       ///< 2·reach + 1 slots along each of the last two axes, and all cells between these rows
};

/// Walks over ascending cells of a grid without closed axes, and finds the non-empty cells up to `reach` slots away on
/// every axis, reach <= CellKeys::window. The grid must outlive the walk. As cells and their neighbours ascend
/// together, both ends of each range only move forward: O(1) amortised per cell and range, plus one binary search per
/// range at the start.
class CellWindow {
 public:
  CellWindow(const Grid& grid, std::uint32_t first_cell, std::uint32_t reach, WindowRanges kind = WindowRanges::rows)
      : grid_(grid), reach_(reach) {
    const KeyRanges around = grid.keys().ranges(reach, kind == WindowRanges::slabs ? 2 : 1);
    offsets_ = around.offsets;
    length_ = around.length;
    order_by_distance();
    if (kind == WindowRanges::rows_up_to) offsets_.resize(offsets_.size() / 2 + 1);
    std::erase_if(nearest_, [&](std::size_t r) { return r >= offsets_.size(); });
    const auto keys = grid.cell_keys();
    for (const std::int64_t offset : offsets_) {
      const auto cell = std::lower_bound(keys.begin(), keys.end(), keys[first_cell] + offset) - keys.begin();
      unclipped_.push_back({static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(cell)});
    }
    ranges_ = unclipped_;
  }

  /// Returns ranges that hold all cells around each of `cells`, these included. If there are several, the ranges may
  /// hold other cells too. `cells` is not empty, and must not begin before the cells of the previous call. Ranges
  /// ascend and share no cell; a range may be empty. They are valid until the next call.
  std::span<const Range> around(Range cells) {
    const auto keys = grid_.cell_keys();
    std::uint32_t end = 0;
    for (std::size_t r = 0; r < unclipped_.size(); ++r) {
      const std::uint64_t first_key = keys[cells.begin] + offsets_[r];
      const std::uint64_t end_key = keys[cells.end - 1] + offsets_[r] + length_;
      Range range = unclipped_[r];
      range.begin = first_not_less(range.begin, first_key);
      range.end = first_not_less(range.end, end_key);
      // The end may be too far if the previous call had more cells.
      while (range.end > range.begin && keys[range.end - 1] >= end_key) --range.end;
      unclipped_[r] = range;
      // Ranges around one cell are disjoint; ranges around several cells may overlap.
      ranges_[r] = {std::max(range.begin, end), std::max(range.end, end)};
      end = ranges_[r].end;
    }
    return ranges_;
  }

  /// Returns the number of points in the ranges of the last around().
  [[nodiscard]] std::uint64_t points() const {
    const auto starts = grid_.cell_starts();
    std::uint64_t sum = 0;
    for (const Range& range : ranges_) sum += starts[range.end] - starts[range.begin];
    return sum;
  }

  /// Returns the ranges of the last around() as ranges of positions, without the given cell. Non-empty, nearer ranges
  /// first.
  std::span<const Range> others_nearest_first(std::uint32_t cell) {
    const auto starts = grid_.cell_starts();
    others_.clear();
    const auto add = [&](std::uint32_t first, std::uint32_t last) {
      if (first < last) others_.push_back({starts[first], starts[last]});
    };
    for (const std::size_t r : nearest_) {
      const Range& range = ranges_[r];
      if (cell - range.begin < range.size()) {
        add(cell + 1, range.end);
        add(range.begin, cell);
      } else {
        add(range.begin, range.end);
      }
    }
    return others_;
  }

 private:
  /// Returns the first cell from `at` on whose key is not less. The last steps have no branch, as sparse grids make it
  /// unpredictable.
  [[nodiscard]] std::uint32_t first_not_less(std::uint32_t at, std::uint64_t key) const {
    const std::uint64_t* keys = grid_.cell_keys().data();
    const auto count = static_cast<std::uint32_t>(grid_.cells());
    for (; at + 8 <= count; at += 8) {
      if (keys[at + 7] < key) continue;
      at += keys[at + 3] < key ? 4 : 0;
      at += keys[at + 1] < key ? 2 : 0;
      at += keys[at] < key ? 1 : 0;
      return at;
    }
    while (at < count && keys[at] < key) ++at;
    return at;
  }

  /// Sorts ranges by the largest number of slots between cell and range on any axis; the cell's own range comes first.
  void order_by_distance() {
    const std::size_t side = 2 * std::size_t{reach_} + 1;
    const auto distance = [&](std::size_t range_index) {
      std::size_t most = 0;
      for (std::size_t rest = offsets_.size(); rest > 1; rest /= side, range_index /= side) {
        const std::size_t step = range_index % side;
        most = std::max(most, step > reach_ ? step - reach_ : reach_ - step);
      }
      return most;
    };
    for (std::size_t r = 0; r < offsets_.size(); ++r) nearest_.push_back(r);
    std::stable_sort(nearest_.begin(), nearest_.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  }

  const Grid& grid_;
  std::uint32_t reach_;
  std::vector<std::int64_t> offsets_;
  std::uint64_t length_ = 0;
  std::vector<Range> unclipped_;  // the ranges before overlaps are cut off
  std::vector<Range> ranges_;
  std::vector<std::size_t> nearest_;
  std::vector<Range> others_;
};

}  // namespace epsflow::index
