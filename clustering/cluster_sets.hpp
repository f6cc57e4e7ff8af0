// The clusters of a clustering as objects, updated by the changes of each level.
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

/// Sets of core nodes, from the largest minpts down. A level costs O(changes + clusters).
class ClusterSets {
 public:
  /// core_since: fill Clusters::core_since. least: minpts of the last level. The source must outlive it. Throws
  /// Cancelled.
  ClusterSets(const ClusterSource& source, std::uint32_t least, bool core_since, const CancelToken& cancel);

  /// Upper bound on the memory, in bytes.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t nodes, std::uint64_t points, bool core_since) noexcept {
    return nodes * (sizeof(std::uint32_t) + 3 * sizeof(Set)) +
           points * (LevelGains::bytes_per_point() + (core_since ? sizeof(std::uint32_t) : 0));
  }

  void begin(std::uint32_t minpts) { gains_.next(minpts); }
  /// Returns the points of a block that the level makes core.
  [[nodiscard]] std::span<const NodePoint> gained(std::size_t block) const noexcept { return gains_.of(block); }

  /// Adds the level after its nodes are united. parent: [nodes] the union-find. O(points that become core + clusters of
  /// this level and of the one before). Throws Cancelled, and ResourceError if labels cannot number the clusters.
  void add(std::span<std::uint32_t> parent, const CancelToken& cancel);

  /// Returns the number of clusters of the last level.
  [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(sets_.size()); }
  [[nodiscard]] std::vector<std::uint32_t> first_cores() const;
  [[nodiscard]] std::vector<std::uint32_t> core_counts() const;
  [[nodiscard]] std::uint64_t core() const noexcept { return core_; }
  /// Returns for each root the number of its cluster. [nodes]
  [[nodiscard]] const std::uint32_t* numbers() const noexcept { return numbers_.data(); }
  [[nodiscard]] std::uint32_t number(std::uint32_t root) const noexcept { return numbers_[root]; }
  /// Returns the clusters without sizes, and moves Clusters::joined out.
  [[nodiscard]] Clusters take_clusters();
  [[nodiscard]] Labels take_core_since() { return std::move(core_since_); }

 private:
  struct Set {
    std::uint32_t root;
    std::uint32_t first;  ///< smallest id of a core point
    std::uint32_t core;   ///< core points
  };

  [[nodiscard]] std::vector<std::vector<Set>> gains(std::span<std::uint32_t> parent, const CancelToken& cancel) const;
  void merge(const std::vector<std::vector<Set>>& gains, std::span<std::uint32_t> parent);
  void record_core_since(std::span<std::uint32_t> parent, const CancelToken& cancel);

  const ClusterSource& source_;
  LevelGains gains_;
  std::vector<Set> sets_;              ///< by their first core points
  Buffer<std::uint32_t> numbers_;      ///< [nodes] for each root the number of its cluster
  std::vector<std::uint32_t> joined_;  ///< [clusters of the level before]
  Labels core_since_;                  ///< [n] or empty
  std::uint64_t core_ = 0;
  std::uint64_t all_before_ = 0;  ///< clusters of all levels before the last
};

}  // namespace epsflow::clustering
