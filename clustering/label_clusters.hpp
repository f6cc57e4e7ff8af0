// From sets of core points to labels: numbering, border points, counts.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// Labels of one variant from its union-find.
///
/// parent: [n] by position, kNotCore for points that are not core, with Buffer::kPadding bytes readable behind it;
/// flattened on return. order: [n] input id of each position. number: [n] scratch. labels: [n] in input order, written
/// in full. Clusters are numbered by their smallest core point id; a border point takes the lowest number among its
/// core neighbours' clusters. O(n + entries of the rows that are not core), in parallel. Throws Cancelled, and
/// ResourceError for more than 2^31 - 1 clusters.
[[nodiscard]] LabelSummary label_clusters(const NeighborTable& table, std::span<const std::uint32_t> order,
                                          std::span<std::uint32_t> parent, std::span<std::uint32_t> number,
                                          std::span<std::int32_t> labels, const CancelToken& cancel);

}  // namespace epsflow::clustering
