// The separation of the clusters of each cell of a map, from the lineage alone.
//
// The index is DBCV's with the core distances of DBSCAN at one minpts, which all eps share, as relative_validity_ of
// the Python package hdbscan: it compares the longest edge within a cluster with the shortest edge to another cluster,
// both in the minimum spanning tree of mutual reachability distances. A lineage gives these edges with the resolution
// of its eps: core points of a cluster are joined at one eps of the map, and not at the one before.
#pragma once

#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow {

/// Returns for each cell Σ size · (1 − joined / apart) over its clusters, divided by the number of points, from 0 to 1.
/// [cells] `joined` is the smallest eps of the map at which the core points of the cluster are already one cluster,
/// without others. `apart` is the largest eps, at most the last of the map, at which no other cluster of the cell has
/// joined it. The value is 0 if there are no clusters, and NaN if only one, which is separated from nothing.
///
/// Both edges are rounded to an eps of the map, up and down, so that 1 − joined / apart is a lower bound: with eps in
/// even ratios of exp(s) it is too low by less than 2·s, except for clusters that stay apart to the end of the map.
/// O(clusters of all cells · eps at most), in parallel. Throws UsageError for a lineage without sizes.
[[nodiscard]] std::vector<double> relative_validity(const Lineage& lineage);

}  // namespace epsflow
