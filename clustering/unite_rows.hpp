// Core points and their core neighbours become one set: the loop of DBSCAN that reads the table.
#pragma once

#include <cstdint>

#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/clustering/union_find.hpp>

namespace epsflow::clustering {

/// Which rows are read, and how far.
struct RowSelection {
  std::uint32_t minpts = 1;              ///< rows with at least so many neighbours …
  std::uint64_t below = ~std::uint64_t{0};  ///< … and fewer than this
  /// Read each row only up to its own point. Enough when all core points are read: the table is symmetric, so the other end
  /// of a pair sees it.
  bool lower_half = false;
};

/// Unites the point of each selected row of `rows` with its core neighbours. parent: [n], the union-find's array, with
/// Buffer::kPadding bytes readable behind it; every selected point must be core in it. Safe to call for disjoint rows from
/// several threads at once. O(entries read).
void unite_rows(const NeighborTable& table, Run rows, const RowSelection& selection, std::uint32_t* parent);

}  // namespace epsflow::clustering
