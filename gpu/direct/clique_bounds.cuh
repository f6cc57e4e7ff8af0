// Bounds of points, to rule out pairs of points together.
#pragma once

#include <limits>

#include <epsflow/gpu/direct/clique_view.cuh>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

/// Smallest and largest coordinates of points.
template <unsigned D>
struct Bounds {
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
  __device__ void add(const Place<T, D>& place) {
    for (unsigned k = 0; k < D; ++k) {
      lo[k] = fmin(lo[k], static_cast<double>(place.x[k]));
      hi[k] = fmax(hi[k], static_cast<double>(place.x[k]));
    }
  }
};

/// Whether a point within bounds may be near one within others. Differences, squares and sums are rounded as in the test of
/// index/distance.hpp, and rounding keeps order: each is at most what it is for any two points within them. So where
/// this sum is over eps², all of theirs are.
template <unsigned D>
__device__ bool may_be_near(const Bounds<D>& a, const Bounds<D>& b, double eps_squared) {
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
__device__ bool may_be_near(const Place<T, D>& place, const Bounds<D>& bounds, double eps_squared) {
  Bounds<D> point;
  point.clear();
  point.add(place);
  return may_be_near(point, bounds, eps_squared);
}

}  // namespace epsflow::gpu
