// The inputs and outputs of the kernels that compare tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include <epsflow/core/host_device.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/index/layer_function.hpp>

namespace epsflow::gpu {

/// Two positions, the smaller one first.
struct PointPair {
  std::uint32_t first;
  std::uint32_t second;
};
/// Marks a gap in a list of pairs.
inline constexpr std::uint32_t kNoPoint = 0xFFFFFFFFU;

/// Every stride-th block of a list, from the first-th on. [device]
struct TileWork {
  const index::TileBlock* blocks = nullptr;
  std::uint64_t count = 0;  ///< number of blocks of the list
  std::uint64_t first = 0;
  std::uint64_t stride = 1;

  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint64_t size() const noexcept {
    return count > first ? (count - first + stride - 1) / stride : 0;
  }
};

/// Numbers of entries used in the lists of a PairSink. They may exceed the capacity.
struct PairCounts {
  unsigned long long pairs;
  unsigned long long open;
};

/// The destination of the pairs. Kernels write nothing past the end of a list, but continue to count, so that the
/// caller sees from the counts how many entries are missing. [device]
struct PairSink {
  PointPair* pairs = nullptr;        ///< pairs within eps; gaps are kNoPoint
  std::uint64_t pairs_capacity = 0;  ///< capacity of pairs
  PointPair* open = nullptr;         ///< pairs left to the test of distance.hpp; gaps are kNoPoint
  std::uint64_t open_capacity = 0;   ///< capacity of open
  PairCounts* counts = nullptr;
};

/// The points, and the input id of each position, for the test of distance.hpp. [device]
struct OrderedPoints {
  const void* data = nullptr;            ///< [n × dims], row-major, in input order
  const std::uint32_t* order = nullptr;  ///< [n] input id of each position
  std::uint32_t size = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  double eps_squared = 0;
};

/// Bytes of a point in a slice, 64 coordinates in half precision or 16 in float64; and bytes of a slice of a tile.
inline constexpr std::uint32_t kRowBytes = 128;
inline constexpr std::uint32_t kSliceBytes = index::kTilePoints * kRowBytes;

/// A point as it is rounded to factors: its squared norm, and a bound on its distance from the point that is not
/// rounded.
struct FactorShape {
  double norm;
  double radius;
};

/// Points as factors of products, by tile and slice, and zeros for rows without a point. The eight pieces of 16 bytes
/// of a row are swizzled, piece c with piece c ^ (row mod 8), against bank conflicts. Source of the swizzle: FaSTED,
/// and TMA's 128-byte swizzle. Real: type of the sums; float for half-precision factors. [device]
template <class Real>
struct ProductTiles {
  std::byte* slices = nullptr;  ///< [tiles × slices_per_tile × kSliceBytes]
  /// [tiles × 128] If a product is below the sum of the bounds of its points, they are certainly not neighbours (a
  /// no). Infinite for a row without a point.
  Real* no = nullptr;
  FactorShape* shapes = nullptr;  ///< [tiles × 128], for each point; null if not wanted
  /// [tiles] If a product exceeds the sum of the two bounds by at least the gaps of both tiles, the points are
  /// certainly neighbours (a yes).
  Real* gaps = nullptr;
  std::uint32_t slices_per_tile = 1;
  std::uint32_t count = 0;  ///< number of tiles
  /// Number of steps in all slices, of 32 bytes of a row: 16 coordinates in half precision or 4 in float64.
  std::uint32_t steps = 1;
};

/// Returns the offset in its tile of byte `at` of a row of factors, after the swizzle.
[[nodiscard]] EPSFLOW_HOST_DEVICE constexpr std::uint64_t factor_offset(std::uint32_t row, std::uint64_t at) noexcept {
  const std::uint64_t piece = at % kRowBytes / 16 ^ row % 8;
  return at / kRowBytes * kSliceBytes + row * kRowBytes + piece * 16 + at % 16;
}

}  // namespace epsflow::gpu
