// The lowest cluster among the neighbours of each point, for predictions on the host. The points are in the index,
// or are given by their coordinates.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::clustering {

/// Sets clusters[p] of each position p to cluster_of[p]. If that is kNoCluster, sets it to the lowest cluster_of[q]
/// over the neighbours q of p, or to kNoCluster. cluster_of, clusters: [n] by position, cluster_of followed by
/// Buffer::kPadding readable bytes. In parallel. Throws Cancelled.
void find_lowest_clusters(const index::SearchIndex& index, const index::RowSearch& rows,
                          const std::uint32_t* cluster_of, std::uint32_t* clusters, const CancelToken& cancel);

/// Returns true if the grid supports find_lowest_clusters_at(): if its space is plain and without slices, all
/// dimensions are indexed, and no axis is cut at gaps.
[[nodiscard]] bool finds_clusters_at(const index::Grid& grid) noexcept;
/// Sets clusters[i] to the lowest cluster_of[p] over the positions p within eps of point i, or to kNoCluster. points:
/// [n × dims] row-major, finite. cluster_of: [grid.size()] by position, followed by Buffer::kPadding readable bytes.
/// clusters: [n]. O(n) and the candidates, in parallel. Throws Cancelled, ResourceError.
void find_lowest_clusters_at(const index::Grid& grid, const index::RowSearch& rows, const std::uint32_t* cluster_of,
                             std::span<const double> points, std::uint32_t* clusters, const CancelToken& cancel);
/// Returns the bytes of memory that find_lowest_clusters_at() takes for n points, beside its parameters.
[[nodiscard]] constexpr std::uint64_t lowest_clusters_at_bytes(std::uint64_t n) noexcept { return n * 32; }

}  // namespace epsflow::clustering
