// Sizes and thresholds of the search by tiles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace epsflow::gpu::tuning {

/// Entries of a list that a warp reserves at a time: kReservedPairs for neighbours, kReservedOpen for undecided pairs
/// and for those that prove to be neighbours. Unused entries become gaps, in thousands of warps.
inline constexpr std::uint32_t kReservedPairs = 128;
inline constexpr std::uint32_t kReservedOpen = 32;
/// About the most products of coordinates of one launch, plus some for each pair, so that a cancelled run ends between
/// launches: in half precision; in float64. An H200 makes 2e14 and 1e13 a second.
inline constexpr double kMostProducts16 = 4e13;
inline constexpr double kMostProducts64 = 2e12;
/// Up to this many products (dims + 32 for each pair of points), comparing all pairs is faster than making an order
/// that prunes some: the order of 100,000 points took 3 ms in 32 dimensions and 6 in 128, and the choice of its
/// functions about 0.03 ms for each dimension; an H200 makes 2e14 a second.
[[nodiscard]] constexpr double few_products(std::size_t dims) noexcept {
  return 3e11 + 6e9 * static_cast<double>(dims);
}
/// Initial size of the list of pairs, in pairs for each point.
inline constexpr std::uint64_t kGuessedPairs = 160;
/// A sample of the blocks of pairs of tiles may be compared first. If at least half of the pairs of tiles are pruned,
/// it is one block in kSampledBlocks, or a larger share that gives kFewestSampled blocks; otherwise it is at least
/// kSampledOfAll blocks, or all. To guess the size of the list alone, it is taken only if it is at most one block in
/// kSampledBlocks.
inline constexpr std::uint64_t kSampledBlocks = 64;
inline constexpr std::uint64_t kSampledOfAll = 256;
inline constexpr std::uint64_t kFewestSampled = 16;
/// Up to this norm in eps, half precision leaves few pairs undecided: it rounds by at most 2^-11 of the norm.
inline constexpr double kNearNorm = 128;
/// If a larger share of the compared pairs is undecided, float64 products are faster: an undecided pair takes about a
/// hundred times as long as one float64 product. A first guess.
inline constexpr double kMostOpen = 1.0 / 128;
/// From this size of a cached list on, it pays to remove pairs that are no longer needed.
inline constexpr std::uint64_t kFewestForgotten = 4 << 20;
/// The list may take this fraction of the free memory, given as a divisor.
inline constexpr std::uint64_t kPairShare = 3;
/// Pairs of a batch of a table that is made from the list, unless the caller gives their number or memory is scarce.
inline constexpr std::uint64_t kTileBatchPairs = 32 << 20;
/// The largest number of blocks of a kernel that reads a list of pairs.
inline constexpr std::uint64_t kListBlocks = 132 * 8;
/// The largest number of blocks of a kernel that reads all coordinates.
inline constexpr std::uint32_t kSurveyBlocks = 2112;
/// The largest number of thread blocks of the kernels that list the pairs of blocks of tiles: a few dozen for each
/// multiprocessor, so that regions with many pairs are shared. A first guess.
inline constexpr std::uint64_t kTriangleBlocks = 1 << 13;

}  // namespace epsflow::gpu::tuning
