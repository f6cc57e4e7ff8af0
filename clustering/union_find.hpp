// Lock-free union-find over positions, for core points only.
//
// Source: the wait-free disjoint sets of Anderson & Woll (1991) in the form of ECL-CC (Jaiganesh & Burtscher, HPDC
// 2018): links go from the larger root to the smaller, and finds halve their path. Difference: points that are not core
// have a mark in the same array, so that one load distinguishes "not core", "same cluster" and "test further".
//
// The races are safe, with relaxed order throughout:
//  - parent[x] <= x always: a link stores a smaller root, halving stores an ancestor. So there are no cycles, and every
//    find ends.
//  - Only a root is ever linked, by compare-exchange against itself. If two threads link the same root, one fails and
//    searches for the new root. So no link is lost.
//  - Halving writes to x only if x is not a root any more, so it never undoes a link. It writes an ancestor, perhaps
//    one that another thread has already passed. Trees never split: any value that parent[x] has ever had is in x's
//    set, and a stale one only makes a path longer.
//  - For the same reason flatten() must not halve: a late store could replace a root that another thread has just
//    written as final by a stale ancestor. While only flatten() runs, x is written by its own call alone.
//  - No other data depend on these stores; parallel loops join before the result is read as final.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include <epsflow/clustering/cluster_source.hpp>

namespace epsflow::clustering {

class UnionFind {
 public:
  /// The sets are in `parent`, [n], owned by the caller. Each entry is initially the point itself or kNotCore.
  explicit UnionFind(std::span<std::uint32_t> parent) noexcept : parent_(parent) {}

  /// Returns the current parent of x, or kNotCore.
  [[nodiscard]] std::uint32_t parent(std::uint32_t x) const noexcept { return at(x).load(std::memory_order_relaxed); }

  /// Returns the root of x, which must be core. Halves the path on the way.
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

  /// Joins the sets of two core points. Returns the root of both at that moment.
  std::uint32_t unite(std::uint32_t a, std::uint32_t b) const noexcept { return link(a, b).first; }

  /// Joins the sets of two core points, unless they are one set. Returns true if this call joined them.
  bool join(std::uint32_t a, std::uint32_t b) const noexcept { return link(a, b).second; }

  /// Sets the parent of x, which must be core, to its final root. Must be called once for each x, by any number of
  /// threads, after all calls of find() and unite().
  void flatten(std::uint32_t x) const noexcept {
    std::uint32_t root = parent(x);
    for (std::uint32_t p = parent(root); p != root; p = parent(root)) root = p;
    at(x).store(root, std::memory_order_relaxed);
  }

 private:
  /// Returns the root of both at that moment, and whether this call joined them.
  std::pair<std::uint32_t, bool> link(std::uint32_t a, std::uint32_t b) const noexcept {
    while (true) {
      a = find(a);
      b = find(b);
      if (a == b) return {a, false};
      if (a < b) std::swap(a, b);
      std::uint32_t expected = a;
      if (at(a).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return {b, true};
    }
  }

  [[nodiscard]] std::atomic_ref<std::uint32_t> at(std::uint32_t x) const noexcept {
    return std::atomic_ref<std::uint32_t>(parent_[x]);
  }

  std::span<std::uint32_t> parent_;
};

}  // namespace epsflow::clustering
