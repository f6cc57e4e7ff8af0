// Lock-free union-find in device memory: clustering/union_find.hpp, which states why its races are safe, for kernels.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

/// Sets of nodes: cells, or points. An entry is the parent, or kNotCore.
///
/// Every read is volatile, so it comes from the L2 cache that all multiprocessors share. Progress does not hang on it: a
/// link that fails goes on from what the exchange has seen, never from a value that may be old.
class DisjointSets {
 public:
  __device__ explicit DisjointSets(std::uint32_t* parents) : parents_(parents) {}

  __device__ std::uint32_t parent(std::uint32_t x) const { return parents_[x]; }

  /// Root of x, which must be core. Halves the path on its way.
  __device__ std::uint32_t find(std::uint32_t x) const {
    std::uint32_t p = parents_[x];
    while (true) {
      const std::uint32_t g = parents_[p];
      if (p == g) return p;
      parents_[x] = g;
      x = p;
      p = g;
    }
  }

  /// Joins the sets of two core nodes; returns the root of both as it was at that moment.
  __device__ std::uint32_t unite(std::uint32_t a, std::uint32_t b) const {
    a = find(a);
    b = find(b);
    while (a != b) {
      if (a < b) {
        const std::uint32_t swapped = a;
        a = b;
        b = swapped;
      }
      const std::uint32_t seen = atomicCAS(const_cast<std::uint32_t*>(parents_) + a, a, b);
      if (seen == a) return b;
      a = find(seen);
    }
    return a;
  }

  /// Root of x without halving: for when each x is stored to by its own thread alone.
  __device__ std::uint32_t root(std::uint32_t x) const {
    std::uint32_t at = parents_[x];
    for (std::uint32_t p = parents_[at]; p != at; p = parents_[at]) at = p;
    return at;
  }

  __device__ void set(std::uint32_t x, std::uint32_t root) const { parents_[x] = root; }

 private:
  volatile std::uint32_t* parents_;
};

/// Whether a and b are of one set by now: the same answer for all threads of the block.
__device__ inline bool in_one_set(const DisjointSets& sets, std::uint32_t a, std::uint32_t b) {
  return __syncthreads_or(threadIdx.x == 0 && sets.find(a) == sets.find(b) ? 1 : 0) != 0;
}

}  // namespace epsflow::gpu
