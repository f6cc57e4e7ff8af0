// The verifier's own search: a k-d tree that shares no code with the searches whose results it checks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::clustering {

/// Finds all points within eps of a point, by the rule of core/space.hpp. Construction takes O(n·d·log n), 4 bytes per
/// point, and one node for about eight points. Thread-safe after construction.
///
/// Source: Bentley, "Multidimensional binary search trees used for associative searching", CACM 1975.
class RangeSearch {
 public:
  /// `points` and `space` must outlive the object.
  RangeSearch(PointsView points, const Space& space, double eps)
      : points_(points), space_(space), limit_(space.limit(eps)), reach_(reach(eps)), ids_(points.size()) {
    std::iota(ids_.begin(), ids_.end(), 0U);
    if (!ids_.empty()) build(0, 0, ids_.size());
  }

  /// Calls f(id) for every neighbour of point x, itself included, for which wanted(id) returns true, in no particular
  /// order. No distance is computed for other points.
  template <class Wanted, class F>
  void for_each(std::uint32_t x, Wanted&& wanted, F&& f) const {
    if (!ids_.empty()) visit(x, 0, 0, ids_.size(), wanted, f);
  }

 private:
  static constexpr std::size_t kLeaf = 16;

  /// Splits a range at its middle: coordinate `axis` is at most `at` in the first half and at least `at` in the second.
  struct AxisSplit {
    double at = 0;
    std::size_t axis = 0;
  };

  /// |p_k − q_k| of neighbours, as computed, is never more than this: the sum is at least its largest term, and a
  /// square or another power is rounded by less than 2^-50 of itself unless it underflows.
  static double reach(double eps) noexcept {
    if (std::isinf(eps * eps)) return std::numeric_limits<double>::infinity();
    return std::max(eps, 0x1p-500) * (1 + 0x1p-40);
  }

  /// Makes the node of a range, in heap order. visit() cuts ranges at the same indices.
  void build(std::size_t node, std::size_t begin, std::size_t end) {
    if (end - begin <= kLeaf) return;
    if (nodes_.size() <= node) nodes_.resize(node + 1);
    nodes_[node].axis = widest_axis(begin, end);
    const std::size_t axis = nodes_[node].axis;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto first = ids_.begin();
    const auto at = [&](std::size_t i) { return first + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end),
                     [&](std::uint32_t a, std::uint32_t b) { return points_.at(a, axis) < points_.at(b, axis); });
    nodes_[node].at = points_.at(ids_[middle], axis);
    build(2 * node + 1, begin, middle);
    build(2 * node + 2, middle, end);
  }

  [[nodiscard]] std::size_t widest_axis(std::size_t begin, std::size_t end) const {
    std::size_t widest = 0;
    double extent = -1;
    for (std::size_t k = 0; k < points_.dims(); ++k) {
      double lowest = std::numeric_limits<double>::infinity();
      double highest = -lowest;
      for (std::size_t i = begin; i < end; ++i) {
        lowest = std::min(lowest, points_.at(ids_[i], k));
        highest = std::max(highest, points_.at(ids_[i], k));
      }
      if (highest - lowest > extent) {
        extent = highest - lowest;
        widest = k;
      }
    }
    return widest;
  }

  [[nodiscard]] bool same_slice(std::uint32_t x, std::uint32_t y) const {
    if (space_.slices == nullptr) return true;
    const SlicesView slices = space_.slices->view();
    return slices.of(x) == slices.of(y);
  }

  [[nodiscard]] bool is_neighbor(std::uint32_t x, std::uint32_t y) const {
    double sum = 0;
    for (std::size_t k = 0; k < points_.dims(); ++k) {
      double difference = std::abs(points_.at(x, k) - points_.at(y, k));
      if (const double period = space_.period(k); period > 0) difference = std::min(difference, period - difference);
      if (space_.norm == Norm::euclidean) {
        sum += difference * difference;
      } else if (space_.norm == Norm::chebyshev) {
        sum = std::max(sum, difference);
      } else {
        sum += space_.norm == Norm::manhattan ? difference : std::pow(difference, space_.power);
      }
    }
    return sum <= limit_;
  }

  template <class Wanted, class F>
  void visit(std::uint32_t x, std::size_t node, std::size_t begin, std::size_t end, Wanted& wanted, F& f) const {
    if (end - begin <= kLeaf) {
      for (std::size_t i = begin; i < end; ++i) {
        if (wanted(ids_[i]) && same_slice(x, ids_[i]) && is_neighbor(x, ids_[i])) f(ids_[i]);
      }
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    // Differences are rounded monotonically: beyond `at` they are no less than at it. A closed axis wraps.
    const AxisSplit& cut = nodes_[node];
    const double coordinate = points_.at(x, cut.axis);
    const double difference = coordinate - cut.at;
    bool below = difference <= reach_;
    bool above = -difference <= reach_;
    if (const double period = space_.period(cut.axis); period > 0) {
      const double from_lo = coordinate - space_.axes[cut.axis].lo;
      below = below || (period - from_lo) <= reach_ + period * 0x1p-40;
      above = above || from_lo <= reach_ + period * 0x1p-40;
    }
    if (below) visit(x, 2 * node + 1, begin, middle, wanted, f);
    if (above) visit(x, 2 * node + 2, middle, end, wanted, f);
  }

  PointsView points_;
  const Space& space_;
  double limit_;
  double reach_;
  std::vector<std::uint32_t> ids_;
  std::vector<AxisSplit> nodes_;
};

}  // namespace epsflow::clustering
