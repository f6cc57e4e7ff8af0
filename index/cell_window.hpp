// The cells around a cell, row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/candidate_groups.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow::index {

/// Walks over consecutive cells of a grid and finds the non-empty cells up to `reach` slots away on every axis. As cells
/// and their neighbours ascend together, each of the (2·reach + 1)^(axes − 1) rows only moves forward: O(1) amortised per
/// cell and row, one binary search per row at the start.
class CellWindow {
 public:
  CellWindow(const Grid& grid, std::size_t first_cell, std::uint32_t reach)
      : grid_(grid), cell_(first_cell), reach_(reach), offsets_(grid.keys().row_offsets(reach)) {
    const auto keys = grid.cell_keys();
    for (const std::int64_t offset : offsets_) {
      places_.push_back(std::lower_bound(keys.begin(), keys.end(), keys[cell_] + offset) - keys.begin());
    }
    rows_.resize(offsets_.size());
    order_by_distance();
  }

  [[nodiscard]] std::size_t cell() const noexcept { return cell_; }
  void next() noexcept { ++cell_; }

  /// Cells [begin, end) of each row, the cell itself included; a row may be empty. Ascending.
  [[nodiscard]] std::span<const Run> rows() {
    const auto keys = grid_.cell_keys();
    const std::uint64_t last = 2 * std::uint64_t{reach_};
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const std::uint64_t first_key = keys[cell_] + offsets_[p];
      std::size_t& place = places_[p];
      while (place < keys.size() && keys[place] < first_key) ++place;
      std::size_t end = place;
      while (end < keys.size() && keys[end] <= first_key + last) ++end;
      rows_[p] = {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(end)};
    }
    return rows_;
  }

  /// The positions of all these cells but the cell's own, non-empty runs, rows that are nearer first.
  [[nodiscard]] std::span<const Run> others_nearest_first() {
    const auto starts = grid_.cell_starts();
    const auto own = static_cast<std::uint32_t>(cell_);
    (void)rows();
    runs_.clear();
    const auto add = [&](std::uint32_t first, std::uint32_t last) {
      if (first < last) runs_.push_back({starts[first], starts[last]});
    };
    add(rows_[nearest_[0]].begin, own);
    add(own + 1, rows_[nearest_[0]].end);
    for (std::size_t p = 1; p < nearest_.size(); ++p) add(rows_[nearest_[p]].begin, rows_[nearest_[p]].end);
    return runs_;
  }

 private:
  /// By the largest number of slots that a row is away on any axis; the cell's own row comes first.
  void order_by_distance() {
    const std::size_t side = 2 * std::size_t{reach_} + 1;
    const auto distance = [&](std::size_t place) {
      std::size_t most = 0;
      for (std::size_t rest = places_.size(); rest > 1; rest /= side, place /= side) {
        const std::size_t step = place % side;
        most = std::max(most, step > reach_ ? step - reach_ : reach_ - step);
      }
      return most;
    };
    for (std::size_t p = 0; p < places_.size(); ++p) nearest_.push_back(p);
    std::stable_sort(nearest_.begin(), nearest_.end(),
                     [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  }

  const Grid& grid_;
  std::size_t cell_;
  std::uint32_t reach_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::size_t> places_;
  std::vector<std::size_t> nearest_;
  std::vector<Run> rows_;
  std::vector<Run> runs_;
};

}  // namespace epsflow::index
