// A point's thresholds for deciding pairs by rounded coordinates, with the error bound of the three-way test. For the
// CPU and for kernels.
//
// A frame is a centre c and a scale s, a power of two. P = s·(x − c) is a point in it, in real numbers, and p its
// rounded coordinates; E = s·eps. For each point the following are given:
//   n = ‖p‖²,   r >= ‖p − P‖,   e, such that a computed product ĝ of two points has |ĝ − ⟨p, q⟩| <= e_p + e_q.
// The test of distance.hpp multiplies the squared distance by no more than 1 ± (d + 2)·2^-53, eps² by 1 ± 2^-53. For d
// up to 4096 that is less than 1 ± 2^-40 together. So with E± = E·(1 ± 2^-40) the test returns no if ‖P − Q‖ > E₊ and
// yes if ‖P − Q‖ <= E₋. ‖P − Q‖ and ‖p − q‖ differ by at most r_p + r_q, and ‖p − q‖² = n_p + n_q − 2⟨p, q⟩. Therefore:
//
// *No* if n_p + n_q − 2(ĝ + e_p + e_q) > (E₊ + r_p + r_q)². The square is convex, so the right side is at most
// ½(E₊ + 2r_p)² + ½(E₊ + 2r_q)². With this bound in its place, each term but ĝ is of one point, and the test is
// ĝ < h_p + h_q with h = ½(n − 2e − ½(E₊ + 2r)²).
//
// *Yes* if r_p + r_q <= E₋ and n_p + n_q − 2(ĝ − e_p − e_q) <= (E₋ − r_p − r_q)². The right side is at least
// E₋² − 2E₋(r_p + r_q). With this bound in its place, the second condition becomes ĝ >= k_p + k_q with
// k = ½(n + 2e − ½E₋² + 2E₋r). A point with r > E₋/2 gets k = ∞, so all other pairs meet the first condition.
//
// All other pairs are undecided, and distance.hpp decides them.
#pragma once

#include <cmath>
#include <limits>

#include <epsflow/core/host_device.hpp>

namespace epsflow::index {

/// Returns the largest float not over x, and the smallest float not under x.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float round_down(double x) noexcept {
  const float f = static_cast<float>(x);
  return static_cast<double>(f) > x ? nextafterf(f, -HUGE_VALF) : f;
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float round_up(double x) noexcept { return -round_down(-x); }

/// Two points are not neighbours if ĝ < reject_p + reject_q, and neighbours if ĝ >= accept_p + accept_q (in float32).
struct PairThresholds {
  float reject;
  float accept;
};

/// Returns the thresholds of an unknown point, which leave all its pairs undecided.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline PairThresholds always_open() noexcept { return {-HUGE_VALF, HUGE_VALF}; }

/// The thresholds h and k of a point, in float64.
struct RealThresholds {
  double reject;
  double accept;
};

/// Returns h lowered and k raised by the error of their computation. eps: E; norm: n, at most 2^60 and computed in
/// float64 (up to 4096 squares, in any order); radius: r; product_error: e.
///
/// `computed` covers the rounding errors of n, h and k in float64. They come from 4096 sums and a few operations, each
/// with an error of 2^-53 of terms that n + e + (E + 2r)² bounds. If E is 1 or more, `computed` is at least 2^-39,
/// which also covers float32 underflow.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline RealThresholds real_thresholds(double norm, double product_error,
                                                                        double radius, double eps) noexcept {
  const double outer = eps * (1 + 0x1p-40) + 2 * radius;
  const double inner = eps * (1 - 0x1p-40);
  const double computed = 0x1p-39 * (norm + product_error + outer * outer);
  const double h = 0.5 * (norm - 2 * product_error - 0.5 * outer * outer) - computed;
  const double k = 0.5 * (norm + 2 * product_error - 0.5 * inner * inner + 2 * inner * radius) + computed;
  return {h, 2 * radius <= inner ? k : HUGE_VAL};
}

/// The same thresholds as floats. 2^-23 |h| covers rounding their sum to float32, by at most 2^-24 (|h_p| + |h_q|).
[[nodiscard]] EPSFLOW_HOST_DEVICE inline PairThresholds pair_thresholds(double norm, double product_error,
                                                                        double radius, double eps) noexcept {
  const RealThresholds real = real_thresholds(norm, product_error, radius, eps);
  return {round_down(real.reject - 0x1p-23 * std::fabs(real.reject)),
          round_up(real.accept + 0x1p-23 * std::fabs(real.accept))};
}

/// Returns h = k for a point. Requires p = P for all points, and coordinates that are multiples of a power of two g.
/// All squared distances up to the sum of two norms are then decided without rounding: norm and limit are at most
/// 2^20 g². limit: s²·fl(eps²). step: g².
///
/// Products and norms are multiples of g² up to 2^20 g², so ĝ is exact, and so is the squared distance, here and in the
/// test of distance.hpp. It is over the limit if and only if it is over the limit rounded down to a multiple of g² and
/// raised by g²/2, which no squared distance equals. Thresholds and their sums are multiples of g²/8 below 2^24 of
/// them, so exact as floats.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline PairThresholds exact_thresholds(double norm, double limit,
                                                                         double step) noexcept {
  const auto h = static_cast<float>(0.5 * norm - 0.25 * (floor(limit / step) + 0.5) * step);
  return {h, h};
}

}  // namespace epsflow::index
