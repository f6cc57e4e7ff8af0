// The source of neighbours of a clustering: a table, a search on the fly, or the cells of a grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/core/ghosts.hpp>

namespace epsflow::clustering {

/// Replaces the parent of a node that is not core.
inline constexpr std::uint32_t kNotCore = 0xFFFFFFFFU;
/// Replaces the number of a cluster if there is none.
inline constexpr std::uint32_t kNoCluster = 0xFFFFFFFFU;

/// Nodes and positions that are processed together.
struct ClusterBlock {
  Range nodes;
  Range rows;  ///< positions
};

/// A point and the node that holds it.
struct NodePoint {
  std::uint32_t position;
  std::uint32_t node;
};

/// The range of counts of the points that become core at a level: at least `minpts`, and below `below`, as points with
/// larger counts were core before.
struct CoreLevel {
  std::uint32_t minpts = 1;
  std::uint64_t below = ~std::uint64_t{0};  ///< the previous minpts, or no limit for the first level

  [[nodiscard]] bool first() const noexcept { return below == ~std::uint64_t{0}; }
  [[nodiscard]] bool gained(std::uint32_t count) const noexcept { return count >= minpts && count < below; }
};

/// A point and its count, as ClusterSource::counts().
struct PointCount {
  std::uint32_t position;
  std::uint32_t count;
};

/// Levels whose clusters are numbered.
struct NumberedLevels {
  std::span<const std::uint32_t> minpts;  ///< descending
  const std::uint32_t* clusters;          ///< [nodes × levels] the cluster of a node, kNoCluster if it is not core

  [[nodiscard]] std::size_t size() const noexcept { return minpts.size(); }
};

/// The interface between the steps of DBSCAN and a source of neighbours. Union-find runs over *nodes*: points, or cells
/// in which all points are neighbours of each other. Arrays over nodes, parents and clusters, are followed by
/// Buffer::kPadding readable bytes.
///
/// For each level, which is one minpts, by descending minpts, call mark_core() for all blocks, then unite() for all
/// blocks in each pass, then join_ghosts(). Then call find_clusters() for all blocks, for at most levels_at_once()
/// levels together, or count_borders() for each level. Functions of a block may be called concurrently for different
/// blocks. A block must be an element of blocks(), not a copy.
class ClusterSource {
 public:
  ClusterSource() = default;
  ClusterSource(const ClusterSource&) = delete;
  ClusterSource& operator=(const ClusterSource&) = delete;
  virtual ~ClusterSource() = default;

  [[nodiscard]] virtual std::size_t nodes() const = 0;
  /// Input id of each position. [n]
  [[nodiscard]] virtual std::span<const std::uint32_t> order() const = 0;
  /// [nodes + 1] the first position of each node; empty if nodes are positions.
  [[nodiscard]] virtual std::span<const std::uint32_t> node_starts() const { return {}; }
  /// Returns the ghosts: points that stand for others, count as neighbours and get no label. By default there are none.
  [[nodiscard]] virtual Ghosts ghosts() const { return {static_cast<std::uint32_t>(order().size())}; }
  /// Returns the number of points that get labels.
  [[nodiscard]] std::size_t labelled() const { return ghosts().labelled; }
  /// Returns [n], by position, the count of each point: the number of its neighbours, itself included, or the sum of
  /// their weights. A source that is made for some minpts may return another number that reaches the same minpts.
  [[nodiscard]] virtual std::span<const std::uint32_t> counts() const = 0;
  /// Replaces the counts of some points, which are ghosts; sources that never have ghosts ignore the call. Call it
  /// before the first level.
  virtual void set_counts(std::span<const PointCount>) {}
  /// Returns blocks of about equal cost, in order, that cover all nodes and all positions.
  [[nodiscard]] virtual std::span<const ClusterBlock> blocks() const = 0;
  /// Returns the number of unite() passes of a level, which run one after the other.
  [[nodiscard]] virtual unsigned passes() const { return 1; }
  /// Returns the largest number of levels that find_clusters() accepts.
  [[nodiscard]] virtual std::size_t levels_at_once() const { return 1; }

  /// Sets parent[x] = x for the nodes of the block that become core at this level, and leaves others unchanged.
  virtual void mark_core(const ClusterBlock& block, const CoreLevel& level, std::uint32_t* parent) = 0;
  /// Does the same from a list of the points of the block that become core (LevelGains::of()).
  virtual void mark_core(const ClusterBlock&, std::span<const NodePoint> gained, std::uint32_t* parent) {
    for (const NodePoint& point : gained) {
      if (parent[point.node] == kNotCore) parent[point.node] = point.node;
    }
  }
  /// Unites nodes of the block with other nodes if a core point of one is a neighbour of a core point of the other, and
  /// at least one of the two points becomes core at this level. If their nodes are in two blocks, either call may unite
  /// them. pass: 0 to passes() − 1; pairs that one pass leaves out are united by a later one.
  virtual void unite(const ClusterBlock& block, const CoreLevel& level, unsigned pass, std::uint32_t* parent) = 0;
  /// Unites the node of each core ghost with the node of its origin, if that is in the index. Called once for each
  /// level, after the passes.
  virtual void join_ghosts(const CoreLevel&, std::uint32_t*) {}
  /// Returns the smallest input id of a core point of a core node.
  [[nodiscard]] virtual std::uint32_t smallest_id(std::uint32_t node) const = 0;
  /// Sets clusters[i × levels + l] to the cluster of position block.rows.begin + i at level l, kNoCluster for noise.
  /// Core points get the cluster of their node, others the lowest among their core neighbours. Sets core[l] to the
  /// number of core points of the block that get labels.
  virtual void find_clusters(const ClusterBlock& block, const NumberedLevels& levels, std::uint32_t* clusters,
                             std::uint32_t* core) const = 0;
  /// Returns true if the source supports count_borders(), which then is faster than find_clusters().
  [[nodiscard]] virtual bool counts_borders() const { return false; }
  /// Must be called once before the first count_borders(). Throws Cancelled, ResourceError.
  virtual void find_borders() {}
  /// Adds the border points of a block to the sizes of their clusters, and returns their number. Call it by descending
  /// minpts. Parameters, in order: the index of the block in blocks(); the minpts of the level; [nodes] the parents of
  /// the level; [nodes] the cluster of each root; [clusters] the sizes. Blocks may run concurrently, so sizes are
  /// increased atomically.
  [[nodiscard]] virtual std::uint32_t count_borders(std::size_t, std::uint32_t, std::uint32_t*, const std::uint32_t*,
                                                    std::uint32_t*) {
    return 0;
  }
  /// Returns the number of pairs so far that a faster test left undecided, and that were tested in float64.
  [[nodiscard]] virtual std::uint64_t undecided_pairs() const { return 0; }
};

}  // namespace epsflow::clustering
