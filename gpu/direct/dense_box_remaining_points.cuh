// Hands points with too many candidates from threads to blocks.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>

namespace epsflow::gpu {

inline constexpr std::uint32_t kNoLimit = 0xFFFFFFFFU;

/// Calls search(limit), which may test `limit` candidates and returns true if these were enough; then returns true. If
/// they were not, leaves the point to a block and returns false; if the list is full, searches again without a limit.
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
