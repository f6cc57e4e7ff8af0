// Lock-free union-find over nodes, points or clusters, which are 32-bit indices into an array of parents.
//
// Source: the wait-free disjoint sets of Anderson & Woll (1991) in the form of ECL-CC (Jaiganesh & Burtscher, HPDC
// 2018): links go from the larger root to the smaller, and finds halve their path. Difference: an index that is not
// core has the mark kNotCore instead of a parent, so that one load distinguishes "not core", "same cluster" and "test
// further".
//
// The races are safe, with relaxed order throughout:
//  - parent[x] <= x for every x that is core: a link stores a smaller root, and halving stores an ancestor. So there
//    cannot be a cycle, and every find ends.
//  - Only a root is ever linked, by compare-exchange against itself. If two threads link the same root, one fails and
//    searches for the new root. So no link is lost.
//  - Halving sets the parent of x to the parent of its parent. It writes only if x is no longer a root, so it never
//    undoes a link. The ancestor that it writes may be out of date, because another thread has meanwhile stored one
//    that is nearer to the root. Then the path is only longer: every ancestor is in x's set, and sets never split.
//  - flatten() does not halve, because a late store of such an ancestor could replace a root that another thread has
//    just stored. Without halving, only flatten(x) writes to the parent of x.
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
  /// parent: [n], owned by the caller, which must first set each entry to its own index, or to kNotCore. The caller may
  /// replace kNotCore by the index later. Must outlive this object.
  explicit UnionFind(std::span<std::uint32_t> parent) noexcept : parent_(parent) {}

  /// Returns the current parent of x: x itself if it is a root, or kNotCore.
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

  /// Joins the sets of a and b, which must be core. Returns the root of both at that moment.
  std::uint32_t unite(std::uint32_t a, std::uint32_t b) const noexcept { return link(a, b).first; }

  /// Joins the sets of a and b, which must be core. Returns true if they were two sets that this call joined.
  bool join(std::uint32_t a, std::uint32_t b) const noexcept { return link(a, b).second; }

  /// Sets the parent of x, which must be core, to its root. Several threads may call this at once, each for another x;
  /// no find(), unite() or join() may run at the same time. They may be called again afterwards.
  void flatten(std::uint32_t x) const noexcept {
    std::uint32_t root = parent(x);
    for (std::uint32_t p = parent(root); p != root; p = parent(root)) root = p;
    at(x).store(root, std::memory_order_relaxed);
  }

 private:
  /// Joins the sets of a and b. Returns the root of both at that moment, and whether this call joined them.
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
