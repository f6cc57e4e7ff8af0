// Merges the clusters of all ranks: finds those that are the same, and numbers them.
//
// A core point near a face is in the part that owns it, and in the parts that have it as a ghost. The clusters of these
// parts that contain it are the same cluster. These ties form a graph of clusters. All ranks find its components
// together by FastSV (Zhang, Azad & Hu, SIAM PP 2020), in a few rounds: at most about the logarithm of the longest
// chain of clusters. Only clusters with shared points take part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/parts/communicator.hpp>
#include <epsflow/parts/local_merge.hpp>
#include <epsflow/parts/part_view.hpp>

namespace epsflow::parts {

/// The clusters of this part, and how many all parts have.
struct MergedClusters : NumberedSets {
  std::uint64_t count = 0;
};

/// Merges the clusters of all parts at one level. Returns the clusters of this part with their numbers among all.
///
/// first_cores: [clusters] for each cluster of this part the smallest global id of a core point that this part owns,
/// ascending. Clusters without such a point come last; their entries have all bits set. shared: [view.send_list +
/// view.inner] the cluster of each sent point and inner ghost, UnitedPart::kNoSet if it is not core. points: number of
/// points of all parts. Collective. O(clusters + s·log s + points / ranks / 64) with s shared points. Clusters are
/// numbered by their smallest core points. Throws ResourceError if there are more clusters than int32 labels can
/// number.
[[nodiscard]] MergedClusters merge_clusters(Communicator& communicator, std::span<const std::uint64_t> first_cores,
                                            std::span<const std::uint32_t> shared, const PartView& view,
                                            std::uint64_t points);

/// Returns the number of points of the largest cluster of all parts, 0 without clusters. sizes: [local.count] number of
/// points of each cluster that this part owns. Collective.
[[nodiscard]] std::uint64_t largest_cluster(Communicator& communicator, const MergedClusters& merged,
                                            std::span<const std::uint32_t> sizes);

}  // namespace epsflow::parts
