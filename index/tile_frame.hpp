// The bounds of deciders that compare points by products of rounded coordinates.
//
// Points are moved by a common centre, scaled by a power of two, and rounded: x becomes p with |s·(x − c) − p| <= r and
// squared norm n = |p|². A product of two rounded points is computed with an error of at most γ·|p|·|q|. What follows from
// the computed product alone is, for eps in the same scale, E:
//
//   |‖s·(x − y)‖ − ‖p − q‖| <= r_p + r_q                                     (triangle)
//   |product − p·q| <= γ·|p|·|q| <= γ·(n_p + n_q)/2                          (means)
//   ‖p − q‖² = n_p + n_q − 2·p·q
//
// No:  (E + r_p + r_q)² <= ((E + 2·r_p)² + (E + 2·r_q)²)/2, as squares are convex. So the points are farther apart than E
//      where 2·product < h_p + h_q, h = n·(1 − γ) − (E + 2r)²/2.
// Yes: (E − r_p − r_q)² >= E² − 2·E·(r_p + r_q). So they are within E where 2·product >= k_p + k_q,
//      k = n·(1 + γ) − E²/2 + 2·E·r, and r_p + r_q <= E, for which r <= E/2 is asked of each.
//
// Each verdict is a comparison with a sum of one number per point. What is neither is asked of the test of distance.hpp. That
// test rounds too: with at most 4096 dimensions its sum is off by a relative 2^-40 at most, which widens E on both sides.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <epsflow/core/host_device.hpp>

namespace epsflow::index {

/// In place of a bound that nothing reaches.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// eps as the deciders use it, in the scale of the rounded points.
struct FrameEps {
  double no;   ///< no two neighbours are farther apart, whatever the test of distance.hpp rounds
  double yes;  ///< any two points that are as near are neighbours there; < 0: none can be told
};

/// Half of h and of k: to be compared with the product itself.
struct FrameBounds {
  double no;
  double yes;
};

/// `norm`: n, with a relative error of at most 2^-40. `radius`: r. gamma: of the product.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline FrameBounds frame_bounds(double norm, double radius, double gamma,
                                                                  FrameEps eps) noexcept {
  const double slack = gamma + 0x1p-39;
  const double reach = eps.no + 2 * radius;
  FrameBounds bounds{norm / 2 * (1 - slack) - reach * reach / 4 * (1 + 0x1p-48), kNever};
  if (radius <= eps.yes / 2) {
    bounds.yes = norm / 2 * (1 + slack) - eps.yes * (eps.yes / 4 * (1 - 0x1p-48) - radius * (1 + 0x1p-48));
  }
  return bounds;
}

/// The bounds as float, moved so far that the sum of two of them, rounded, is on the safe side as well.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float lowered_float(double bound) noexcept {
  return static_cast<float>(bound - 0x1p-22 * std::fabs(bound)) - 0x1p-140F;
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float raised_float(double bound) noexcept {
  return static_cast<float>(bound + 0x1p-22 * std::fabs(bound)) + 0x1p-140F;
}

}  // namespace epsflow::index
