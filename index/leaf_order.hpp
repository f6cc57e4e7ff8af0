// Points along a curve, in leaves of a few points with bounding boxes, and boxes of boxes above them: an index without
// a radius, for searches of nearest points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::index {

/// Each kLeaf consecutive points are a leaf; each kBranch leaves are a node of level 1, each kBranch of these a node of
/// level 2, and so on. So a node's number determines its children. Coordinates and boxes are float64.
class LeafOrder {
 public:
  static constexpr std::uint32_t kLeaf = 16;
  static constexpr std::uint32_t kBranch = 8;

  /// Sorts along a curve through the six dimensions of largest variance, or all if there are fewer. If many points have
  /// the same number on the curve, they are sorted along a curve of their own; this happens if they are very close to
  /// each other relative to the extent of all points. O(n·d) and a radix sort, in parallel. Throws Cancelled.
  LeafOrder(PointsView points, const CancelToken& cancel);
  LeafOrder(const LeafOrder&) = delete;
  LeafOrder& operator=(const LeafOrder&) = delete;

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] std::size_t dims() const noexcept { return dims_; }
  /// Input id of each position. [n]
  [[nodiscard]] std::span<const std::uint32_t> order() const noexcept { return order_.span(); }
  [[nodiscard]] std::uint32_t leaves() const noexcept { return leaves_; }
  /// Returns how many of the kLeaf entries of a leaf are points; the others repeat its last point.
  [[nodiscard]] std::uint32_t filled(std::uint32_t leaf) const noexcept {
    const std::uint32_t left = size() - leaf * kLeaf;
    return left < kLeaf ? left : kLeaf;
  }

  /// Coordinates of a leaf: [d × kLeaf], dimension after dimension.
  [[nodiscard]] const double* leaf(std::uint32_t leaf) const noexcept {
    return coordinates_.data() + std::size_t{leaf} * dims_ * kLeaf;
  }
  /// Returns the number of levels of boxes. Level 0 has the boxes of leaves; the last level has at most kBranch boxes.
  /// Without points there are no levels.
  [[nodiscard]] std::size_t levels() const noexcept { return boxes_.size(); }
  /// Boxes of a level from kBranch · group on: [d × 2 × kBranch], in each dimension the lower ends, then the upper
  /// ends. Entries beyond the last box of the level are boxes infinitely far from everything.
  [[nodiscard]] const double* boxes(std::size_t level, std::uint32_t group) const noexcept {
    return boxes_[level].data() + std::size_t{group} * dims_ * 2 * kBranch;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// Returns the peak memory of the construction, in bytes.
  [[nodiscard]] static std::uint64_t most_bytes(std::uint64_t n, std::size_t dims) noexcept;

 private:
  void fill_leaves(PointsView points, const CancelToken& cancel);
  void fill_level(std::size_t level);

  std::size_t dims_;
  std::uint32_t leaves_;
  Buffer<std::uint32_t> order_;
  Buffer<double> coordinates_;
  std::vector<Buffer<double>> boxes_;
};

}  // namespace epsflow::index
