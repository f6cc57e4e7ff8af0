// Where a clustering gets its neighbours from: a table, a search as it goes, or the cells of a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/core/ghosts.hpp>

namespace epsflow::clustering {

/// In place of a parent: the node is not core.
inline constexpr std::uint32_t kNotCore = 0xFFFFFFFFU;
/// In place of a cluster's number: none.
inline constexpr std::uint32_t kNoCluster = 0xFFFFFFFFU;

/// Nodes and points that are looked at together.
struct ClusterBlock {
  Range nodes;
  Range rows;  ///< positions
};

/// A point and the node that it belongs to.
struct NodePoint {
  std::uint32_t position;
  std::uint32_t node;
};

/// Which nodes have become core: those with points whose count is at least `minpts`, and below `below` where they were core
/// before.
struct CoreLevel {
  std::uint32_t minpts = 1;
  std::uint64_t below = ~std::uint64_t{0};  ///< the minpts before, or no limit for the first

  [[nodiscard]] bool first() const noexcept { return below == ~std::uint64_t{0}; }
  [[nodiscard]] bool gained(std::uint32_t count) const noexcept { return count >= minpts && count < below; }
};

/// A point and what stands in for the number of its neighbours.
struct PointCount {
  std::uint32_t position;
  std::uint32_t count;
};

/// The clusters of some levels.
struct NumberedLevels {
  std::span<const std::uint32_t> minpts;  ///< descending
  const std::uint32_t* clusters;          ///< [nodes × levels] the cluster of a node, kNoCluster where it is not core

  [[nodiscard]] std::size_t size() const noexcept { return minpts.size(); }
};

/// What the steps of DBSCAN ask for. Union-find runs over *nodes*: points, or cells of points that are neighbours of each
/// other anyway. Arrays over nodes, parents and clusters, have Buffer::kPadding bytes readable behind them. All
/// functions are safe to call for different blocks from several threads at once.
class ClusterSource {
 public:
  ClusterSource() = default;
  ClusterSource(const ClusterSource&) = delete;
  ClusterSource& operator=(const ClusterSource&) = delete;
  virtual ~ClusterSource() = default;

  [[nodiscard]] virtual std::size_t nodes() const = 0;
  /// Input id of each position. [n]
  [[nodiscard]] virtual std::span<const std::uint32_t> order() const = 0;
  /// [nodes + 1] the first position of each node; empty where nodes are positions.
  [[nodiscard]] virtual std::span<const std::uint32_t> node_starts() const { return {}; }
  [[nodiscard]] virtual Ghosts ghosts() const { return {static_cast<std::uint32_t>(order().size())}; }
  /// Points that get labels.
  [[nodiscard]] std::size_t labelled() const { return ghosts().labelled; }
  /// A number for each point that is on the same side of every minpts that the source is for as the number of its neighbours, or
  /// the sum of their weights, the point itself included. [n]
  [[nodiscard]] virtual std::span<const std::uint32_t> counts() const = 0;
  /// Replaces counts of ghosts, before the first level.
  virtual void set_counts(std::span<const PointCount>) {}
  /// Blocks of about equal cost, in order, that cover all nodes and all positions.
  [[nodiscard]] virtual std::span<const ClusterBlock> blocks() const = 0;
  /// Passes of unite() that a level takes, one after the other.
  [[nodiscard]] virtual unsigned passes() const { return 1; }
  /// Levels that find_clusters() takes at most.
  [[nodiscard]] virtual std::size_t levels_at_once() const { return 1; }

  /// parent[x] = x for the nodes of the block that become core at this level; others are left as they are.
  virtual void mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) = 0;
  /// The same where the points that become core are known, [gained].
  virtual void mark_core(const ClusterBlock&, std::span<const NodePoint> gained, std::uint32_t* parent) {
    for (const NodePoint& point : gained) {
      if (parent[point.node] == kNotCore) parent[point.node] = point.node;
    }
  }
  /// Unites the nodes of the block with nodes that have core neighbours in common, as far as that is new at this level.
  virtual void unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) = 0;
  /// Unites each ghost that is core with its origin. Called behind the passes, once.
  virtual void join_ghosts(const CoreLevel&, std::uint32_t*) {}
  /// The smallest input id of a core point of a node that is core.
  [[nodiscard]] virtual std::uint32_t smallest_id(std::uint32_t node) const = 0;
  /// clusters[i × levels + l]: the cluster of position block.rows.begin + i at level l, kNoCluster for noise. Core points have
  /// that of their node, others the lowest among their core neighbours. core[l]: how many points of the block that get labels
  /// are core.
  virtual void find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                             std::uint32_t* core) const = 0;
  /// Whether count_borders() counts in less time than find_clusters() takes.
  [[nodiscard]] virtual bool counts_borders() const { return false; }
  /// To be called once before the first count_borders(). Throws Cancelled, ResourceError.
  virtual void find_borders() {}
  /// Adds the border points of the block to the sizes of their clusters, which several blocks may do at once, and returns how many
  /// they are. parent: [nodes] the sets of the level. numbers: [nodes] of each root the number of its cluster.
  [[nodiscard]] virtual std::uint32_t count_borders(std::size_t, std::uint32_t, std::uint32_t*, const std::uint32_t*,
                                                    std::uint32_t*) {
    return 0;
  }
  /// Pairs of points that a faster test has left to float64 so far.
  [[nodiscard]] virtual std::uint64_t open_pairs() const { return 0; }
};

}  // namespace epsflow::clustering
