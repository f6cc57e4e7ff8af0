// Integers that float64 would round: two of them would become one coordinate.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace epsflow::io {

/// 2^53: float64 holds every integer up to it, and further on only some. What lies below needs no second look.
inline constexpr double kMostExact = 9007199254740992.0;

[[nodiscard]] inline bool may_be_rounded(double value) noexcept { return std::abs(value) >= kMostExact; }

/// Whether float64 holds the integer itself.
template <class Integer>
[[nodiscard]] bool is_exact(Integer value) noexcept {
  static_assert(std::is_integral_v<Integer>);
  const auto nearest = static_cast<double>(value);
  // Behind the largest integer, a cast back would be undefined.
  const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return nearest < end && static_cast<Integer>(nearest) == value;
}

}  // namespace epsflow::io
