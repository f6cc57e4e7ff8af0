// What the kernels that compare tiles read and write.
#pragma once

#include <cstddef>
#include <cstdint>

#include <epsflow/core/host_device.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/index/layer_function.hpp>

namespace epsflow::gpu {

/// Two positions within eps, the first before the second.
struct PointPair {
  std::uint32_t first;
  std::uint32_t second;
};
/// In place of a pair where a list has a gap.
inline constexpr std::uint32_t kNoPoint = 0xFFFFFFFFU;

/// Every stride-th block of a list, from the first on. [device]
struct TileWork {
  const index::TileBlock* blocks = nullptr;
  std::uint64_t count = 0;  ///< blocks of the list
  std::uint64_t first = 0;
  std::uint64_t stride = 1;

  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint64_t size() const noexcept {
    return count > first ? (count - first + stride - 1) / stride : 0;
  }
};

/// Places taken in the lists of a PairSink; they may exceed the room there is.
struct PairCounts {
  unsigned long long pairs;
  unsigned long long open;
};

/// Where the kernels leave what they find. Nothing is written past the room of a list, and its places are counted on, so that
/// whoever reads the counts knows what is missing. [device]
struct PairSink {
  PointPair* pairs = nullptr;  ///< gaps are kNoPoint
  std::uint64_t room = 0;
  PointPair* open = nullptr;  ///< pairs that a decider left to the test of distance.hpp; gaps are kNoPoint
  std::uint64_t open_room = 0;
  PairCounts* counts = nullptr;
};

/// The points in the order of their positions, for the test of distance.hpp. [device]
struct OrderedPoints {
  const void* data = nullptr;            ///< [n × dims], row-major, in input order
  const std::uint32_t* order = nullptr;  ///< [n] input id of each position
  std::uint32_t size = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  double eps_squared = 0;
};

/// Bytes of a slice: of each point of a tile, 64 coordinates in half precision or 16 in float64.
inline constexpr std::uint32_t kRowBytes = 128;
inline constexpr std::uint32_t kSliceBytes = index::kTilePoints * kRowBytes;

/// Points as factors of products, tile by tile, slice by slice; zeros where there are none. The eight pieces of 16 bytes of a row
/// are exchanged, piece c with piece c ^ (row mod 8), so that what tensor cores load at once lies in different banks. Source of
/// the exchange: FaSTED, and TMA's 128-byte swizzle. Real: of the sums; float where the factors are half precision. [device]
template <class Real>
struct ProductTiles {
  std::byte* slices = nullptr;  ///< [tiles × slices_per_tile × kSliceBytes]
  Real* no =
      nullptr;  ///< [tiles × 128] what no sum of two reaches where points are apart; infinite where there is none
  Real* gaps = nullptr;  ///< [tiles] a product that is above two bounds by the gaps of their tiles says yes
  std::uint32_t slices_per_tile = 1;
  std::uint32_t count = 0;  ///< tiles
  std::uint32_t steps = 1;  ///< of 32 bytes of a row: 16 coordinates, or 4; all slices together
};

/// Where byte `at` of a row of factors lies in its tile, pieces exchanged.
[[nodiscard]] EPSFLOW_HOST_DEVICE constexpr std::uint64_t factor_place(std::uint32_t row, std::uint64_t at) noexcept {
  const std::uint64_t piece = at % kRowBytes / 16 ^ row % 8;
  return at / kRowBytes * kSliceBytes + row * kRowBytes + piece * 16 + at % 16;
}

}  // namespace epsflow::gpu
