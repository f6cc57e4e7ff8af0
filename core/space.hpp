// The space that points are searched in: it defines the distance of two points.
//
// The rule. Let a_k = |p_k − q_k|. On an ordinary axis t_k = a_k. On a closed axis, which is periodic with the length
// L_k, t_k = min(a_k, L_k − a_k): the shorter way round. q is a neighbour of p when
//
//   euclidean  Σ_k t_k·t_k <= eps·eps
//   manhattan  Σ_k t_k     <= eps
//   chebyshev  max_k t_k   <= eps
//   minkowski  Σ_k t_k^p   <= eps^p, powers by std::pow
//
// Each operation is rounded once, in float64; float32 is widened first. Sums go over k in order, without fused
// multiply-add.
//
// Coordinates on a closed axis lie from lo to lo + L_k. Both ends are included, and they are the same point. An image
// of a point is its copy shifted by +L_k or −L_k. All coordinates on the axis, lo and L_k are whole multiples of one
// power of two (core/metric.hpp rounds them). This power is so large that float64 holds the coordinates of images
// exactly, too. Therefore L_k − |p_k − q_k| and the difference between p_k and the image of q_k are the same number, to
// the last bit. A search may use either.
//
// If points are in slices (core/slices.hpp), only points of one slice can be neighbours.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <epsflow/core/slices.hpp>

namespace epsflow {

enum class Norm : std::uint8_t { euclidean, manhattan, chebyshev, minkowski };

/// An axis that closes on itself, if length > 0.
struct ClosedAxis {
  double lo = 0;
  double length = 0;
  friend bool operator==(const ClosedAxis&, const ClosedAxis&) = default;
};

struct Space {
  Norm norm = Norm::euclidean;
  double power = 2;                                ///< of norm minkowski: at least 1, finite
  std::vector<ClosedAxis> axes = {};               ///< one for each dimension, or none if no axis is closed
  std::shared_ptr<const Slices> slices = nullptr;  ///< null if all points are one data set

  /// Returns true if the norm is Euclidean and no axis is closed. Every index supports such a space, unless there are
  /// slices. Other spaces can only be searched with IndexChoice::grid, and on the CPU also by testing all pairs
  /// (IndexChoice::all); slices only with IndexChoice::grid; Norm::minkowski only on the CPU.
  [[nodiscard]] bool plain() const noexcept { return norm == Norm::euclidean && axes.empty(); }
  /// Returns the right-hand side of the rule above.
  [[nodiscard]] double limit(double eps) const {
    if (norm == Norm::euclidean) return eps * eps;
    return norm == Norm::minkowski ? std::pow(eps, power) : eps;
  }
  /// Returns the distance of a left-hand side of the rule above.
  [[nodiscard]] double distance(double sum) const {
    if (norm == Norm::euclidean) return std::sqrt(sum);
    return norm == Norm::minkowski ? std::pow(sum, 1 / power) : sum;
  }
  /// Returns the length of a closed axis; 0 for others.
  [[nodiscard]] double period(std::size_t dim) const noexcept { return axes.empty() ? 0 : axes[dim].length; }
};

}  // namespace epsflow
