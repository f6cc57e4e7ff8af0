// How well the clusters of each cell of a map are separated, by the lineage alone.
//
// The index is DBCV's with the core distances of DBSCAN at one minpts, which all eps share, as relative_validity_ of the Python package
// hdbscan has it: the longest edge that holds a cluster together against the shortest one to another cluster, both of the minimum
// spanning tree of mutual reachability distances. A lineage knows these edges as far as its eps do: core points of a cluster are joined at
// an eps of the map, and not at the one before.
#pragma once

#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow {

/// [cells], from 0 to 1: Σ size · (1 − joined / apart) over the clusters, divided by the number of points. `joined` is the least eps of the
/// map at which the core points of the cluster are one cluster already, without others; `apart` the largest one at which none of the
/// other clusters of the cell has joined it, at most the last of the map. 0 where there are no clusters, NaN where there is just one: it
/// is separated from nothing.
///
/// Both edges are rounded up and down to an eps of the map, so that 1 − joined / apart is a lower bound: with eps in even ratios of
/// exp(s) it is too low by less than 2·s; with the same reservation about clusters that are apart to the end of the map.
/// O(clusters of all cells · eps at most), in parallel. Throws UsageError for a lineage without sizes.
[[nodiscard]] std::vector<double> relative_validity(const Lineage& lineage);

}  // namespace epsflow
