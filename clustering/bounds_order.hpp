// Points of cells in an order in which consecutive points have narrow bounds, which save tests of pairs.
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

/// A copy of the points of a grid. Each cell keeps its range of positions. Within a cell, points are halved along the
/// widest axis, recursively down to 16 points, so consecutive points are near each other. Bounds cover 16, 256 and 4096
/// consecutive positions, counted over all points. At the ends of a cell they may include points of other cells, which
/// makes them wider but not wrong.
class BoundsOrder {
 public:
  static constexpr unsigned kFanoutBits = 4;
  static constexpr unsigned kLevels = 3;
  /// 2^shift positions share bounds on a level.
  [[nodiscard]] static constexpr unsigned shift(unsigned level) noexcept { return kFanoutBits * (level + 1); }

  /// The bounds of one level. lo[k], hi[k]: smallest and largest coordinate k of each piece of 2^shift positions,
  /// followed by Buffer::kPadding readable bytes; empty for k from the number of dimensions on.
  struct Bounds {
    std::array<Buffer<double>, index::kMostDenseBoxDims> lo;
    std::array<Buffer<double>, index::kMostDenseBoxDims> hi;
  };

  /// grid: has dense-box cells and at least one point. in: a search of the grid in a plain space; its coordinates are
  /// not read. blocks: all cells of the grid in blocks of about equal size. Nothing given needs to outlive the
  /// constructor. O(n·log n) at worst, in parallel. Throws Cancelled, ResourceError.
  BoundsOrder(const index::Grid& grid, const index::SearchInput& in, std::span<const ClusterBlock> blocks,
              const CancelToken& cancel);
  BoundsOrder(const BoundsOrder&) = delete;
  BoundsOrder& operator=(const BoundsOrder&) = delete;

  /// Returns an upper bound on the memory per point, in bytes, for thousands of points or more.
  [[nodiscard]] static constexpr std::uint64_t bytes_per_point(std::size_t dims, Precision precision) noexcept {
    return sizeof(std::uint32_t) + dims * (bytes_of(precision) + 2);
  }

  /// Returns the scratch memory of the constructor in bytes for each point of the cells that are arranged at a time.
  [[nodiscard]] static constexpr std::uint64_t bytes_per_arranged(Precision precision) noexcept {
    return (index::kMostDenseBoxDims + 1) * bytes_of(precision);
  }

  /// Returns the input of a search over the copy: coordinates by position.
  [[nodiscard]] const index::SearchInput& input() const noexcept { return input_; }
  /// Input id of each position. [n]
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_.span(); }
  [[nodiscard]] const Bounds& bounds(unsigned level) const noexcept { return bounds_[level]; }

 private:
  template <class T>
  void arrange(const index::Grid& grid, std::span<const ClusterBlock> blocks, const CancelToken& cancel);
  template <class T>
  void bound();

  std::array<Buffer<std::byte>, index::kMostDenseBoxDims> coordinates_;
  std::array<const void*, index::kMostDenseBoxDims> addresses_{};
  Buffer<std::uint32_t> order_;
  std::array<Bounds, kLevels> bounds_;
  index::SearchInput input_;
};

}  // namespace epsflow::clustering
