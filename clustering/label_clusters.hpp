// From sets of core points to labels: numbering of clusters, border points, counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::clustering {

/// Numbers the clusters of one level of a union-find by their smallest core point id.
///
/// parent: [nodes], kNotCore for nodes that are not core; roots on return (UnionFind::flatten()). cluster_of: [nodes]
/// set to the cluster of each node, kNoCluster if it is not core. Returns the number of clusters. O(nodes + n/64), in
/// parallel. Throws Cancelled, and ResourceError if there are more than 2^31 - 1 clusters.
[[nodiscard]] std::uint32_t number_clusters(const ClusterSource& source, std::span<std::uint32_t> parent,
                                            std::span<std::uint32_t> cluster_of, const CancelToken& cancel);

/// Returns the smallest core point id of each cluster of a level, ascending. cluster_of: as set by number_clusters().
/// O(nodes), in parallel. Throws Cancelled.
[[nodiscard]] std::vector<std::uint32_t> find_first_cores(const ClusterSource& source,
                                                          std::span<const std::uint32_t> cluster_of,
                                                          std::uint32_t clusters, const CancelToken& cancel);

/// One level for label_clusters().
struct LevelLabels {
  std::uint32_t clusters = 0;             ///< set by the caller: number_clusters()
  std::span<std::int32_t> labels;         ///< [n] written in full, in input order; if empty, points are only counted
  LabelSummary summary = {};              ///< written
  std::vector<std::uint32_t> sizes = {};  ///< written: [clusters] points of each
};

/// Makes the labels of some levels, at most ClusterSource::levels_at_once(). labels: [levels] either all or none have
/// memory for labels. Border points get the lowest number among the clusters of their core neighbours. O(n) and the
/// source's time for points that are not core, in parallel. Labels of several levels take 4·n·levels bytes of scratch
/// memory. Throws Cancelled, ResourceError.
void label_clusters(const ClusterSource& source, const NumberedLevels& levels, std::span<LevelLabels> labels,
                    const CancelToken& cancel);

/// Returns the counts of existing labels. core: [n] 1 for core points, 0 for others. clusters: the number of clusters,
/// which are numbered from 0. O(n).
[[nodiscard]] LabelSummary summarise(const Labels& labels, std::span<const std::uint8_t> core, std::uint64_t clusters);

}  // namespace epsflow::clustering
