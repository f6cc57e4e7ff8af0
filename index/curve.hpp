// The Z-order curve (Morton 1966) through a cube: points near each other mostly have numbers near each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <epsflow/core/host_device.hpp>

namespace epsflow::index {

/// The largest number of coordinates that a number on the curve combines.
inline constexpr std::size_t kMostCurveDims = 6;

/// Returns the number of bits of one coordinate in a 64-bit number: at most 32, the bits of a slot.
[[nodiscard]] EPSFLOW_HOST_DEVICE constexpr unsigned curve_bits(std::size_t dims) noexcept {
  return dims < 2 ? 32 : static_cast<unsigned>(64 / dims);
}

namespace detail {
/// The bits that are set once groups of `size` bits of a slot are D · size bits apart.
template <std::size_t D>
[[nodiscard]] EPSFLOW_HOST_DEVICE constexpr std::uint64_t groups_of(unsigned size) noexcept {
  std::uint64_t mask = 0;
  for (unsigned bit = 0; bit < curve_bits(D); ++bit) mask |= std::uint64_t{1} << (bit / size * size * D + bit % size);
  return mask;
}

/// Moves bit i of a slot to bit i · D.
template <std::size_t D>
[[nodiscard]] EPSFLOW_HOST_DEVICE constexpr std::uint64_t spread(std::uint32_t slot) noexcept {
  std::uint64_t bits = slot;
  if constexpr (D > 1) {
    constexpr std::uint64_t k16 = groups_of<D>(16), k8 = groups_of<D>(8), k4 = groups_of<D>(4), k2 = groups_of<D>(2),
                            k1 = groups_of<D>(1);
    if constexpr (curve_bits(D) > 16) bits = (bits | bits << (16 * (D - 1))) & k16;
    if constexpr (curve_bits(D) > 8) bits = (bits | bits << (8 * (D - 1))) & k8;
    bits = (bits | bits << (4 * (D - 1))) & k4;
    bits = (bits | bits << (2 * (D - 1))) & k2;
    bits = (bits | bits << (D - 1)) & k1;
  }
  return bits;
}
}  // namespace detail

/// The cube that the curve fills. It holds the points, and its side is their largest extent. Numbers affect the speed
/// of a search but not its result, so no bound on rounding is needed.
struct Curve {
  double lo[kMostCurveDims] = {};  ///< halves of the lowest corner, because sums of halves do not overflow
  double scale = 0;                ///< slots per unit of halved coordinates; 0 if all points are equal

  Curve() = default;
  /// Makes the cube of points with coordinates from lowest[k] to highest[k]. O(d).
  Curve(const double* lowest, const double* highest, std::size_t dims) noexcept {
    double extent = 0;
    for (std::size_t k = 0; k < dims; ++k) {
      lo[k] = lowest[k] / 2;
      extent = std::max(extent, highest[k] / 2 - lo[k]);
    }
    constexpr double kLargest = 1e300;  // products with it may be infinite, but not NaN
    const auto slots = static_cast<double>((std::uint64_t{1} << curve_bits(dims)) - 1);
    if (extent > 0) scale = std::min(slots / extent, kLargest);
  }

  /// Returns the number of the point with the coordinates at(0) … at(D − 1), from 0 to 2^(D · curve_bits(D)) − 1.
  template <std::size_t D, class At>
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint64_t number(At at) const noexcept {
    constexpr double kLast = static_cast<double>((std::uint64_t{1} << curve_bits(D)) - 1);
    std::uint64_t number = 0;
    for (std::size_t k = 0; k < D; ++k) {
      const double coordinate = (static_cast<double>(at(k)) / 2 - lo[k]) * scale;
      number |=
          detail::spread<D>(static_cast<std::uint32_t>(coordinate < kLast ? (coordinate > 0 ? coordinate : 0) : kLast))
          << k;
    }
    return number;
  }
};

}  // namespace epsflow::index
