// The pairs of neighbours of small, sparse data sets: of one, or of many slices.
//
// With an index of all points each point takes part in a large sort, and every clustering searches the index again. A
// data set of some thousand points fits the caches of one core: its pairs are searched once and stored. With two
// neighbours for each of 4,000 points DBSCAN takes a fifth of the time that it takes with dense-box cells.
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

/// Two different points that are neighbours, as offsets in their slice.
struct SlicePair {
  std::uint16_t a;
  std::uint16_t b;
};

/// All pairs of neighbours within the same slice, for one eps. Immutable.
class PairList {
 public:
  /// The largest number of points in a slice.
  static constexpr std::uint32_t kMostSlicePoints = 1 << 16;

  /// Consecutive slices. One thread searches a block, unless there is a single slice, which all threads search.
  struct Block {
    std::uint32_t first = 0;          ///< first slice
    std::uint32_t last = 0;           ///< the slice after the last one
    std::vector<std::uint32_t> ends;  ///< [slices] end of the pairs of each slice
    Buffer<SlicePair> pairs;          ///< each pair once
  };

  /// Returns all pairs of neighbours (core/space.hpp) within the same slice; points without slices are one slice.
  /// Returns nullopt if a list is not the right index: without points, if the space is not plain or has more than three
  /// dimensions, if a slice has more than kMostSlicePoints, if there are several slices of more than 4,096 points in
  /// all, but too few for the threads, if neighbourhoods are not sparse (a single slice may take about 12 distance
  /// tests a point and 400,000 in all), and if eps or the coordinates are so extreme that squares overflow or
  /// underflow. The slices of the space must outlive the list. O(n + tests), in parallel. Throws Cancelled.
  [[nodiscard]] static std::optional<PairList> find(PointsView points, const Space& space, double eps,
                                                    const CancelToken& cancel);

  [[nodiscard]] std::span<const Block> blocks() const noexcept { return blocks_; }
  /// [slices + 1] first point of each slice, and n.
  [[nodiscard]] std::span<const std::uint32_t> starts() const noexcept { return starts_; }
  /// Returns the number of points.
  [[nodiscard]] std::size_t size() const noexcept { return starts_.back(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  std::vector<std::uint32_t> whole_;  ///< the starts of points without slices
  std::span<const std::uint32_t> starts_;
  std::vector<Block> blocks_;
};

}  // namespace epsflow::index
