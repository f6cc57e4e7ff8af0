// The loops of DBSCAN that read the table: core points unite with their core neighbours, border points look for theirs.
#pragma once

#include <cstdint>

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::clustering {

/// Which rows are read, and how far.
struct RowSelection {
  std::uint32_t minpts = 1;                 ///< rows with at least so many neighbours …
  std::uint64_t below = ~std::uint64_t{0};  ///< … and fewer than this
  /// Read each row only up to its own point. Enough when all core points are read: the table is symmetric, so the other
  /// end of a pair sees it.
  bool lower_half = false;
};

/// Unites the point of each selected row of `rows` with its core neighbours. parent: [n], the union-find's array, with
/// Buffer::kPadding bytes readable behind it; every selected point must be core in it. Safe to call for disjoint rows
/// from several threads at once. O(entries read).
void unite_rows(const NeighborTable& table, Range rows, const RowSelection& selection, std::uint32_t* parent);

/// The cluster of each point of `rows`: clusters[i] for row rows.begin + i, kNoCluster for noise. Core points have their own,
/// others the lowest among their core neighbours. cluster_of: [n] the cluster of each core point, kNoCluster elsewhere, with
/// Buffer::kPadding bytes readable behind it. O(rows + entries of the rows that are not core).
void find_clusters(const NeighborTable& table, Range rows, const std::uint32_t* cluster_of, std::uint32_t* clusters);

}  // namespace epsflow::clustering
