// Lock-free union-find over points, cells or clusters, which are 32-bit indices into an array of parents.
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
//    continues from the parent that the exchange has read. So no link is lost.
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

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/host_device.hpp>

namespace epsflow::clustering {

/// Sets of points, cells or clusters, in the memory of the host or of a GPU. Entries: the array of parents that threads
/// share. `get(x)` returns a parent and `set(x, parent)` stores one. `replace(x, parent)` stores a parent and
/// returns x if x is a root, and returns the parent of x otherwise.
template <class Entries>
class SharedUnionFind {
 public:
  EPSFLOW_HOST_DEVICE explicit SharedUnionFind(Entries parents) noexcept : parents_(parents) {}

  /// Returns the current parent of x: x itself if it is a root, or kNotCore.
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t parent(std::uint32_t x) const noexcept { return parents_.get(x); }

  /// Returns the root of x, which must be core. Halves the path on the way.
  EPSFLOW_HOST_DEVICE std::uint32_t find(std::uint32_t x) const noexcept {
    std::uint32_t p = parent(x);
    while (true) {
      const std::uint32_t g = parent(p);
      if (p == g) return p;
      parents_.set(x, g);
      x = p;
      p = g;
    }
  }

  struct Joined {
    std::uint32_t root;   ///< of both, or only an ancestor of both if another thread has linked it meanwhile
    std::uint32_t ended;  ///< the former root that now has `root` as its parent; kNotCore if both were in one set
  };
  /// Joins the sets of a and b, which must be core.
  EPSFLOW_HOST_DEVICE Joined join(std::uint32_t a, std::uint32_t b) const noexcept {
    a = find(a);
    b = find(b);
    while (a != b) {
      const std::uint32_t larger = a < b ? b : a;
      b = a < b ? a : b;
      const std::uint32_t seen = parents_.replace(larger, b);
      if (seen == larger) return {b, larger};
      a = find(seen);
    }
    return {a, kNotCore};
  }
  /// Joins the sets of a and b, which must be core. Returns Joined::root.
  EPSFLOW_HOST_DEVICE std::uint32_t unite(std::uint32_t a, std::uint32_t b) const noexcept { return join(a, b).root; }

  /// Sets the parent of x, which must be core, to its root, and returns it. Several threads may call this at once, each
  /// for another x; no find(), unite() or join() may run at the same time. They may be called again afterwards.
  EPSFLOW_HOST_DEVICE std::uint32_t flatten(std::uint32_t x) const noexcept {
    std::uint32_t root = parent(x);
    for (std::uint32_t p = parent(root); p != root; p = parent(root)) root = p;
    parents_.set(x, root);
    return root;
  }

 private:
  Entries parents_;
};

/// Entries in the memory of the host.
class HostParents {
 public:
  explicit HostParents(std::span<std::uint32_t> parent) noexcept : parent_(parent) {}

  [[nodiscard]] std::uint32_t get(std::uint32_t x) const noexcept { return at(x).load(std::memory_order_relaxed); }
  void set(std::uint32_t x, std::uint32_t value) const noexcept { at(x).store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t replace(std::uint32_t x, std::uint32_t value) const noexcept {
    std::uint32_t expected = x;
    at(x).compare_exchange_strong(expected, value, std::memory_order_relaxed);
    return expected;
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint32_t> at(std::uint32_t x) const noexcept {
    return std::atomic_ref<std::uint32_t>(parent_[x]);
  }

  std::span<std::uint32_t> parent_;
};

class UnionFind : public SharedUnionFind<HostParents> {
 public:
  /// parent: [n], owned by the caller, which must first set each entry to its own index, or to kNotCore. The caller may
  /// replace kNotCore by the index later. Must outlive this object.
  explicit UnionFind(std::span<std::uint32_t> parent) noexcept : SharedUnionFind(HostParents(parent)) {}
};

}  // namespace epsflow::clustering
