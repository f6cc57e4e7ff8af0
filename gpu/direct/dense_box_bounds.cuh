// Bounds of points, which rule out many pairs of points at once.
#pragma once

#include <limits>

#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

/// The smallest and largest coordinates of points.
template <unsigned D>
struct PointBounds {
  double lo[D];
  double hi[D];

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  __device__ void clear() {
    for (unsigned k = 0; k < D; ++k) {
      lo[k] = kInfinity;
      hi[k] = -kInfinity;
    }
  }
  template <class T>
  __device__ void add(const Coordinates<T, D>& point) {
    for (unsigned k = 0; k < D; ++k) {
      lo[k] = fmin(lo[k], static_cast<double>(point.x[k]));
      hi[k] = fmax(hi[k], static_cast<double>(point.x[k]));
    }
  }
};

/// Returns false only if no point within one box is a neighbour of a point within the other. Differences, squares and
/// sums are rounded as in the test of index/distance.hpp, and rounding is monotonic: each is at most its value for any
/// two points of the boxes. So if this sum exceeds eps², the sums of all pairs do.
template <unsigned D>
__device__ bool may_be_near(const PointBounds<D>& a, const PointBounds<D>& b, double eps_squared) {
  double sum = 0;
  for (unsigned k = 0; k < D; ++k) {
    double gap = 0;
    if (a.lo[k] > b.hi[k]) gap = index::rounded_difference(a.lo[k], b.hi[k]);
    if (b.lo[k] > a.hi[k]) gap = index::rounded_difference(b.lo[k], a.hi[k]);
    sum = index::rounded_sum(sum, index::rounded_product(gap, gap));
  }
  return sum <= eps_squared;
}

template <class T, unsigned D>
__device__ bool may_be_near(const Coordinates<T, D>& point, const PointBounds<D>& bounds, double eps_squared) {
  PointBounds<D> own;
  own.clear();
  own.add(point);
  return may_be_near(own, bounds, eps_squared);
}

}  // namespace epsflow::gpu
