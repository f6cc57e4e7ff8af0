// How threads leave points with too many candidates to blocks.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/clique_kernels.hpp>

namespace epsflow::gpu {

/// In place of a count or a number: the thread was not to test as many candidates as there are.
inline constexpr std::uint32_t kGaveUp = 0xFFFFFFFFU;
inline constexpr std::uint32_t kNoLimit = 0xFFFFFFFFU;

/// Calls search(limit) with the candidates that a thread may test. Where it gives up, the point is left to a block, or
/// searched without a limit if there is no room.
template <class Search>
__device__ std::uint32_t search_or_leave(const RemainingPoints& remaining, std::uint32_t position, Search search) {
  for (std::uint32_t limit = tuning::kThreadCandidates;; limit = kNoLimit) {
    const std::uint32_t found = search(limit);
    if (found != kGaveUp) return found;
    const std::uint32_t at = atomicAdd(&remaining.tally->remaining, 1U);
    if (at < remaining.capacity) {
      remaining.positions[at] = position;
      return kGaveUp;
    }
  }
}

}  // namespace epsflow::gpu
