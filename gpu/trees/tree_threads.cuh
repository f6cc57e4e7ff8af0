// Threads of the kernels of trees, one for each item.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {

inline std::uint32_t tree_blocks(std::uint64_t items) {
  return static_cast<std::uint32_t>((items + tuning::kTreeThreads - 1) / tuning::kTreeThreads);
}
/// 64-bit, because arrays of two elements for each point may have more than 2^32 threads.
__device__ inline std::uint64_t tree_thread() { return std::uint64_t{blockIdx.x} * tuning::kTreeThreads + threadIdx.x; }

/// Moves the entry of x, which is its parent, towards the root. A thread stores only its own entry, which others
/// follow. Returns true if it has reached the root. Repeated for all entries it takes O(log n) turns, even along a
/// chain of all: a thread that went to the end of the chain at once would take as many steps as there are entries.
__device__ inline bool move_to_root(volatile std::uint32_t* parents, std::uint32_t x) {
  std::uint32_t at = parents[x];
  for (unsigned step = 0; step < tuning::kRootSteps; ++step) {
    const std::uint32_t next = parents[at];
    if (next == at) return true;
    at = next;
    parents[x] = at;
  }
  return parents[at] == at;
}

}  // namespace epsflow::gpu
