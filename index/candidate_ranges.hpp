// The candidates of a bundle of points, as ranges of positions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::index {

/// Walks over consecutive bundles of an index, which must outlive the walk.
class CandidateRanges {
 public:
  CandidateRanges(const SearchIndex& index, std::size_t first_bundle) : index_(index), bundle_(first_bundle) {
    index_.start_walk(bundle_, walk_);
    index_.find_ranges(bundle_, walk_);
  }

  [[nodiscard]] std::size_t bundle() const noexcept { return bundle_; }
  [[nodiscard]] Range rows() const noexcept { return index_.rows_of(bundle_); }
  /// Non-empty, ascending, not touching each other. Together they hold every neighbour of every point of the bundle.
  [[nodiscard]] std::span<const Range> ranges() const noexcept { return walk_.ranges; }

  /// Moves to the next bundle, which must exist.
  void next() { index_.find_ranges(++bundle_, walk_); }

 private:
  const SearchIndex& index_;
  std::size_t bundle_;
  BundleWalk walk_;
};

/// Calls f(part, candidates) for each bundle with some of the rows, in order. part: those rows of the bundle that are
/// among `rows`. candidates: the ranges of all candidates of the bundle.
template <class F>
void for_each_bundle(const SearchIndex& index, Range rows, F&& f) {
  if (rows.size() == 0) return;
  CandidateRanges candidates(index, index.bundle_of(rows.begin));
  for (std::uint32_t row = rows.begin;;) {
    const std::uint32_t end = std::min(rows.end, candidates.rows().end);
    f(Range{row, end}, candidates.ranges());
    row = end;
    if (row == rows.end) return;
    candidates.next();
  }
}

/// Returns the layout of a packed table over an index. O(bundles · candidate ranges of a bundle) time and memory. Use
/// it for at most kMostPackedDims dimensions, because a bundle has many ranges in more dimensions.
[[nodiscard]] PackedLayout make_packed_layout(const SearchIndex& index);

}  // namespace epsflow::index
