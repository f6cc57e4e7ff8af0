// The loops of DBSCAN that read the table: unions of core points, clusters of border points.
#pragma once

#include <cstdint>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// Unites each point of `rows` that becomes core at this level with its core neighbours. At the first level, a point is
/// only united with neighbours at smaller positions: the table is symmetric, so the row of each other neighbour
/// contains the same pair. At later levels, whole rows are read: a neighbour that became core at an earlier level does
/// not test the pair again.
///
/// counts: [n] as ClusterSource::counts(). parent: [n] the array of the union-find, kNotCore for points that are not
/// core, followed by Buffer::kPadding readable bytes. ClusterSource::mark_core() of this level must have run for all
/// points. May be called concurrently for disjoint rows. O(entries of the rows that are read).
void unite_rows(const NeighborTable& table, Range rows, const CoreLevel& level, const std::uint32_t* counts,
                std::uint32_t* parent);

/// Sets clusters[i] to the cluster of row rows.begin + i, kNoCluster for noise. Core points get their own cluster,
/// others the lowest among their core neighbours. cluster_of: [n] the cluster of each core point, kNoCluster elsewhere,
/// followed by Buffer::kPadding readable bytes. O(rows + entries of the rows that are not core).
void find_clusters(const NeighborTable& table, Range rows, const std::uint32_t* cluster_of, std::uint32_t* clusters);

}  // namespace epsflow::clustering
