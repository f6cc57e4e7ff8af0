// The candidates of a group of points, as ranges of positions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

/// Walks over consecutive groups of an index.
class CandidateRanges {
 public:
  CandidateRanges(const SearchIndex& index, std::size_t first_group) : index_(index), group_(first_group) {
    index_.start_walk(group_, walk_);
    index_.find_ranges(group_, walk_);
  }

  [[nodiscard]] std::size_t group() const noexcept { return group_; }
  /// Positions of the group.
  [[nodiscard]] Range rows() const noexcept { return index_.rows_of(group_); }
  /// Non-empty, ascending, not touching each other. Together they hold every neighbour of every point of the group.
  [[nodiscard]] std::span<const Range> ranges() const noexcept { return walk_.ranges; }

  /// Moves on to the next group, of which there must be one.
  void next() { index_.find_ranges(++group_, walk_); }

 private:
  const SearchIndex& index_;
  std::size_t group_;
  GroupWalk walk_;
};

/// Calls f(rows of one group, the group's candidates) for all rows, in order.
template <class F>
void for_each_group(const SearchIndex& index, Range rows, F&& f) {
  if (rows.size() == 0) return;
  CandidateRanges candidates(index, index.group_of(rows.begin));
  for (std::uint32_t row = rows.begin;;) {
    const std::uint32_t end = std::min(rows.end, candidates.rows().end);
    f(Range{row, end}, candidates.ranges());
    row = end;
    if (row == rows.end) return;
    candidates.next();
  }
}

/// The layout of a packed table over an index. O(groups · their candidate ranges) and as many ranges, so meant for up to
/// three dimensions.
[[nodiscard]] PackedLayout make_packed_layout(const SearchIndex& index);

}  // namespace epsflow::index
