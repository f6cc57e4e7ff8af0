// Lock-free union-find over positions, for core points only.
//
// After the wait-free disjoint sets of Anderson & Woll (1991) in the form of ECL-CC (Jaiganesh & Burtscher, HPDC 2018):
// links go from the larger root to the smaller, finds halve their path. What differs: points that are not core carry a
// mark in the same array, so that one load tells "not core", "same cluster" and "look closer" apart.
//
// Why the races are safe, with relaxed order throughout:
//  - parent[x] <= x always: a link stores a smaller root, halving stores an ancestor. So there are no cycles, and every
//    find ends.
//  - Only a root is ever linked, by compare-exchange against itself; of two threads that link the same root one fails
//    and looks for the new root. So no link is lost.
//  - Halving writes to x only when x is no root any more, so it never undoes a link. What it writes is an ancestor,
//    perhaps one that another thread has already passed by. Trees never split: any value that parent[x] has ever held
//    is in x's set, and a stale one only makes a path longer.
//  - That is why flatten() must not halve: a late store of halving could put a stale ancestor in place of a root that
//    another thread has just written as final. While only flatten() runs, x is stored to by its own call alone.
//  - No other data hang on these stores; parallel loops join before anybody reads the result as final.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include <epsflow/clustering/cluster_source.hpp>

namespace epsflow::clustering {

class UnionFind {
 public:
  /// Sets live in `parent`, [n], owned by the caller, each entry the point itself or kNotCore to begin with.
  explicit UnionFind(std::span<std::uint32_t> parent) noexcept : parent_(parent) {}

  /// The parent of x as it is now, or kNotCore.
  [[nodiscard]] std::uint32_t parent(std::uint32_t x) const noexcept { return at(x).load(std::memory_order_relaxed); }

  /// Root of x, which must be core. Halves the path on its way.
  std::uint32_t find(std::uint32_t x) const noexcept {
    std::uint32_t p = parent(x);
    while (true) {
      const std::uint32_t g = parent(p);
      if (p == g) return p;
      at(x).store(g, std::memory_order_relaxed);
      x = p;
      p = g;
    }
  }

  /// Joins the sets of two core points; returns the root of both as it was at that moment.
  std::uint32_t unite(std::uint32_t a, std::uint32_t b) const noexcept {
    while (true) {
      a = find(a);
      b = find(b);
      if (a == b) return a;
      if (a < b) std::swap(a, b);
      std::uint32_t expected = a;
      if (at(a).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return b;
    }
  }

  /// Points x, which must be core, at its root, for good. To be called once for each x, by any number of threads, when
  /// no thread calls find() or unite() any more.
  void flatten(std::uint32_t x) const noexcept {
    std::uint32_t root = parent(x);
    for (std::uint32_t p = parent(root); p != root; p = parent(root)) root = p;
    at(x).store(root, std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint32_t> at(std::uint32_t x) const noexcept {
    return std::atomic_ref<std::uint32_t>(parent_[x]);
  }

  std::span<std::uint32_t> parent_;
};

}  // namespace epsflow::clustering
