// Hands pairs of cells from threads to blocks.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/dense_box_members.cuh>

namespace epsflow::gpu {

/// Lists a pair of huge cells that a few tries have not decided.
__device__ inline void list_huge(const PairQueue& queue, std::uint32_t a, std::uint32_t c) {
  queue.huge[atomicAdd(&queue.tally->huge_pairs, 1U)] = {a, c};
}

/// Queues a pair for blocks and returns true. If the queue is full, lists a pair of huge cells in PairQueue::huge and
/// returns true; for other pairs returns false, and the caller must decide them.
__device__ inline bool leave_to_blocks(const PairQueue& queue, std::uint32_t cell_a, const Members& a,
                                       std::uint32_t cell_c, const Members& c) {
  const bool larger_first = a.size() >= c.size();
  const std::uint32_t larger = larger_first ? cell_a : cell_c;
  const std::uint32_t smaller = larger_first ? cell_c : cell_a;
  const bool huge = min(a.size(), c.size()) >= tuning::kHugeCell;
  const std::uint32_t parts = huge ? 1 : (max(a.size(), c.size()) - 1) / tuning::kPairPart + 1;
  // The test before the addition keeps the count from overflowing.
  const volatile std::uint32_t* const queued = &queue.tally->queued;
  const std::uint32_t at = *queued < queue.capacity ? atomicAdd(&queue.tally->queued, parts) : queue.capacity;
  const bool fits = at < queue.capacity && queue.capacity - at >= parts;
  for (std::uint32_t k = 0; k < parts && at + k < queue.capacity; ++k) {
    queue.pairs[at + k] = fits ? QueuedPair{larger, smaller, k} : QueuedPair{larger, larger, 0};  // or no work
  }
  if (!fits && huge) {
    list_huge(queue, cell_a, cell_c);
    return true;
  }
  return fits;
}

}  // namespace epsflow::gpu
