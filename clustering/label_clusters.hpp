// From sets of core points to labels: numbering, border points, counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::clustering {

/// The clusters of one level from its union-find, numbered by their smallest core point id.
///
/// parent: [nodes], kNotCore for nodes that are not core; flattened on return. cluster_of: [nodes] the cluster of each node,
/// kNoCluster where it is not core. Returns the number of clusters. O(nodes) and n/64, in parallel. Throws Cancelled, and
/// ResourceError for more than 2^31 - 1 clusters.
[[nodiscard]] std::uint32_t number_clusters(const ClusterSource& source, std::span<std::uint32_t> parent,
                                            std::span<std::uint32_t> cluster_of, const CancelToken& cancel);

/// The smallest core point id of each cluster of the last level, ascending. cluster_of: as number_clusters() made it. O(nodes), in
/// parallel. Throws Cancelled.
[[nodiscard]] std::vector<std::uint32_t> find_first_cores(const ClusterSource& source,
                                                          std::span<const std::uint32_t> cluster_of,
                                                          std::uint32_t clusters, const CancelToken& cancel);

/// A level to label.
struct LevelLabels {
  std::uint32_t clusters = 0;
  std::span<std::int32_t> labels;  ///< [n] in input order, written in full; or empty: nothing is written, but counted
  LabelSummary summary = {};       ///< written
  std::vector<std::uint32_t> sizes =
      {};  ///< written: [clusters] points of each; none where border points are not told from noise
};

/// Labels of some levels, at most as many as the source takes at once. Border points take the lowest number among their core
/// neighbours' clusters. O(n) and what the source takes for points that are not core, in parallel; for more than one level
/// another n·levels numbers. Throws Cancelled.
void label_clusters(const ClusterSource& source, const NumberedLevels& levels, std::span<LevelLabels> labels,
                    const CancelToken& cancel);

/// The counts of labels that are made already. core: [n] not 0 for core points. O(n).
[[nodiscard]] LabelSummary summarise(const Labels& labels, std::span<const std::uint8_t> core, std::uint64_t clusters);

}  // namespace epsflow::clustering
