// The pairs of neighbours of small, sparse data sets, found one data set after the other.
//
// An index of all points costs each of them a place in a large sort, and every clustering searches it again. A data set of some thousand
// points fits the caches of one core: there its pairs are found in one go, and kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {

/// Two neighbours, by their places in their slice.
struct SlicePair {
  std::uint16_t a;
  std::uint16_t b;
};

/// Immutable.
class PairList {
 public:
  /// Some slices that follow each other, for one thread.
  struct Block {
    std::uint32_t first = 0;  ///< slice
    std::uint32_t last = 0;
    std::vector<std::uint32_t> ends;  ///< [slices] where the pairs of each end
    Buffer<SlicePair> pairs;          ///< each once
  };

  /// All pairs of points of one slice that are neighbours (core/space.hpp). Nothing where a list is not the right index: without slices, in
  /// spaces that are not plain or of more than three dimensions, for slices of more than 65,536 points or too few for the threads, and where
  /// more than some points lie in each neighbourhood. The space must outlive the list. O(n + tests), in parallel. Throws Cancelled.
  [[nodiscard]] static std::optional<PairList> find(PointsView points, const Space& space, double eps,
                                                    const CancelToken& cancel);

  [[nodiscard]] std::span<const Block> blocks() const noexcept { return blocks_; }
  /// [slices + 1] where the points of each begin.
  [[nodiscard]] std::span<const std::uint32_t> starts() const noexcept { return starts_; }
  [[nodiscard]] std::size_t size() const noexcept { return starts_.back(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  std::span<const std::uint32_t> starts_;
  std::vector<Block> blocks_;
};

}  // namespace epsflow::index
