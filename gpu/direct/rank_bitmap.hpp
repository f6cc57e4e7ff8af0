// A bitmap that knows how many bits are set before each of its bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// 32 bits of it: one load answers both whether a bit is set and how many before it are.
struct alignas(8) RankWord {
  std::uint32_t bits;
  std::uint32_t rank;  ///< set bits of this word and all before it
};

/// Words of a bitmap of `bits` bits, and one more that stays empty: a few bits from any on can be read without a test
/// for the end.
[[nodiscard]] constexpr std::uint64_t rank_words(std::uint64_t bits) noexcept { return (bits + 31) / 32 + 1; }

/// Ranks from bits. [device] words: [count]
void launch_rank(RankWord* words, std::uint64_t count, Scratch scratch);

}  // namespace epsflow::gpu
