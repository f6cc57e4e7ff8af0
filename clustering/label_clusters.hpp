// From sets of core points to labels: numbering, border points, counts.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::clustering {

/// Labels of one variant from its union-find.
///
/// parent: [nodes], kNotCore for nodes that are not core, with Buffer::kPadding bytes readable behind it; flattened on
/// return. number: [nodes] scratch, as readable. labels: [n] in input order, written in full. Clusters are numbered by
/// their smallest core point id; a border point takes the lowest number among its core neighbours' clusters. O(n) and what
/// the source takes for points that are not core, in parallel. Throws Cancelled, and ResourceError for more than 2^31 - 1
/// clusters.
[[nodiscard]] LabelSummary label_clusters(const ClusterSource& source, std::uint32_t minpts,
                                          std::span<std::uint32_t> parent, std::span<std::uint32_t> number,
                                          std::span<std::int32_t> labels, const CancelToken& cancel);

}  // namespace epsflow::clustering
