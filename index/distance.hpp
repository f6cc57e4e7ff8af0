// The distance test of core/space.hpp, and the reach of a neighbourhood that follows from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <epsflow/core/host_device.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {

/// These return a − b, a · b and a + b, each rounded once. In kernels they are intrinsics, which are never fused.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline double rounded_difference(double a, double b) noexcept {
#ifdef __CUDA_ARCH__
  return __dsub_rn(a, b);
#else
  return a - b;
#endif
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline double rounded_product(double a, double b) noexcept {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline double rounded_sum(double a, double b) noexcept {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

/// Returns Σ_k (p_k − q_k)², each operation rounded once in float64, summed over k in order, without fused multiply-add
/// (the build sets -ffp-contract=off).
///
/// point(k), candidate(k): coordinate k, float or double. D: the dimensions if known at compile time, else 0.
template <std::size_t D, class Point, class Candidate>
[[nodiscard]] EPSFLOW_HOST_DEVICE double squared_distance(Point point, Candidate candidate, std::size_t dims) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < (D > 0 ? D : dims); ++k) {
    const double diff = rounded_difference(static_cast<double>(point(k)), static_cast<double>(candidate(k)));
    sum = rounded_sum(sum, rounded_product(diff, diff));
  }
  return sum;
}

/// Returns true if q is a neighbour of p: their squared distance is at most eps·eps, which is rounded once too.
template <std::size_t D, class Point, class Candidate>
[[nodiscard]] EPSFLOW_HOST_DEVICE bool is_neighbor(Point point, Candidate candidate, std::size_t dims,
                                                   double eps_squared) noexcept {
  return squared_distance<D>(point, candidate, dims) <= eps_squared;
}

/// The same test for points whose coordinates are contiguous.
template <class T>
[[nodiscard]] bool is_neighbor(const T* p, const T* q, std::size_t dims, double eps_squared) noexcept {
  return is_neighbor<0>([p](std::size_t k) { return p[k]; }, [q](std::size_t k) { return q[k]; }, dims, eps_squared);
}

/// A Space in the form that kernels read. Kernels do not support Norm::minkowski.
struct SpaceView {
  Norm norm = Norm::euclidean;
  double power = 2;
  const double* periods = nullptr;  ///< [dims] length of each closed axis, 0 for an open one; null if no axis is closed

  [[nodiscard]] EPSFLOW_HOST_DEVICE bool plain() const noexcept {
    return norm == Norm::euclidean && periods == nullptr;
  }
};

/// Returns the sum that core/space.hpp compares with its limit. D: the dimensions if known at compile time, else 0.
template <std::size_t D, class Point, class Candidate>
[[nodiscard]] EPSFLOW_HOST_DEVICE double norm_sum(const SpaceView& space, Point point, Candidate candidate,
                                                  std::size_t dims) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < (D > 0 ? D : dims); ++k) {
    double t = std::fabs(rounded_difference(static_cast<double>(point(k)), static_cast<double>(candidate(k))));
    if (space.periods != nullptr && space.periods[k] > 0) {
      const double around = rounded_difference(space.periods[k], t);
      t = around < t ? around : t;
    }
    switch (space.norm) {
      case Norm::euclidean:
        sum = rounded_sum(sum, rounded_product(t, t));
        break;
      case Norm::chebyshev:
        sum = t > sum ? t : sum;
        break;
      default:
#ifndef __CUDA_ARCH__
        if (space.norm == Norm::minkowski) t = std::pow(t, space.power);
#endif
        sum = rounded_sum(sum, t);
    }
  }
  return sum;
}

/// Returns an upper bound on |p_k − q_k| between two neighbours, in real numbers; on a closed axis on the periodic
/// distance.
///
/// The test passes only if fl(fl(p_k − q_k)²) <= fl(eps²). With u = 2^-53, for eps² in the normal range above 2^-1000
/// each rounding is relative, so |p_k − q_k| <= eps·(1 + 4u). Below that the squares may underflow; but a difference
/// over 2^-500 still squares to at least 2^-1000·(1 − u), so 2^-500·(1 + 4u) bounds it. If eps² overflows, every pair
/// passes, and the bound is infinity.
///
/// For the other norms no term is larger than the sum, as computed, either: t_k <= eps, or t_k^p <= eps^p·(1 + 4u) with
/// powers that err by an ulp. On a closed axis t_k is exact (core/space.hpp).
[[nodiscard]] inline double neighbor_reach(double eps) noexcept {
  if (std::isinf(eps * eps)) return std::numeric_limits<double>::infinity();
  return std::max(eps, 0x1p-500) * (1 + 0x1p-50);
}

}  // namespace epsflow::index
