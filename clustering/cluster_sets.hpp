// Keeps the clusters of one eps from level to level, and updates them by the points that become core.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/level_gains.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::clustering {

/// The clusters of the current level. Levels, one minpts each, go from the largest minpts down. For each level the
/// caller calls begin(). It passes its array of parents, and gained(), to ClusterSource::mark_core(), then the array to
/// ClusterSource::unite(), ClusterSource::join_ghosts() and at last add(). The other functions then describe this
/// level: its clusters are numbered by their smallest core point id. A ghost is in the cluster of its origin and is not
/// counted. A level costs O(changes + clusters).
class ClusterSets {
 public:
  /// least: the smallest minpts. core_since: whether to record Clusters::core_since. The source must outlive this
  /// object. O(n log b) for blocks of b points. Throws Cancelled.
  ClusterSets(const ClusterSource& source, std::uint32_t least, bool core_since, const CancelToken& cancel);

  /// Returns an upper bound on the memory in bytes. add() holds three copies of the sets of the new level, at most one
  /// set for each node. It also holds the sets of the level before, and sets of the points that become core. Both
  /// together are at most as many as the points, because no two of them have a core point in common.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t nodes, std::uint64_t points, bool core_since) noexcept {
    return nodes * (3 * sizeof(std::uint32_t) + 3 * sizeof(Set)) +
           points * (sizeof(Set) + LevelGains::bytes_per_point() + (core_since ? sizeof(std::uint32_t) : 0));
  }

  /// Begins a level. minpts: less than at the level before.
  void begin(std::uint32_t minpts) { gains_.next(minpts); }
  /// Returns the points of a block of the source that become core at this level.
  [[nodiscard]] std::span<const NodePoint> gained(std::size_t block) const noexcept { return gains_.of(block); }

  /// Adds the level, after its nodes are united. parent: [nodes] the union-find, whose paths are shortened. O(points
  /// that become core + clusters of this level and of the one before). Throws Cancelled, and ResourceError if there are
  /// more than 2^31 − 1 clusters, at this level or, with core_since, at all levels so far together.
  void add(std::span<std::uint32_t> parent, const CancelToken& cancel);

  /// Returns the number of clusters.
  [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(sets_.size()); }
  /// Returns the smallest core point id of each cluster. [count()] ascending
  [[nodiscard]] std::vector<std::uint32_t> first_cores() const;
  /// Returns the number of core points of each cluster, without ghosts. [count()]
  [[nodiscard]] std::vector<std::uint32_t> core_counts() const;
  /// Returns the number of all core points, without ghosts.
  [[nodiscard]] std::uint64_t core() const noexcept { return core_; }
  /// Returns for each node that is the root of a cluster its number, and kNoCluster for other nodes. [nodes]
  [[nodiscard]] const std::uint32_t* numbers() const noexcept { return numbers_.data(); }
  /// Returns the entry of numbers() for one root.
  [[nodiscard]] std::uint32_t number(std::uint32_t root) const noexcept { return numbers_[root]; }
  /// Returns first_core, core and joined (the cluster that holds each cluster of the level before). `joined` is empty
  /// at the first level. Call it at most once for each level.
  [[nodiscard]] Clusters take_clusters();
  /// Returns Clusters::core_since, after the last level; empty if it was not requested. Call it at most once.
  [[nodiscard]] Labels take_core_since() { return std::move(core_since_); }

 private:
  struct Set {
    std::uint32_t root;
    std::uint32_t first;  ///< smallest id of a core point
    std::uint32_t core;   ///< number of core points
  };

  [[nodiscard]] std::vector<std::vector<Set>> gains(std::span<std::uint32_t> parent, const CancelToken& cancel) const;
  void merge(const std::vector<std::vector<Set>>& gains, std::span<std::uint32_t> parent);
  void record_core_since(std::span<std::uint32_t> parent, const CancelToken& cancel);

  const ClusterSource& source_;
  LevelGains gains_;
  std::vector<Set> sets_;              ///< [clusters] by ascending `first`
  Buffer<std::uint32_t> numbers_;      ///< [nodes] numbers()
  std::vector<std::uint32_t> joined_;  ///< [clusters of the level before] Clusters::joined
  Labels core_since_;                  ///< [n] or empty
  std::uint64_t core_ = 0;
  std::uint64_t all_before_ = 0;  ///< number of clusters of all levels before the current one
};

}  // namespace epsflow::clustering
