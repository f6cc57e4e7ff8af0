// From coordinates to cells: the axes that are indexed, and each coordinate's slot on its axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/core/host_device.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {

/// The most dimensions that the grid indexes. If there are more, it takes the ones of largest variance, as GDS-Join
/// does.
inline constexpr std::size_t kMostIndexedDims = 6;

/// Smallest and largest coordinate of one dimension; lo > hi without points.
struct Extent {
  double lo;
  double hi;
};
[[nodiscard]] Extent extent_of(PointsView points, std::size_t dim);

/// A part of an axis between gaps: its lower end and its first slot.
struct AxisStretch {
  double lo;
  std::uint64_t first_slot;
};

/// The part of an axis that slot() reads, in memory that the caller can read.
struct AxisView {
  double lo = 0;
  double inverse_side = 0;  ///< 1 / the side of a slot before the shift; 0 if there is a single slot
  /// The last slot of a closed axis, which also takes coordinates that are rounded beyond it. No limit for other axes.
  std::uint64_t last_slot = ~std::uint64_t{0};
  const AxisStretch* stretches = nullptr;
  std::uint32_t stretch_count = 0;  ///< 0 unless cut at gaps
  std::uint32_t shift = 0;          ///< numbers of slots are shifted right by this many bits
  std::uint32_t dim = 0;

  /// Returns the slot of a coordinate that the axis was made for.
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint64_t slot(double x) const noexcept {
    const AxisStretch stretch = stretch_of(x);
    if (inverse_side == 0) return 0;
    const std::uint64_t slot =
        (stretch.first_slot + static_cast<std::uint64_t>((x - stretch.lo) * inverse_side)) >> shift;
    return slot < last_slot ? slot : last_slot;
  }

  /// Returns the position of x in its slot, in slots: from 0 to 1, with the error of SlotWidth. Requires shift == 0.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double offset_in_slot(double x) const noexcept {
    const double slots = (x - stretch_of(x).lo) * inverse_side;
    return slots - static_cast<double>(static_cast<std::uint64_t>(slots));
  }

 private:
  [[nodiscard]] EPSFLOW_HOST_DEVICE AxisStretch stretch_of(double x) const noexcept {
    if (stretch_count == 0) return {lo, 0};
    std::uint32_t at = 0;  // the last stretch that begins at or before x
    for (std::uint32_t end = stretch_count; end - at > 1;) {
      const std::uint32_t middle = at + (end - at) / 2;
      if (stretches[middle].lo <= x) {
        at = middle;
      } else {
        end = middle;
      }
    }
    return stretches[at];
  }
};

/// Cells can be dense boxes (all points are neighbours) up to this number of dimensions. Slots of neighbours then
/// differ by at most 2.
inline constexpr std::size_t kMostDenseBoxDims = 3;

/// The width of the slots of an axis, and the largest number of slots between neighbours.
///
/// slot(x) = floor((x − lo)·(1/side)) has a relative error of 3u per value (u = 2^-53), so below 2^33 slots the
/// absolute error is less than 2^-18 slots. Coordinates of neighbours differ by at most the *reach*,
/// neighbor_reach(eps) of distance.hpp.
///
/// Cells::eps. With side = reach·(1 + 2^-16) neighbours are at most 1 − 2^-17 slots apart, plus twice that error
/// still at most 1; hence their floors differ by at most 1.
///
/// Cells::dense_box, d dimensions, d <= 3. With side = reach/√d·(1 − 2^-14) two values of a slot differ by at most
/// side·(1 + 2^-17), so the squares of a cell's differences sum to at most reach²·(1 − 2^-14)²·(1 + 2^-17)², less than
/// eps²·(1 − 2^-13 + 2^-15), in real numbers. The test of distance.hpp rounds d + 2 times in a row, each time by u at
/// most, and eps² once; (1 − 2^-13 + 2^-15)·(1 + u)^(d + 2) < 1 − u, so every pair of a cell passes it. Neighbours are
/// at most √d·(1 + 2^-13) slots apart, plus twice the error still below 2; hence their floors differ by at most 2.
/// Squares must not underflow for this: if eps is below 2^-500, choose_axes() takes the width of Cells::eps.
struct SlotWidth {
  double side = 0;           ///< infinite if every pair may be neighbours
  double gap = 0;            ///< neighbours are never on two sides of a wider gap
  std::uint32_t window = 1;  ///< slots of neighbours differ by at most this

  /// Return the width for Cells::eps, and for Cells::dense_box in `dims` dimensions.
  static SlotWidth of_reach(double eps) noexcept;
  static SlotWidth of_dense_box(double eps, std::size_t dims) noexcept;
};

/// One indexed axis, cut into slots.
///
/// An axis that is longer than 2^31 sides (one far outlier suffices) is cut at its gaps: no pair of neighbours crosses
/// a gap wider than the reach, so each stretch between gaps is numbered separately. A stretch of m points is at most m
/// reaches long, so n points never need more than about 3n slots, for any extent.
///
/// A closed axis has a whole number of slots, at most 2^31, each at least as wide as requested; its first slot is a
/// neighbour of its last. Slots of neighbours then differ by at most 1 across the ends too: rounding is less than 2^-52
/// of the length, 2^-21 slots. An axis of fewer than three such slots is one slot.
class CellAxis {
 public:
  /// Makes an axis from the coordinates of dimension `dim`. O(n), with gaps O(n log n). Throws Cancelled.
  CellAxis(PointsView points, std::size_t dim, SlotWidth width, const CancelToken& cancel)
      : CellAxis(points, dim, extent_of(points, dim), width, cancel) {}
  /// The same for a known extent of all points. O(1), with gaps O(n log n). Throws Cancelled.
  CellAxis(PointsView points, std::size_t dim, Extent extent, SlotWidth width, const CancelToken& cancel);
  /// Makes a closed axis. O(1).
  CellAxis(std::size_t dim, ClosedAxis axis, SlotWidth width) noexcept;

  /// Returns true if the first slot is a neighbour of the last.
  [[nodiscard]] bool wraps() const noexcept { return length_ > 0 && slots_ > 1; }
  [[nodiscard]] std::size_t dim() const noexcept { return dim_; }
  /// Slots in use are 0 … slots() − 1.
  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::uint64_t slot(double x) const noexcept { return view().slot(x); }
  /// Returns the slot of x. If x is beyond an end of the axis, slots are counted on: returns nullopt if x is more than
  /// `reach` slots beyond the slot at that end, else the slot at that end. Not for axes cut at gaps.
  [[nodiscard]] std::optional<std::uint64_t> nearest_slot(double x, std::uint64_t reach) const noexcept {
    const double fine = (x - lo_) * inverse_side_;
    if (fine < -static_cast<double>(reach << shift_) || fine >= static_cast<double>((slots_ + reach) << shift_)) {
      return std::nullopt;
    }
    if (!(fine > 0)) return 0;
    if (fine >= static_cast<double>(slots_ << shift_)) return slots_ - 1;
    return static_cast<std::uint64_t>(fine) >> shift_;
  }
  [[nodiscard]] bool cut() const noexcept { return !stretches_.empty(); }
  /// The view must not outlive the axis.
  [[nodiscard]] AxisView view() const noexcept {
    return {lo_,
            inverse_side_,
            length_ > 0 ? slots_ - 1 : ~std::uint64_t{0},
            stretches_.data(),
            static_cast<std::uint32_t>(stretches_.size()),
            shift_,
            static_cast<std::uint32_t>(dim_)};
  }
  /// Makes slots twice as wide: merges slots 2i and 2i + 1, or divides a closed axis anew into half as many slots.
  /// Neighbours stay within the window.
  void coarsen() noexcept;

 private:
  void cut_at_gaps(PointsView points, SlotWidth width, const CancelToken& cancel);
  void divide(std::uint64_t slots) noexcept;

  std::size_t dim_;
  double lo_ = 0;
  double length_ = 0;  // 0 for an open axis
  double inverse_side_ = 0;
  unsigned shift_ = 0;
  std::uint64_t slots_ = 1;
  std::vector<AxisStretch> stretches_;  // empty unless cut at gaps
};

/// The indexed axes, in the order of the dimensions.
struct CellAxes {
  std::vector<CellAxis> axes;
  std::uint32_t window = 1;  ///< on every axis the slots of neighbours differ by at most this
  bool dense_boxes = false;  ///< any two points of a cell are neighbours
  std::uint64_t slices = 1;  ///< number of slices; each has its own cells
};

/// Returns the axes to index, coarsened until the numbers of slots, with `window` empty slots at either end of every
/// axis, and of slices multiply to less than 2^63. Cells are dense boxes if `cells` requests that, there are at most
/// kMostDenseBoxDims dimensions, no axis had to be coarsened, the space is plain, and eps is at least 2^-500. extents:
/// [dims] known extents, or empty. O(n·d), less with extents; O(n log n) if axes are cut at gaps. Throws Cancelled.
[[nodiscard]] CellAxes choose_axes(PointsView points, double eps, Cells cells, const CancelToken& cancel,
                                   std::span<const Extent> extents = {}, const Space& space = {});

/// Ranges of keys around a cell's key: [key + offset, key + offset + length) for each offset.
struct KeyRanges {
  std::vector<std::int64_t> offsets;  ///< ascending
  std::uint64_t length = 1;
};

/// The keys of a cell's neighbours if axes are closed, from its key alone; neighbours are one slot away at most.
struct ClosedKeys {
  std::uint32_t axes = 0;  ///< number of all indexed axes; 0 if none is closed and has several slots
  std::uint64_t strides[kMostIndexedDims] = {};
  std::uint64_t slots[kMostIndexedDims] = {};  ///< of a closed axis of several slots; 0 for other axes

  /// Calls f(first, last) for the ranges of keys, ends included, that hold all neighbours of a cell. Ascending.
  /// Requires axes > 0.
  template <class F>
  EPSFLOW_HOST_DEVICE void for_each_range(std::uint64_t key, F f) const {
    std::int64_t steps[kMostIndexedDims][3] = {};
    std::uint32_t at[kMostIndexedDims] = {};
    for (std::uint32_t a = 0; a < axes; ++a) find_steps(key, a, steps[a]);
    const std::int64_t(&last)[3] = steps[axes - 1];
    while (true) {
      std::uint64_t row = key;
      for (std::uint32_t a = 0; a + 1 < axes; ++a) row += static_cast<std::uint64_t>(steps[a][at[a]]) * strides[a];
      // Along the last axis, with stride 1, slots are one range or two.
      std::uint32_t begin = 0;
      for (std::uint32_t s = 1; s <= 3; ++s) {
        if (s < 3 && last[s] == last[s - 1] + 1) continue;
        f(row + static_cast<std::uint64_t>(last[begin]), row + static_cast<std::uint64_t>(last[s - 1]));
        begin = s;
      }
      std::uint32_t a = axes - 1;
      while (a > 0 && at[a - 1] == 2) at[--a] = 0;
      if (a == 0) return;
      ++at[a - 1];
    }
  }

  /// Returns true if a neighbour may lie across an end of a closed axis.
  [[nodiscard]] EPSFLOW_HOST_DEVICE bool at_end(std::uint64_t key) const noexcept {
    for (std::uint32_t a = 0; a < axes; ++a) {
      const std::uint64_t slot = slot_of(key, a);
      if (slots[a] > 0 && (slot == 0 || slot + 1 == slots[a])) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint64_t slot_of(std::uint64_t key, std::uint32_t a) const noexcept {
    return slots[a] == 0 ? 0 : key / strides[a] % (slots[a] + 2) - 1;
  }
  /// Sets steps to the slots of neighbours minus the slot of the cell, ascending.
  EPSFLOW_HOST_DEVICE void find_steps(std::uint64_t key, std::uint32_t a, std::int64_t (&steps)[3]) const noexcept {
    const std::uint64_t slot = slot_of(key, a);
    const auto around = static_cast<std::int64_t>(slots[a]) - 1;
    const bool first = slots[a] > 0 && slot == 0;
    const bool last = slots[a] > 0 && slot + 1 == slots[a];
    steps[0] = first ? 0 : (last ? -around : -1);
    steps[1] = first ? 1 : (last ? -1 : 0);
    steps[2] = first ? around : (last ? 0 : 1);
  }
};

/// The numbering of cells: a cell's key is slice·slice_stride + Σ (slot_k + window)·strides[k], the last axis with
/// stride 1. The empty slots at the ends of every axis keep neighbours in one slice.
struct CellKeys {
  explicit CellKeys(const CellAxes& axes);

  CellKeys() = default;

  std::uint32_t window = 1;
  std::vector<std::uint64_t> strides;
  std::uint64_t slice_stride = 0;
  std::uint64_t count = 1;  ///< every key is less
  std::vector<std::int64_t>
      neighbor_offsets;  ///< offsets of ranges(window, 1); if axes are closed, valid for cells that are not at_end()
  ClosedKeys closed;

  /// Returns ranges that hold the keys of all cells up to `reach` slots away, reach <= window. There is one range for
  /// each combination of steps from −reach to reach along all axes except the last `merged` ones. It goes from the
  /// lowest to the highest key over the same steps along the merged axes. The ranges around one cell are disjoint,
  /// because of the empty slots at the ends of an axis. With merged = 1 they hold no keys of other cells.
  [[nodiscard]] KeyRanges ranges(std::uint32_t reach, std::size_t merged) const;
};

}  // namespace epsflow::index
