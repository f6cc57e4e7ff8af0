// Access of kernels to a RankWord.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/rank_bitmap.hpp>

namespace epsflow::gpu {

/// Returns word `i`, by way of the read-only cache: the kernel must not change the words.
__device__ inline RankWord load_word(const RankWord* words, std::uint64_t i) {
  const uint2 word = __ldg(reinterpret_cast<const uint2*>(words) + i);
  return {word.x, word.y};
}

/// Returns the number of set bits before bit `i`. The words must have ranks (launch_rank()).
__device__ inline std::uint32_t rank_before(const RankWord* words, std::uint64_t i) {
  const RankWord word = load_word(words, i / 32);
  return word.rank - __popc(word.bits >> (i % 32));
}

}  // namespace epsflow::gpu
