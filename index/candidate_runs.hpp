// The candidates of a cell's points: the runs of positions of the cell and its neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow::index {

/// Walks over consecutive cells of a grid. As cells and their neighbours ascend together, each of the
/// (2·window + 1)^(axes − 1) places where a run may begin only moves forward: O(1) amortised per cell and place, one binary search per place at
/// the start.
class CandidateRuns {
 public:
  CandidateRuns(const Grid& grid, std::size_t first_cell) : grid_(grid), cell_(first_cell) {
    const auto keys = grid.cell_keys();
    for (const std::int64_t offset : grid.keys().neighbor_offsets) {
      places_.push_back(std::lower_bound(keys.begin(), keys.end(), keys[cell_] + offset) - keys.begin());
    }
    collect();
  }

  [[nodiscard]] std::size_t cell() const noexcept { return cell_; }
  /// Non-empty, ascending, not touching each other. Together they hold every neighbour of every point of the cell.
  [[nodiscard]] std::span<const Run> runs() const noexcept { return runs_; }

  /// Moves on to the next cell, of which there must be one.
  void next() {
    ++cell_;
    collect();
  }

 private:
  void collect() {
    const auto keys = grid_.cell_keys();
    const auto starts = grid_.cell_starts();
    const std::uint64_t last = 2 * std::uint64_t{grid_.keys().window};
    runs_.clear();
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const std::uint64_t first_key = keys[cell_] + grid_.keys().neighbor_offsets[p];
      std::size_t& place = places_[p];
      while (place < keys.size() && keys[place] < first_key) ++place;
      std::size_t end = place;
      while (end < keys.size() && keys[end] <= first_key + last) ++end;
      if (end == place) continue;
      if (!runs_.empty() && runs_.back().end == starts[place]) {
        runs_.back().end = starts[end];
      } else {
        runs_.push_back({starts[place], starts[end]});
      }
    }
  }

  const Grid& grid_;
  std::size_t cell_;
  std::vector<std::size_t> places_;
  std::vector<Run> runs_;
};

/// The layout of a packed table over `grid`. O(cells · (2·window + 1)^(axes − 1)) and as many runs, so meant for up to three axes.
[[nodiscard]] PackedLayout make_packed_layout(const Grid& grid);

}  // namespace epsflow::index
