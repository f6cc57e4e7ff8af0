// The union-find of clustering/union_find.hpp in device memory.
#pragma once

#include <cstdint>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

/// Entries in the memory of a GPU.
///
/// Every read is volatile, so it comes from the L2 cache, which all multiprocessors share. Progress does not depend on
/// it: a link that fails continues from the value that the exchange has read, never from one that may be old.
class DeviceParents {
 public:
  __device__ explicit DeviceParents(std::uint32_t* parents) : parents_(parents) {}

  __device__ std::uint32_t get(std::uint32_t x) const { return parents_[x]; }
  __device__ void set(std::uint32_t x, std::uint32_t value) const { parents_[x] = value; }
  __device__ std::uint32_t replace(std::uint32_t x, std::uint32_t value) const {
    return atomicCAS(const_cast<std::uint32_t*>(parents_) + x, x, value);
  }

 private:
  volatile std::uint32_t* parents_;
};

class DisjointSets : public clustering::SharedUnionFind<DeviceParents> {
 public:
  __device__ explicit DisjointSets(std::uint32_t* parents) : SharedUnionFind(DeviceParents(parents)) {}
};

/// Returns to all threads of the block, which must all call it, whether core nodes a and b are in one set by now.
__device__ inline bool in_one_set(const DisjointSets& sets, std::uint32_t a, std::uint32_t b) {
  return __syncthreads_or(threadIdx.x == 0 && sets.find(a) == sets.find(b) ? 1 : 0) != 0;
}

}  // namespace epsflow::gpu
