// The persistence of the clusters of each cell along eps. A cell is one eps and minpts of a sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow::report {

/// The bar of a cluster of one cell: the range of eps in which it exists at the minpts of the cell.
struct CellBar {
  std::uint32_t cluster = 0;  ///< the number of the cluster in the cell
  std::uint32_t size = 0;     ///< its points in the cell, or its core points if the lineage has no sizes
  std::size_t birth = 0;      ///< the index in the lineage of the cell of smallest eps in which it exists
  /// The index of the cell in which it has become part of an older cluster; empty if it persists to the largest eps.
  std::optional<std::size_t> death = {};
};

/// Returns [cells] at most `most` bars for each cell of the lineage, the largest clusters first. If two clusters merge,
/// the older continues, of equally old ones the one with more core points (Lineage::bars()). O(m · log m) with m
/// clusters in all cells.
[[nodiscard]] std::vector<std::vector<CellBar>> bars_of_cells(const Lineage& lineage, std::size_t most);

}  // namespace epsflow::report
