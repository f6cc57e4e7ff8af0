// A bitmap with the number of set bits before each word.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// 32 bits of the map: one load shows whether a bit is set, and how many bits before it are.
struct alignas(8) RankWord {
  std::uint32_t bits;
  std::uint32_t rank;  ///< number of set bits in this word and all words before it
};

/// Returns the words of a bitmap of `bits` bits, and one more that stays empty, so that kernels may read a few bits
/// from any bit on without a test for the end.
[[nodiscard]] constexpr std::uint64_t rank_words(std::uint64_t bits) noexcept { return (bits + 31) / 32 + 1; }

/// Computes the ranks from the bits. [device] words: [count]
void launch_rank(RankWord* words, std::uint64_t count, Scratch scratch);

}  // namespace epsflow::gpu
