// Functions of points that change by no more than the distance between two points, and the tests that follow from them.
// What host and device compute alike.
//
// A coordinate and the distance to a pivot are such functions. They are taken in units of the *tile reach*: a little more
// than eps, so that they differ by at most 1 between neighbours.
//
// Why that is safe. Let u = 2^-53, d <= 4096 dimensions.
//
// Reach. The test of distance.hpp sums d squares, each term rounded d + 2 times at most, and rounds eps² once, so it
// passes only pairs with ‖p − q‖ <= eps·(1 + (d + 4)u); squares that underflow change that by less than another u where
// eps >= 2^-500, and below, 2^-500 takes eps' place. Hence reach = max(eps, 2^-500)·(1 + (d + 8)·2u).
//
// Value. A distance is the root of such a sum: its relative error is at most (d + 3)u, and squares that underflow add at
// most √d·2^-537 < 2^-31 reaches. Subtracting the origin o and multiplying by fl(1/reach) rounds three times. With t the
// computed value in reaches, the real one is within
//   (d + 3)u·|value|/reach + 4u·|t| + 2^-31  <=  margin + slope·|t|,  slope = (d + 8)·2^-51,
// as |value|/reach <= (|t| + |o|/reach)·(1 + 4u); margin is 2^-30, and of distances (d + 8)·2^-51·|o|/reach more.
//
// Clamping to ±2^30 keeps what is used above: it changes no difference for the larger. A distance that overflows is at
// least 2^511 in real numbers; functions whose origin is above 2^500, and all where the reach is above 2^400, are 0
// everywhere, so an overflown distance is beyond 2^30 reaches of the origin in real numbers too.
//
// Intervals. Bounds are widened by margin + slope·|t| (taken twice, which covers the roundings of just that) and rounded
// outward to float. Float subtraction is monotone, so a computed gap above 1, a float, is a real one above 1.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <epsflow/core/host_device.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::index {

/// Consecutive positions that are compared with each other as a whole.
inline constexpr std::uint32_t kTilePoints = 128;
/// Tiles of a block in each direction.
inline constexpr std::uint32_t kBlockTiles = 8;

/// Functions that points are sorted by.
inline constexpr std::uint32_t kMostLayers = 6;
/// Functions of which the intervals of tiles are kept, the former among them.
inline constexpr std::uint32_t kMostFunctions = 16;
/// Bits of a layer's bins in a key.
inline constexpr std::uint32_t kMostLayerBits = 10;

/// Values are clamped to ± this many reaches.
inline constexpr double kMostScaled = 0x1p30;
/// Origins above it make a function 0 everywhere, reaches above the other all of them.
inline constexpr double kLargestOrigin = 0x1p500;
inline constexpr double kLargestReach = 0x1p400;

/// A coordinate or the distance to a pivot, in reaches from an origin, and its bins.
struct LayerFunction {
  static constexpr std::uint32_t kNoPivot = ~std::uint32_t{0};

  std::uint32_t dim = 0;           ///< of a coordinate
  std::uint32_t pivot = kNoPivot;  ///< which pivot, or kNoPivot for a coordinate
  double origin = 0;
  double inverse_reach = 0;  ///< 0 for a function that is 0 everywhere
  double margin = 0;
  double slope = 0;
  double first_bin = 0;  ///< where bin 0 begins, in reaches
  double bins_per_reach = 0;
  std::uint32_t bins = 1;
  std::uint32_t shift = 0;  ///< of its bins in a key

  /// What bins and intervals are made of. `value`: the coordinate, or the distance.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double scaled(double value) const noexcept {
    if (inverse_reach == 0) return 0;
    const double t = rounded_product(rounded_difference(value, origin), inverse_reach);
    if (t < -kMostScaled) return -kMostScaled;
    return t < kMostScaled ? t : kMostScaled;
  }

  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t bin(double t) const noexcept {
    const double place = rounded_product(rounded_difference(t, first_bin), bins_per_reach);
    if (!(place >= 1)) return 0;
    return place < bins ? static_cast<std::uint32_t>(place) : bins - 1;
  }

  /// How far the real value may be from a computed t, twice.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double error(double t) const noexcept {
    return 2 * rounded_sum(margin, rounded_product(slope, t < 0 ? -t : t));
  }
};

/// The distance whose coordinates' squares sum to `sum`.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline double rounded_root(double sum) noexcept {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(sum);
#else
  return std::sqrt(sum);
#endif
}

/// The functions, in memory that whoever calls it can read. Those that points are sorted by come first.
struct LayersView {
  LayerFunction functions[kMostFunctions];
  const double* pivots = nullptr;  ///< [dims × pivot_count], coordinate k of all pivots side by side
  std::uint32_t count = 0;
  std::uint32_t sorted = 0;
  std::uint32_t pivot_count = 0;
  std::uint32_t sorted_pivots = 0;  ///< of the first `sorted` functions; theirs come first
  std::uint32_t dims = 1;
};

/// What points are sorted by: the bins of the layers, the first layer's in the highest bits. scaled: [view.sorted]
///
/// Where the bins of the layers before sum to an odd number a layer counts down: bins that follow each other in the order
/// then lie side by side, and a tile that goes on from one to the next has no wider intervals than it must.
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

/// The largest float that is not above x, and the smallest that is not below. x is within ±2^31.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float float_below(double x) noexcept {
#ifdef __CUDA_ARCH__
  return __double2float_rd(x);
#else
  const auto near = static_cast<float>(x);
  return static_cast<double>(near) > x ? std::nextafter(near, -std::numeric_limits<float>::infinity()) : near;
#endif
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline float float_above(double x) noexcept { return -float_below(-x); }

/// What a function can be on a set of points, in reaches.
struct LayerInterval {
  float lo;
  float hi;
};

/// The interval of points whose computed values are from lo to hi. As error() grows away from 0, the ends decide.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline LayerInterval interval_of(const LayerFunction& function, double lo,
                                                                   double hi) noexcept {
  return {float_below(rounded_difference(lo, function.error(lo))), float_above(rounded_sum(hi, function.error(hi)))};
}

/// No point of one is a neighbour of a point of the other.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline bool are_apart(LayerInterval a, LayerInterval b) noexcept {
  return a.lo - b.hi > 1.0F || b.lo - a.hi > 1.0F;
}

/// What of the points of a tile may be within eps of what points of another: a block of 8 × 8 tiles.
struct TileBlock {
  std::uint32_t rows;     ///< tiles 8·rows …
  std::uint32_t columns;  ///< against tiles 8·columns …, rows <= columns
  std::uint64_t pairs;    ///< bit 8·i + j: tile 8·rows + i must be compared with tile 8·columns + j

  friend bool operator==(const TileBlock&, const TileBlock&) = default;
};

[[nodiscard]] EPSFLOW_HOST_DEVICE inline std::uint32_t tiles_of(std::uint64_t points) noexcept {
  return static_cast<std::uint32_t>((points + kTilePoints - 1) / kTilePoints);
}
[[nodiscard]] EPSFLOW_HOST_DEVICE inline std::uint32_t tile_blocks_of(std::uint32_t tiles) noexcept {
  return tiles / kBlockTiles + (tiles % kBlockTiles != 0 ? 1 : 0);
}

/// Blocks are listed by this, smallest first: those of many pairs at the front, so that the last to be worked on are
/// light; among equals by place, as what lies together is read together.
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
