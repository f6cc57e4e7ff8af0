// The lowest cluster among the neighbours of each point or place: predictions on the host.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::clustering {

/// clusters[p]: the lowest of cluster_of[q] over the neighbours q of position p, itself included; kNoCluster where none has one.
/// Positions that have a cluster are not searched. cluster_of, clusters: [n] by position. In parallel. Throws Cancelled.
void find_lowest_clusters(const index::SearchIndex& index, const index::RowSearch& rows,
                          const std::uint32_t* cluster_of, std::uint32_t* clusters, const CancelToken& cancel);

/// Whether find_lowest_clusters_at() serves a grid: of a plain space, of so few dimensions that all are indexed, and not cut at gaps.
[[nodiscard]] bool finds_clusters_at(const index::Grid& grid) noexcept;
/// clusters[i]: the lowest of cluster_of[p] over the positions p within eps of place i, kNoCluster where none has one. places:
/// [n × dims], row-major. cluster_of: by position. clusters: [n]. O(n) and the candidates, in parallel. Throws Cancelled.
void find_lowest_clusters_at(const index::Grid& grid, const index::RowSearch& rows, const std::uint32_t* cluster_of,
                             std::span<const double> places, std::uint32_t* clusters, const CancelToken& cancel);
/// Bytes that it takes for n places.
[[nodiscard]] constexpr std::uint64_t places_bytes(std::uint64_t n) noexcept { return n * 32; }

}  // namespace epsflow::clustering
