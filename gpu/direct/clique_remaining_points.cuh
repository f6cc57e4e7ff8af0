// How threads leave points with too many candidates to blocks.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/clique_kernels.hpp>

namespace epsflow::gpu {

inline constexpr std::uint32_t kNoLimit = 0xFFFFFFFFU;

/// Calls search(limit) with the candidates that a thread may test, which returns whether they were enough. Where they were not,
/// the point is left to a block, and the answer is false, or it is searched without a limit if there is no room.
template <class Search>
__device__ bool search_or_leave(const RemainingPoints& remaining, std::uint32_t position, Search search) {
  for (std::uint32_t limit = tuning::kThreadCandidates;; limit = kNoLimit) {
    if (search(limit)) return true;
    const std::uint32_t at = atomicAdd(&remaining.tally->remaining, 1U);
    if (at < remaining.capacity) {
      remaining.positions[at] = position;
      return false;
    }
  }
}

}  // namespace epsflow::gpu
