// The loops of DBSCAN that read the table: unions of core points, clusters of border points.
#pragma once

#include <cstdint>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// Unites the points of `rows` that the level makes core with their core neighbours. At the first level all core points
/// are read, and each row only up to its own point: the table is symmetric, so the row of the other point has the pair
/// too. counts: [n] as ClusterSource::counts(). parent: [n], the array of the union-find, followed by Buffer::kPadding
/// readable bytes; points that the level makes core must be core in it. May be called concurrently for disjoint rows.
/// O(entries read).
void unite_rows(const NeighborTable& table, Range rows, const CoreLevel& level, const std::uint32_t* counts,
                std::uint32_t* parent);

/// Sets clusters[i] to the cluster of row rows.begin + i, kNoCluster for noise. Core points get their own cluster,
/// others the lowest among their core neighbours. cluster_of: [n] the cluster of each core point, kNoCluster elsewhere,
/// followed by Buffer::kPadding readable bytes. O(rows + entries of the rows that are not core).
void find_clusters(const NeighborTable& table, Range rows, const std::uint32_t* cluster_of, std::uint32_t* clusters);

}  // namespace epsflow::clustering
