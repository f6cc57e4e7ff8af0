// The clusters of all parts put together: which are the same, and what number each gets.
//
// A core point near a face is known to the part that it is of and to those that have it as a ghost. Their clusters with it are one. These
// ties make a graph of clusters, whose components are found by all ranks together: FastSV (Zhang, Azad & Hu, SIAM PP 2020), some rounds,
// at most about the logarithm of how many clusters follow each other. Only clusters with shared points take part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/phases.hpp>
#include <epsflow/parts/exchange.hpp>
#include <epsflow/parts/part_view.hpp>

namespace epsflow::parts {

/// What the clusters of this part are among those of all.
struct MergedClusters {
  ClusterNumbers local;  ///< numbers by which this part labels: in the order of the numbers of all
  std::vector<std::uint32_t>
      global;  ///< [local.count] the number of each among all, ascending; `count` where no point is anybody's own
  std::uint64_t count = 0;           ///< clusters of all parts
  std::vector<std::uint8_t> shared;  ///< [local.count] 1 where other parts may have points of it
};

/// first_cores: [clusters] the smallest id, among those of all points, of an own core point of each cluster of this part, ascending; all bits
/// set where it has none, which come last. shared: PartVisit::Found::shared. points: of all parts. Collective.
/// O(clusters + shared points · log + points / ranks / 64). Clusters are numbered by their smallest core points. Throws ResourceError for more clusters
/// than labels can tell.
[[nodiscard]] MergedClusters merge_clusters(Exchange& exchange, std::span<const std::uint64_t> first_cores,
                                            std::span<const std::uint32_t> shared, const PartView& view,
                                            std::uint64_t points);

/// The points of the largest of all clusters. sizes: [local.count] those of this part. Collective.
[[nodiscard]] std::uint64_t largest_cluster(Exchange& exchange, const MergedClusters& merged,
                                            std::span<const std::uint32_t> sizes);

}  // namespace epsflow::parts
