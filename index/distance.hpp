// The distance test of the contract, and the reach of a neighbourhood that follows from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace epsflow::index {

/// q is a neighbour of p when Σ_k (p_k − q_k)² <= eps·eps, each operation rounded once in float64, summed over k in
/// order, no fused multiply-add (the build sets -ffp-contract=off). Squared eps is rounded once as well.
template <class T>
[[nodiscard]] bool is_neighbor(const T* p, const T* q, std::size_t dims, double eps_squared) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < dims; ++k) {
    const double diff = static_cast<double>(p[k]) - static_cast<double>(q[k]);
    sum += diff * diff;
  }
  return sum <= eps_squared;
}

/// The largest |p_k − q_k| that any two neighbours can have, in real numbers.
///
/// The test passes only if fl(fl(p_k − q_k)²) <= fl(eps²). With u = 2^-53, for eps² in the normal range above 2^-1000
/// each rounding is relative, so |p_k − q_k| <= eps·(1 + 4u). Below that the squares may underflow; but a difference
/// over 2^-500 still squares to at least 2^-1000·(1 − u), so 2^-500·(1 + 4u) bounds it. Where eps² overflows every pair
/// passes.
[[nodiscard]] inline double neighbor_reach(double eps) noexcept {
  if (std::isinf(eps * eps)) return std::numeric_limits<double>::infinity();
  return std::max(eps, 0x1p-500) * (1 + 0x1p-50);
}

}  // namespace epsflow::index
