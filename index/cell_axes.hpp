// From coordinates to cells: the axes that are indexed, and each coordinate's slot on its axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::index {

/// Most dimensions that the grid indexes; of more, those of the largest variance are taken (as GDS-Join does).
inline constexpr std::size_t kMostIndexedDims = 6;

/// One indexed axis, cut into slots at least as wide as the reach of a neighbourhood, so that neighbours lie in the
/// same or in adjacent slots.
///
/// slot(x) = floor((x − lo)·(1/side)) has a relative error of 3u per value (u = 2^-53), so below 2^32 slots an absolute
/// one of less than 2^-19 slots. With side = reach·(1 + 2^-16), neighbours are at most 1 − 2^-17 slots apart, plus
/// twice that error still at most 1; hence their floors differ by at most 1.
///
/// An axis that is longer than 2^31 sides (one far outlier suffices) is cut at its gaps: no pair crosses a gap wider
/// than the reach, so each stretch between gaps is numbered by itself. A stretch of m points is at most m reaches long,
/// so n points never need more than about 3n slots, whatever their extent.
class CellAxis {
 public:
  /// Coordinates of dimension `dim`. O(n), with gaps O(n log n). Throws Cancelled.
  CellAxis(PointsView points, std::size_t dim, double reach, const CancelToken& cancel);

  [[nodiscard]] std::size_t dim() const noexcept { return dim_; }
  /// Slots in use are 0 … slots() − 1.
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::uint64_t slot(double x) const noexcept;
  /// Halves the resolution: slots 2i and 2i + 1 become one. Neighbours stay in adjacent slots.
  void coarsen() noexcept;

 private:
  struct Stretch {
    double lo;
    std::uint64_t first_slot;
  };
  void cut_at_gaps(PointsView points, double reach, const CancelToken& cancel);

  std::size_t dim_;
  double lo_ = 0;
  double inverse_side_ = 0;
  unsigned shift_ = 0;
  std::uint64_t slots_ = 1;
  std::vector<Stretch> stretches_;  // empty unless cut at gaps
};

/// The axes to index, in the order of the dimensions, coarsened until the slots with one empty slot at either end of
/// every axis multiply to less than 2^63. O(n·d).
[[nodiscard]] std::vector<CellAxis> choose_axes(PointsView points, double eps, const CancelToken& cancel);

}  // namespace epsflow::index
