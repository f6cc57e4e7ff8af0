// Sizes and thresholds of the search by tiles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace epsflow::gpu::tuning {

/// Places in a list of pairs that a warp takes at once. Those that stay empty are gaps, of thousands of warps.
inline constexpr std::uint32_t kPairPlaces = 128;
inline constexpr std::uint32_t kOpenPlaces = 32;
/// Products of coordinates, some more for each pair, that one launch makes at most: between launches a cancelled run ends. An H200
/// makes 2e14 a second in half precision, 1e13 in float64.
inline constexpr double kMostProducts16 = 4e13;
inline constexpr double kMostProducts64 = 2e12;
/// Products of all pairs of points up to which they are made sooner than an order that prunes some: the order of 100,000 points took 3 ms
/// in 32 dimensions and 6 in 128, and the choice of its functions some 0.03 ms for each dimension; an H200 makes 2e14 a second.
[[nodiscard]] constexpr double few_products(std::size_t dims) noexcept {
  return 3e11 + 6e9 * static_cast<double>(dims);
}
/// Pairs per point that the list of pairs has room for at first.
inline constexpr std::uint64_t kGuessedPairs = 160;
/// One in how many blocks of pairs of tiles is compared first to guess better, if that many make a sample; of all pairs of tiles this
/// many blocks.
inline constexpr std::uint64_t kSampledBlocks = 64;
inline constexpr std::uint64_t kSampledOfAll = 256;
inline constexpr std::uint64_t kFewestSampled = 16;
/// Norms in units of eps up to which half precision leaves little open, as its rounding is 2^-11 of them at most.
inline constexpr double kNearNorm = 128;
/// Share of the pairs compared that may be open before it is sooner to multiply in float64: an open pair takes some hundred times as
/// long as one of a product in float64. A first guess.
inline constexpr double kMostOpen = 1.0 / 128;
/// Places of a kept list from which it pays to forget pairs that are of no use any more.
inline constexpr std::uint64_t kFewestForgotten = 4 << 20;
/// Share of the free memory that the list may take, as a divisor.
inline constexpr std::uint64_t kPairShare = 3;
/// Pairs of a batch of a table that is made from the list.
inline constexpr std::uint64_t kTileBatchPairs = 32 << 20;
/// Blocks that go through a list of pairs, at most.
inline constexpr std::uint64_t kListBlocks = 132 * 8;
/// Blocks that look at all coordinates, at most.
inline constexpr std::uint32_t kSurveyBlocks = 2112;
/// Blocks of the kernels that go through the pairs of blocks of tiles, at most: a few dozen for each multiprocessor, so that
/// where pairs are close together their work is shared. A first guess.
inline constexpr std::uint64_t kTriangleBlocks = 1 << 13;

}  // namespace epsflow::gpu::tuning
