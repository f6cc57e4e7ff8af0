// Common functions of the kernels of direct clustering: threads, bits of core points, sums by block.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

/// Returns the number of blocks of kDirectThreads threads for `items` items.
inline std::uint32_t direct_blocks(std::uint64_t items) {
  return static_cast<std::uint32_t>((items + tuning::kDirectThreads - 1) / tuning::kDirectThreads);
}
/// Returns the number of this thread. 64-bit, because the last block may exceed 2^32 if there are nearly as many
/// points.
__device__ inline std::uint64_t direct_thread() {
  return std::uint64_t{blockIdx.x} * tuning::kDirectThreads + threadIdx.x;
}

__device__ inline bool bit_of(const std::uint32_t* bits, std::uint32_t i) {
  return ((__ldg(bits + i / 32) >> (i % 32)) & 1U) != 0;
}

/// Returns word `w` of a bitmap without the bits outside [begin, end).
__device__ inline std::uint32_t word_within(const std::uint32_t* bits, std::uint32_t w, std::uint32_t begin,
                                            std::uint32_t end) {
  std::uint32_t word = __ldg(bits + w);
  if (w == begin / 32) word &= tuning::kWholeWarp << (begin % 32);
  if (w == end / 32) word &= ~(tuning::kWholeWarp << (end % 32));
  return word;
}

struct CoreOfNode {
  std::uint32_t first = 0;  ///< first core position, if count > 0
  std::uint32_t count = 0;
  std::uint32_t size = 0;  ///< number of points of the node
};

/// Counts all core points of a node.
__device__ inline CoreOfNode core_of(const Nodes& nodes, std::uint32_t node) {
  if (nodes.starts == nullptr) return {node, bit_of(nodes.core, node) ? 1U : 0U, 1};
  const std::uint32_t begin = __ldg(nodes.starts + node);
  const std::uint32_t end = __ldg(nodes.starts + node + 1);
  if (end - begin >= nodes.minpts) return {begin, end - begin, end - begin};
  CoreOfNode core{0, 0, end - begin};
  for (std::uint32_t w = begin / 32; w <= (end - 1) / 32; ++w) {
    const std::uint32_t word = word_within(nodes.core, w, begin, end);
    if (word != 0 && core.count == 0)
      core.first = w * 32 + static_cast<std::uint32_t>(__ffs(static_cast<int>(word))) - 1;
    core.count += static_cast<std::uint32_t>(__popc(word));
  }
  return core;
}

/// Adds `amount` to sums[slot] for every thread with takes_part. If one cluster is large, most threads of a block share
/// a slot, which takes one atomic for each block. All threads of the block must call it.
__device__ inline void add_by_block(std::uint32_t* sums, bool takes_part, std::uint32_t slot, std::uint32_t amount) {
  __shared__ std::uint32_t shared_slot;
  __shared__ std::uint32_t shared_sum;
  if (threadIdx.x == 0) {
    shared_slot = kNotCore;
    shared_sum = 0;
  }
  if (__syncthreads_or(takes_part ? 1 : 0) == 0) return;
  const unsigned takers = __ballot_sync(tuning::kWholeWarp, takes_part);
  const unsigned lane = threadIdx.x % 32;
  if (takers != 0 && lane == static_cast<unsigned>(__ffs(static_cast<int>(takers))) - 1) atomicMin(&shared_slot, slot);
  __syncthreads();
  const bool shares = takes_part && slot == shared_slot;
  const unsigned sharers = __ballot_sync(tuning::kWholeWarp, shares);
  if (sharers != 0) {
    const std::uint32_t sum = __reduce_add_sync(tuning::kWholeWarp, shares ? amount : 0U);
    if (lane == 0) atomicAdd(&shared_sum, sum);
  }
  // If one cluster ends within a block and the next begins, half of the threads would otherwise queue for one number.
  const bool left = takes_part && !shares;
  const unsigned others = __ballot_sync(tuning::kWholeWarp, left);
  if (others != 0) {
    const unsigned first = static_cast<unsigned>(__ffs(static_cast<int>(others))) - 1;
    const std::uint32_t next = __shfl_sync(tuning::kWholeWarp, slot, static_cast<int>(first));
    const bool shares_next = left && slot == next;
    const std::uint32_t sum = __reduce_add_sync(tuning::kWholeWarp, shares_next ? amount : 0U);
    if (lane == first) atomicAdd(sums + next, sum);
    if (left && !shares_next) atomicAdd(sums + slot, amount);
  }
  __syncthreads();
  if (threadIdx.x == 0 && shared_sum > 0) atomicAdd(sums + shared_slot, shared_sum);
}

/// Adds the noise and border points of a block to the tally. All threads of the block must call it.
__device__ inline void tally_points(Tally* tally, bool noise, bool border) {
  const int noises = __syncthreads_count(noise ? 1 : 0);
  const int borders = __syncthreads_count(border ? 1 : 0);
  if (threadIdx.x != 0) return;
  const unsigned slot = blockIdx.x % tuning::kTallies;
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  const auto add = [](std::uint64_t* to, int count) {
    if (count > 0) atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(count));
  };
  add(&tally->noise[slot], noises);
  add(&tally->border[slot], borders);
}

}  // namespace epsflow::gpu
