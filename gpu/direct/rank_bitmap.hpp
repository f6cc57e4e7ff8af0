// A bitmap with the number of set bits up to the end of each word.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// 32 bits of the map: one load shows whether a bit is set, and how many bits before it are set.
struct alignas(8) RankWord {
  std::uint32_t bits;
  std::uint32_t rank;  ///< number of set bits in this word and all words before it; from launch_rank()
};

/// Returns the number of words of a bitmap of `bits` bits. The last word has no bits of the map and must stay zero, so
/// that kernels may read up to 32 bits from any bit on without a test for the end.
[[nodiscard]] constexpr std::uint64_t rank_words(std::uint64_t bits) noexcept { return (bits + 31) / 32 + 1; }

/// Sets the ranks of all words by their bits. words: [count] in device memory. scratch: the stream, which is not waited
/// for, and the temporary memory. Throws DeviceOutOfMemory.
void launch_rank(RankWord* words, std::uint64_t count, Scratch scratch);

}  // namespace epsflow::gpu
