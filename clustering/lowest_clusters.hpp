// The lowest cluster among the neighbours of each point or place, for predictions on the host.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::clustering {

/// Sets clusters[p] to the lowest cluster_of[q] over the neighbours q of position p, p included; kNoCluster if there is
/// none. Positions with a cluster are not searched. cluster_of, clusters: [n] by position. In parallel. Throws
/// Cancelled.
void find_lowest_clusters(const index::SearchIndex& index, const index::RowSearch& rows,
                          const std::uint32_t* cluster_of, std::uint32_t* clusters, const CancelToken& cancel);

/// Returns true if the grid supports find_lowest_clusters_at(): plain, all dimensions indexed, no axis cut at gaps.
[[nodiscard]] bool finds_clusters_at(const index::Grid& grid) noexcept;
/// Sets clusters[i] to the lowest cluster_of[p] over the positions p within eps of place i; or kNoCluster. places: [n ×
/// dims], row-major. cluster_of: by position. clusters: [n]. O(n) and the candidates, in parallel. Throws Cancelled.
void find_lowest_clusters_at(const index::Grid& grid, const index::RowSearch& rows, const std::uint32_t* cluster_of,
                             std::span<const double> places, std::uint32_t* clusters, const CancelToken& cancel);
/// Returns the memory for n places, in bytes.
[[nodiscard]] constexpr std::uint64_t places_bytes(std::uint64_t n) noexcept { return n * 32; }

}  // namespace epsflow::clustering
