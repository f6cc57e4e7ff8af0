// Rates how well the clusters of each cell of a map are separated, from the lineage alone.
//
// The index is the approximation of DBCV that the Python package hdbscan computes as relative_validity_. It compares
// the longest edge within a cluster with the shortest edge to another cluster, both in the minimum spanning tree of
// mutual reachability distances. These distances depend on minpts and not on eps, so all cells of one minpts share the
// tree. A lineage gives the lengths of the edges with the resolution of its eps: the core points of a cluster are
// connected at one eps of the map, and not at the eps before it.
#pragma once

#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow {

/// Returns [cells] the sum of size · (1 − joined / apart) over the clusters of a cell, divided by the number of all
/// points. `joined` is the smallest eps of the map at which a cluster has exactly the core points of this cluster.
/// `apart` is the largest eps of the map at which this cluster has not yet merged with another cluster of the cell.
/// Values are from 0 to 1. A cell without clusters has the value 0, a cell with a single cluster NaN.
///
/// `joined` is the longest edge rounded up to an eps of the map, and `apart` the shortest edge rounded down, so 1 −
/// joined / apart is a lower bound. If each eps is exp(s) times the previous one, the bound is too low by less than
/// 2·s, except for clusters that exist at the first eps of the map or stay apart to its end. At most O(clusters of all
/// cells · number of eps), in parallel. Throws UsageError for a lineage without sizes.
[[nodiscard]] std::vector<double> relative_validity(const Lineage& lineage);

}  // namespace epsflow
