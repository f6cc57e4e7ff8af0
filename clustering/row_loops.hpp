// The loops of DBSCAN that read the table: core points unite with their core neighbours, border points look for theirs.
#pragma once

#include <cstdint>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// Unites the points of `rows` that the level makes core with their core neighbours. At the first level, where all core points
/// are read, each row is read only up to its own point: the table is symmetric, so the other end of a pair sees it. counts: [n] as
/// ClusterSource::counts() says. parent: [n], the union-find's array, with Buffer::kPadding bytes readable behind it; every point
/// that the level makes core must be core in it. Safe to call for disjoint rows from several threads at once. O(entries read).
void unite_rows(const NeighborTable& table, Range rows, const CoreLevel& level, const std::uint32_t* counts,
                std::uint32_t* parent);

/// The cluster of each point of `rows`: clusters[i] for row rows.begin + i, kNoCluster for noise. Core points have their own,
/// others the lowest among their core neighbours. cluster_of: [n] the cluster of each core point, kNoCluster elsewhere, with
/// Buffer::kPadding bytes readable behind it. O(rows + entries of the rows that are not core).
void find_clusters(const NeighborTable& table, Range rows, const std::uint32_t* cluster_of, std::uint32_t* clusters);

}  // namespace epsflow::clustering
