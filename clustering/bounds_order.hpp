// Points of cells in an order in which consecutive ones lie within narrow bounds, so that not every pair needs a test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {

/// A copy of the points of a grid. Each cell keeps its positions and has its points among them halved along the widest axis,
/// again and again. Bounds are of 16, 256 and 4096 consecutive positions, counted over all points: those at the ends of a cell
/// may hold points of others, which makes them wide and no less right.
class BoundsOrder {
 public:
  static constexpr unsigned kFanoutBits = 4;
  static constexpr unsigned kLevels = 3;
  /// Positions that share bounds, on a level: 2^shift.
  [[nodiscard]] static constexpr unsigned shift(unsigned level) noexcept { return kFanoutBits * (level + 1); }

  /// The bounds of one level. lo[k], hi[k]: smallest and largest coordinate k of each piece of 2^shift positions,
  /// Buffer::kPadding bytes readable behind.
  struct Bounds {
    std::array<Buffer<double>, index::kMostCliqueDims> lo;
    std::array<Buffer<double>, index::kMostCliqueDims> hi;
  };

  /// in: of the grid, which has at least one point. blocks: of its cells, of about equal size. O(n·log n) at worst, in parallel.
  /// Throws Cancelled.
  BoundsOrder(const index::Grid& grid, const index::SearchInput& in, std::span<const ClusterBlock> blocks,
              const CancelToken& cancel);
  BoundsOrder(const BoundsOrder&) = delete;
  BoundsOrder& operator=(const BoundsOrder&) = delete;

  /// Bytes that it takes, at most.
  [[nodiscard]] static constexpr std::uint64_t bytes_per_point(std::size_t dims, Precision precision) noexcept {
    return sizeof(std::uint32_t) + dims * (bytes_of(precision) + 2);
  }

  /// Bytes that a point takes while its cell is arranged.
  [[nodiscard]] static constexpr std::uint64_t bytes_per_arranged(Precision precision) noexcept {
    return (index::kMostCliqueDims + 1) * bytes_of(precision);
  }

  /// Coordinates by position.
  [[nodiscard]] const index::SearchInput& input() const noexcept { return input_; }
  /// Input id of each position. [n]
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_.span(); }
  [[nodiscard]] const Bounds& bounds(unsigned level) const noexcept { return bounds_[level]; }

 private:
  template <class T>
  void arrange(const index::Grid& grid, std::span<const ClusterBlock> blocks, const CancelToken& cancel);
  template <class T>
  void bound();

  std::array<Buffer<std::byte>, index::kMostCliqueDims> coordinates_;
  std::array<const void*, index::kMostCliqueDims> addresses_{};
  Buffer<std::uint32_t> order_;
  std::array<Bounds, kLevels> bounds_;
  index::SearchInput input_;
};

}  // namespace epsflow::clustering
