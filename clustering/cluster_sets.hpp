// The clusters of a clustering as objects, kept up with what each level adds.
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

/// Sets of core nodes, from the largest minpts down. A level costs what it adds, and its clusters; not all nodes.
class ClusterSets {
 public:
  /// births: keep Clusters::births. least: minpts of the last level. The source must outlive it. Throws Cancelled.
  ClusterSets(const ClusterSource& source, std::uint32_t least, bool births, const CancelToken& cancel);

  /// Bytes that it takes, at most.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t nodes, std::uint64_t points, bool births) noexcept {
    return nodes * (sizeof(std::uint32_t) + 3 * sizeof(Set)) +
           points * (LevelGains::bytes_per_point() + (births ? sizeof(std::uint32_t) : 0));
  }

  /// Begins a level.
  void begin(std::uint32_t minpts) { gains_.next(minpts); }
  /// The points of a block that it makes core.
  [[nodiscard]] std::span<const NodePoint> gained(std::size_t block) const noexcept { return gains_.of(block); }

  /// Takes in the level, once its nodes are united. parent: [nodes] the union-find. O(points that become core + clusters of this level
  /// and of the one before). Throws Cancelled, and ResourceError for more clusters than labels can tell.
  void add(std::span<std::uint32_t> parent, const CancelToken& cancel);

  /// Of the last level.
  [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(sets_.size()); }
  [[nodiscard]] std::vector<std::uint32_t> first_cores() const;
  [[nodiscard]] std::vector<std::uint32_t> core_counts() const;
  [[nodiscard]] std::uint64_t core() const noexcept { return core_; }
  /// [nodes] of roots the numbers of their clusters.
  [[nodiscard]] const std::uint32_t* numbers() const noexcept { return numbers_.data(); }
  [[nodiscard]] std::uint32_t number(std::uint32_t root) const noexcept { return numbers_[root]; }
  /// Without sizes. Leaves nothing of Clusters::joined behind.
  [[nodiscard]] Clusters take_clusters();
  [[nodiscard]] Labels take_births() { return std::move(births_); }

 private:
  struct Set {
    std::uint32_t root;
    std::uint32_t first;  ///< smallest id of a core point
    std::uint32_t core;   ///< core points
  };

  [[nodiscard]] std::vector<std::vector<Set>> gains(std::span<std::uint32_t> parent, const CancelToken& cancel) const;
  void merge(const std::vector<std::vector<Set>>& gains, std::span<std::uint32_t> parent);
  void record_births(std::span<std::uint32_t> parent, const CancelToken& cancel);

  const ClusterSource& source_;
  LevelGains gains_;
  std::vector<Set> sets_;              ///< by their first core points
  Buffer<std::uint32_t> numbers_;      ///< [nodes] of roots the numbers of their clusters
  std::vector<std::uint32_t> joined_;  ///< [clusters of the level before]
  Labels births_;                      ///< [n] or none
  std::uint64_t core_ = 0;
  std::uint64_t all_before_ = 0;  ///< clusters of all levels before the last
};

}  // namespace epsflow::clustering
