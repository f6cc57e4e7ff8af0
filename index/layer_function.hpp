// Functions of points that change by no more than the distance between two points, and the tests that follow from them.
// Host and device compute them alike.
//
// A coordinate and the distance to a pivot are such functions. Their unit is the *tile reach*: a little more than eps,
// so that values of neighbours differ by at most 1.
//
// Proof. Let u = 2^-53, d <= 4096 dimensions.
//
// Reach. The test of distance.hpp sums d squares, each term rounded d + 2 times at most, and rounds eps² once, so it
// passes only pairs with ‖p − q‖ <= eps·(1 + (d + 4)u). Squares that underflow change that by less than another u if
// eps >= 2^-500; below, 2^-500 replaces eps. Hence reach = max(eps, 2^-500)·(1 + (d + 8)·2u).
//
// Value. A distance is the root of such a sum: its relative error is at most (d + 3)u, and squares that underflow add
// at most √d·2^-537 < 2^-31 reaches. Subtracting the origin o and multiplying by fl(1/reach) rounds three times. If t
// is the computed value in reaches, the real one is within
//   (d + 3)u·|value|/reach + 4u·|t| + 2^-31  <=  margin + slope·|t|,  slope = (d + 8)·2^-51,
// as |value|/reach <= (|t| + |o|/reach)·(1 + 4u). margin is 2^-30, plus (d + 8)·2^-51·|o|/reach for distances.
//
// Clamping to ±2^30 does not increase any difference, so the bounds still hold. A distance that overflows is at least
// 2^511 in real numbers. A function is 0 everywhere if its origin is above 2^500 or the reach is above 2^400, so an
// overflowed distance is beyond 2^30 reaches of the origin in real numbers too.
//
// Intervals. Bounds are widened by margin + slope·|t| (taken twice, which covers the roundings of this computation) and
// rounded outward to float. Float subtraction is monotone, so a computed gap above 1, a float, is a real gap above 1.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <epsflow/core/host_device.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::index {

/// Points of a tile: consecutive positions that are compared as a whole.
inline constexpr std::uint32_t kTilePoints = 128;
/// Tiles of a block in each direction.
inline constexpr std::uint32_t kBlockTiles = 8;

/// The largest number of functions that points are sorted by.
inline constexpr std::uint32_t kMostLayers = 6;
/// The largest number of functions for which intervals of tiles are stored, including the sorting ones.
inline constexpr std::uint32_t kMostFunctions = 16;
/// The largest number of bits of a layer's bins in a key.
inline constexpr std::uint32_t kMostLayerBits = 10;

/// Values are clamped to ± this number of reaches.
inline constexpr double kMostScaled = 0x1p30;
/// A function is 0 everywhere if its origin is above kLargestOrigin or the reach is above kLargestReach.
inline constexpr double kLargestOrigin = 0x1p500;
inline constexpr double kLargestReach = 0x1p400;

/// A coordinate or the distance to a pivot, in reaches from an origin, and the division of its values into bins.
struct LayerFunction {
  static constexpr std::uint32_t kNoPivot = ~std::uint32_t{0};

  std::uint32_t dim = 0;           ///< the coordinate, if it is one
  std::uint32_t pivot = kNoPivot;  ///< the pivot, or kNoPivot for a coordinate
  double origin = 0;
  double inverse_reach = 0;  ///< 0 for a function that is 0 everywhere
  double margin = 0;
  double slope = 0;
  double first_bin = 0;  ///< lower end of bin 0, in reaches
  double bins_per_reach = 0;
  std::uint32_t bins = 1;
  std::uint32_t shift = 0;  ///< position of its bins in a key, in bits; only for functions that points are sorted by

  /// Returns the value in reaches, from which bins and intervals are made. `value`: the coordinate, or the distance.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double scaled(double value) const noexcept {
    if (inverse_reach == 0) return 0;
    const double t = rounded_product(rounded_difference(value, origin), inverse_reach);
    if (t < -kMostScaled) return -kMostScaled;
    return t < kMostScaled ? t : kMostScaled;
  }

  /// Returns the bin of a value in reaches, from 0 to bins − 1.
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t bin(double t) const noexcept {
    const double position = rounded_product(rounded_difference(t, first_bin), bins_per_reach);
    if (!(position >= 1)) return 0;
    return position < bins ? static_cast<std::uint32_t>(position) : bins - 1;
  }

  /// Returns twice the bound on the difference between the real value and a computed t, in reaches.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double error(double t) const noexcept {
    return 2 * rounded_sum(margin, rounded_product(slope, t < 0 ? -t : t));
  }
};

[[nodiscard]] EPSFLOW_HOST_DEVICE inline double rounded_root(double sum) noexcept {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(sum);
#else
  return std::sqrt(sum);
#endif
}

/// The functions, in memory that the caller can read. The functions that points are sorted by come first.
struct LayersView {
  LayerFunction functions[kMostFunctions];
  const double* pivots = nullptr;  ///< [dims × pivot_count] coordinate k of all pivots is contiguous
  std::uint32_t count = 0;         ///< number of functions
  std::uint32_t sorted = 0;        ///< number of functions that points are sorted by
  std::uint32_t pivot_count = 0;
  std::uint32_t sorted_pivots = 0;  ///< pivots of the first `sorted` functions; they come first
  std::uint32_t dims = 1;
};

/// Returns the sort key of a point: the bins of the layers, the first layer in the highest bits. scaled: [view.sorted]
///
/// A layer counts down if the bins of the layers before it sum to an odd number. Then consecutive bins in the order are
/// adjacent in value, and a tile that spans two of them has no wider intervals than necessary.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline std::uint64_t layer_key(const LayersView& view,
                                                                 const double* scaled) noexcept {
  std::uint64_t key = 0;
  std::uint32_t before = 0;
  for (std::uint32_t f = 0; f < view.sorted; ++f) {
    const LayerFunction& function = view.functions[f];
    const std::uint32_t bin = function.bin(scaled[f]);
    key |= std::uint64_t{before % 2 == 0 ? bin : function.bins - 1 - bin} << function.shift;
    before += bin;
  }
  return key;
}

/// Returns the largest float not above x, and the smallest not below x. x is within ±2^31.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float float_below(double x) noexcept {
#ifdef __CUDA_ARCH__
  return __double2float_rd(x);
#else
  const auto near = static_cast<float>(x);
  return static_cast<double>(near) > x ? std::nextafter(near, -std::numeric_limits<float>::infinity()) : near;
#endif
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float float_above(double x) noexcept { return -float_below(-x); }

/// Bounds of a function on a set of points, in reaches.
struct LayerInterval {
  float lo;
  float hi;
};

/// Returns the interval of points with computed values from lo to hi. error() grows away from 0, so the ends decide.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline LayerInterval interval_of(const LayerFunction& function, double lo,
                                                                   double hi) noexcept {
  return {float_below(rounded_difference(lo, function.error(lo))), float_above(rounded_sum(hi, function.error(hi)))};
}

/// Returns true if the intervals are more than one reach apart: no point of one is a neighbour of a point of the other.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline bool are_apart(LayerInterval a, LayerInterval b) noexcept {
  return a.lo - b.hi > 1.0F || b.lo - a.hi > 1.0F;
}

/// The pairs of tiles in a block of 8 × 8 pairs that may hold neighbours.
struct TileBlock {
  std::uint32_t rows;     ///< tiles from 8·rows on
  std::uint32_t columns;  ///< are compared with tiles from 8·columns on; rows <= columns
  std::uint64_t pairs;    ///< bit 8·i + j: tile 8·rows + i must be compared with tile 8·columns + j

  friend bool operator==(const TileBlock&, const TileBlock&) = default;
};

[[nodiscard]] EPSFLOW_HOST_DEVICE inline std::uint32_t tiles_of(std::uint64_t points) noexcept {
  return static_cast<std::uint32_t>((points + kTilePoints - 1) / kTilePoints);
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline std::uint32_t tile_blocks_of(std::uint32_t tiles) noexcept {
  return tiles / kBlockTiles + (tiles % kBlockTiles != 0 ? 1 : 0);
}

/// Returns the class of a block, from 0 for many pairs to kBlockClasses − 1 for few. Blocks are listed by class, so
/// that the last ones to be processed are light, then by rows and columns, because adjacent blocks read the same
/// memory.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline std::uint32_t block_class(std::uint64_t pairs) noexcept {
  std::uint32_t count = 0;
#ifdef __CUDA_ARCH__
  count = static_cast<std::uint32_t>(__popcll(pairs));
#else
  for (; pairs != 0; pairs &= pairs - 1) ++count;
#endif
  return count >= 48 ? 0 : count >= 24 ? 1 : count >= 8 ? 2 : 3;
}
inline constexpr std::uint32_t kBlockClasses = 4;

}  // namespace epsflow::index
