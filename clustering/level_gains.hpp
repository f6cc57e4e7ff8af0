// Finds, once for all levels of an eps, the level at which each point becomes core. A level then costs only time for
// the points that become core at it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::clustering {

/// Holds, for each block of a source, the points that are core at the smallest minpts, sorted by descending counts. So
/// the points that become core at a level are a range of this list. Call next() for each level, from the largest minpts
/// down, before of().
class LevelGains {
 public:
  /// least: the smallest minpts. The source must outlive the object, and its counts must not change. O(n log b) for
  /// blocks of b points, in parallel. Throws Cancelled.
  LevelGains(const ClusterSource& source, std::uint32_t least, const CancelToken& cancel)
      : counts_(source.counts()), points_(source.blocks().size()), ranges_(source.blocks().size()) {
    const auto blocks = source.blocks();
    const auto starts = source.node_starts();
    parallel_for(blocks.size(), [&](std::size_t b) {
      if (cancel.cancelled()) return;
      std::vector<NodePoint>& points = points_[b];
      for (std::uint32_t x = blocks[b].nodes.begin; x < blocks[b].nodes.end; ++x) {
        const Range rows = starts.empty() ? Range{x, x + 1} : Range{starts[x], starts[x + 1]};
        for (std::uint32_t p = rows.begin; p < rows.end; ++p) {
          if (counts_[p] >= least) points.push_back({p, x});
        }
      }
      sort(points, least);
    });
    cancel.check();
  }

  [[nodiscard]] static constexpr std::uint64_t bytes_per_point() noexcept { return sizeof(NodePoint); }

  /// Moves to the first level at the first call, later to the next level. minpts: of that level, smaller than at the
  /// call before and at least `least`. O(blocks + points that become core).
  void next(std::uint32_t minpts) {
    for (std::size_t b = 0; b < points_.size(); ++b) {
      Range& range = ranges_[b];
      range.begin = range.end;
      while (range.end < points_[b].size() && counts_[points_[b][range.end].position] >= minpts) ++range.end;
    }
  }
  /// Returns the points of a block that become core at the current level, by descending counts, then by position.
  [[nodiscard]] std::span<const NodePoint> of(std::size_t block) const noexcept {
    return std::span(points_[block]).subspan(ranges_[block].begin, ranges_[block].size());
  }

 private:
  /// Sorts points, which are in the order of positions, by descending counts, then by position.
  void sort(std::vector<NodePoint>& points, std::uint32_t least) const {
    std::uint32_t most = least;
    for (const NodePoint& point : points) most = std::max(most, counts_[point.position]);
    // Counting sort if counts are few and the copy is small; else in place.
    if (std::uint64_t{most} - least >= 2 * points.size() || points.size() > kMostCopied) {
      std::sort(points.begin(), points.end(), [&](const NodePoint& a, const NodePoint& c) {
        return counts_[a.position] != counts_[c.position] ? counts_[a.position] > counts_[c.position]
                                                          : a.position < c.position;
      });
      return;
    }
    // [most - count + 1] The index of the first point with a count; then of the next point with this count.
    std::vector<std::uint32_t> starts(std::size_t{most} - least + 2);
    for (const NodePoint& point : points) ++starts[most - counts_[point.position] + 1];
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    std::vector<NodePoint> sorted(points.size());
    for (const NodePoint& point : points) sorted[starts[most - counts_[point.position]]++] = point;
    points = std::move(sorted);
  }

  static constexpr std::size_t kMostCopied = 1 << 16;

  std::span<const std::uint32_t> counts_;
  std::vector<std::vector<NodePoint>> points_;  ///< [blocks]
  std::vector<Range> ranges_;                   ///< [blocks] points of the current level
};

}  // namespace epsflow::clustering
