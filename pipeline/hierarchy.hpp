// The hierarchy of all clusters of points, for one or many minpts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>
#include <epsflow/trees/condensed_tree.hpp>
#include <epsflow/trees/distance_trees.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow {

/// Returns a hierarchy for each minpts, in their order, from one search of nearest points. points: [n × d], not in
/// slices. minpts: from 1 to n, or to the sum of the weights, the point itself counted. Distances are compared as
/// DBSCAN compares them (core/space.hpp), so a cut at any eps has DBSCAN's core points in DBSCAN's clusters. Works on a
/// GPU if the engine has one, the space is plain, the points have no weights, minpts are up to 257, and neither its
/// memory nor extreme coordinates prevent it; otherwise on the CPU. Host memory beside the results, which counts in
/// EngineOptions::memory: about 5 · largest minpts + 170 + 9·d bytes a point. With weights a point is core if those
/// within eps, its own included, sum to minpts, as in run(), and sizes of clusters are numbers of points all the same.
/// Each thread then takes about 1 KiB more for each of the smallest weights above 0 that together reach minpts. Throws
/// UsageError for no points, another minpts, weights below 0, and slices; InputError if a distance is too large for
/// float64 to hold its square; and as run().
///
///     const auto trees = epsflow::hierarchy(points, std::array{5U, 10U});
///     const auto found = epsflow::CondensedTree(trees[0], 15).select();
[[nodiscard]] std::vector<Hierarchy> hierarchy(const PointSet& points, std::span<const std::uint32_t> minpts,
                                               const EngineOptions& engine = {}, const Observer& observer = {});

/// Makes the same trees, calls take() for each in the order of minpts, and holds one at a time. That one and the work
/// of take() count in EngineOptions::memory: 116 bytes a point. take() runs on the engine's threads, and must not use
/// the engine.
void each_hierarchy(const PointSet& points, std::span<const std::uint32_t> minpts,
                    const std::function<void(Hierarchy&&)>& take, const EngineOptions& engine = {},
                    const Observer& observer = {});

/// Returns the condensed tree of each minpts and, for each of these, of each min_cluster_size, and keeps no
/// hierarchies. Else as hierarchy(). Throws UsageError also for a size that is not from 2 to n.
[[nodiscard]] std::vector<CondensedTree> condensed_trees(const PointSet& points, std::span<const std::uint32_t> minpts,
                                                         std::span<const std::uint64_t> min_cluster_sizes,
                                                         const EngineOptions& engine = {},
                                                         const Observer& observer = {});

struct HdbscanOptions {
  SelectionOptions selection = {};
  MemorySpace labels = MemorySpace::host;  ///< device lets labels stay on a GPU that makes them (SelectedClusters)
};

/// Returns the clusters that are selected for each minpts and, for each of these, each min_cluster_size: labels and
/// probabilities without the trees. Whatever the CPU makes is in host memory. Else as condensed_trees(). Throws
/// UsageError also for a selection.epsilon that is negative or NaN.
///
///     const auto found = epsflow::hdbscan(points, std::array{10U}, std::array{std::uint64_t{25}});
[[nodiscard]] std::vector<SelectedClusters> hdbscan(const PointSet& points, std::span<const std::uint32_t> minpts,
                                                    std::span<const std::uint64_t> min_cluster_sizes,
                                                    const HdbscanOptions& options = {},
                                                    const EngineOptions& engine = {}, const Observer& observer = {});

/// The points that new points would join in a hierarchy.
struct NewNeighbors {
  std::vector<std::uint32_t> ids;  ///< [q] the point of the hierarchy that each joins; kNone if it is infinitely far
  std::vector<double> eps;         ///< [q] the eps at which it joins; infinite if it joins none

  static constexpr std::uint32_t kNone = ~0U;
};

/// Finds for each of `queries`, [host] [q × d], the point of a hierarchy with the smallest mutual reachability
/// distance. Of several it is the nearest to the query, then the first in the order of coordinates, then of ids.
/// points: the points of `tree`, which was made without weights. The core distance of a query counts the query itself
/// and `points`. Works on the CPU. O(n + q) sorts, then as hierarchy(). Throws UsageError if the numbers of points or
/// dimensions differ, and for weights; InputError for queries that Engine::load() refuses; and as hierarchy().
[[nodiscard]] NewNeighbors new_neighbors(const PointSet& points, const Hierarchy& tree, PointsView queries,
                                         const EngineOptions& engine = {}, const Observer& observer = {});

}  // namespace epsflow
