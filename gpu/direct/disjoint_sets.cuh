// Lock-free union-find in device memory, as in clustering/union_find.hpp, which proves that its races are safe.
#pragma once

#include <cstdint>

#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

/// Sets of nodes, which are cells or points. An entry is the parent, or kNotCore.
///
/// Every read is volatile, so it comes from the L2 cache, which all multiprocessors share. Progress does not depend on
/// it: a link that fails continues from the value that the exchange has read, never from one that may be old.
class DisjointSets {
 public:
  __device__ explicit DisjointSets(std::uint32_t* parents) : parents_(parents) {}

  __device__ std::uint32_t parent(std::uint32_t x) const { return parents_[x]; }

  /// Returns the root of x, which must be core. Halves the path on its way.
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

  struct Joined {
    std::uint32_t root;   ///< of both at that moment
    std::uint32_t ended;  ///< the former root that now has `root` as its parent; kNotCore if both were in one set
  };
  /// Joins the sets of two core nodes.
  __device__ Joined join(std::uint32_t a, std::uint32_t b) const {
    a = find(a);
    b = find(b);
    while (a != b) {
      if (a < b) {
        const std::uint32_t swapped = a;
        a = b;
        b = swapped;
      }
      const std::uint32_t seen = atomicCAS(const_cast<std::uint32_t*>(parents_) + a, a, b);
      if (seen == a) return {b, a};
      a = find(seen);
    }
    return {a, kNotCore};
  }
  __device__ std::uint32_t unite(std::uint32_t a, std::uint32_t b) const { return join(a, b).root; }

  /// Returns the root of x without halving, for kernels in which only the thread of x stores its entry.
  __device__ std::uint32_t root(std::uint32_t x) const {
    std::uint32_t at = parents_[x];
    for (std::uint32_t p = parents_[at]; p != at; p = parents_[at]) at = p;
    return at;
  }

  __device__ void set(std::uint32_t x, std::uint32_t root) const { parents_[x] = root; }

 private:
  volatile std::uint32_t* parents_;
};

/// Returns to all threads of the block whether a and b are in one set by now.
__device__ inline bool in_one_set(const DisjointSets& sets, std::uint32_t a, std::uint32_t b) {
  return __syncthreads_or(threadIdx.x == 0 && sets.find(a) == sets.find(b) ? 1 : 0) != 0;
}

}  // namespace epsflow::gpu
