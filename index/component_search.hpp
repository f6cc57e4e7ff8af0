// The search step of a minimum spanning tree by Borůvka: from components of points to their nearest other components.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/index/leaf_order.hpp>

namespace epsflow::index {

/// Two points and the height of their pair.
struct HeightPair {
  double height;       ///< see ComponentSearch; squared for the Euclidean norm
  std::uint32_t from;  ///< position
  std::uint32_t to;    ///< position
};

/// The lowest pair of each component so far, for many threads.
class LowestPairs {
 public:
  /// Starts with infinite heights, which are not pairs. best: [components], owned by the caller.
  explicit LowestPairs(std::span<HeightPair> best) : best_(best) {
    for (HeightPair& pair : best_) pair = {std::numeric_limits<double>::infinity(), 0, 0};
  }

  /// Returns the height of a component's lowest pair. While other threads offer pairs, it may be an older height, which
  /// is not lower.
  [[nodiscard]] double height(std::uint32_t component) const noexcept {
    return std::atomic_ref<double>(best_[component].height).load(std::memory_order_relaxed);
  }
  /// Replaces the pair of the component if this one is lower. Thread-safe.
  void offer(std::uint32_t component, const HeightPair& pair) {
    if (!(pair.height < height(component))) return;
    const std::scoped_lock lock(mutexes_[component % mutexes_.size()]);
    HeightPair& best = best_[component];
    if (!(pair.height < best.height)) return;
    std::atomic_ref<double>(best.height).store(pair.height, std::memory_order_relaxed);
    best.from = pair.from;
    best.to = pair.to;
  }

 private:
  std::span<HeightPair> best_;
  std::array<std::mutex, 256> mutexes_;
};

/// Finds the lowest pairs between components. The height of a pair of points is the largest of their sum, which is the
/// left-hand side of the rule in core/space.hpp, and of the core sums of both. The core sum of a point is the least
/// limit of the rule for which the point is core. Sums are compared as they are computed, so heights are exact.
///
/// Source: Borůvka's algorithm over a tree of boxes, as in March, Ram & Gray (KDD 2010) and in ArborX (Prokopenko et
/// al., ICPP 2022). Three things differ. Pairs of near points are known beforehand, and only points whose component may
/// have a lower pair search. The largest component does not search: all others find a pair, so their number still falls
/// by half each time. And each leaf keeps a lower bound of its heights from one search to the next, which holds because
/// components only grow.
class ComponentSearch {
 public:
  /// core: [n] the core sum of each position, finite. reach: [n] for each position, all pairs of a smaller sum are
  /// known to the caller. All must outlive the object. O(n).
  ComponentSearch(const LeafOrder& leaves, const Space& space, std::span<const double> core,
                  std::span<const double> reach);

  /// Finds for each component, except `largest`, a pair of least height with a point of another component; the point of
  /// the component may be the pair's `from` or its `to`. components: [n] the component of each position, from 0 to
  /// count − 1; since the last call components may have been united, but never split. best: of all components. It holds
  /// the pairs that the caller has found, and receives lower ones. The entry of `largest` may become a pair that is not
  /// its lowest. In parallel, on the threads of the calling arena. Throws Cancelled.
  void search(std::span<const std::uint32_t> components, std::uint32_t largest, LowestPairs& best,
              const CancelToken& cancel);

 private:
  static constexpr std::uint32_t kMixed = ~0U;

  void find_components_of_boxes(std::span<const std::uint32_t> components);

  const LeafOrder& leaves_;
  const Space& space_;
  std::span<const double> core_;
  std::span<const double> reach_;
  std::vector<std::vector<double>> least_reach_;       ///< of the points of each box, by level
  std::vector<std::vector<std::uint32_t>> component_;  ///< of all points of each box, or kMixed, by level
  std::vector<double> lower_;                          ///< [leaves] no unknown pair of two components is lower
};

}  // namespace epsflow::index
