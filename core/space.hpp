// The space that points are searched in: what the distance of two of them is made of.
//
// The rule. With t_k = |p_k − q_k|, or the shorter way round, min(t_k, L_k − t_k), on an axis that closes on itself after
// L_k, q is a neighbour of p when
//
//   euclidean  Σ_k t_k·t_k <= eps·eps
//   manhattan  Σ_k t_k     <= eps
//   chebyshev  max_k t_k   <= eps
//   minkowski  Σ_k t_k^p   <= eps^p, powers by std::pow
//
// each operation rounded once in float64, float32 widened first, summed over k in order, no fused multiply-add. Coordinates
// on a closed axis lie from lo to lo + L_k, both ends included: they are one place. They and its ends are whole multiples of a
// power of two that leaves room for a length beyond either end, so that differences and ways round are exact, and a point has
// images, moved by ±L_k, which differ from others by just that.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace epsflow {

enum class Norm : std::uint8_t { euclidean, manhattan, chebyshev, minkowski };

/// An axis that closes on itself, where length > 0.
struct ClosedAxis {
  double lo = 0;
  double length = 0;
  friend bool operator==(const ClosedAxis&, const ClosedAxis&) = default;
};

struct Space {
  Norm norm = Norm::euclidean;
  double power = 2;                   ///< of norm minkowski: at least 1, finite
  std::vector<ClosedAxis> axes = {};  ///< one for each dimension, or none where no axis is closed

  /// Straight lines without end, which every search knows; the others take a grid, or all pairs.
  [[nodiscard]] bool plain() const noexcept { return norm == Norm::euclidean && axes.empty(); }
  /// What the sum of a pair of neighbours is at most.
  [[nodiscard]] double limit(double eps) const {
    if (norm == Norm::euclidean) return eps * eps;
    return norm == Norm::minkowski ? std::pow(eps, power) : eps;
  }
  /// The distance that such a sum is of.
  [[nodiscard]] double distance(double sum) const {
    if (norm == Norm::euclidean) return std::sqrt(sum);
    return norm == Norm::minkowski ? std::pow(sum, 1 / power) : sum;
  }
  /// The length of a closed axis; 0 of others.
  [[nodiscard]] double period(std::size_t dim) const noexcept { return axes.empty() ? 0 : axes[dim].length; }
};

}  // namespace epsflow
