// The persistence of the clusters of each cell along eps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow::report {

/// The bar of a cluster of one cell: its range along eps at the minpts of the cell.
struct CellBar {
  std::uint32_t cluster = 0;  ///< the number of the cluster in the cell
  std::uint32_t size = 0;     ///< its points in the cell, or its core points if the lineage has no sizes
  std::size_t birth = 0;      ///< the first cell of the lineage that contains it
  /// The cell in which it has become part of an older cluster; empty if it persists to the end.
  std::optional<std::size_t> death = {};
};

/// Returns at most `most` bars for each cell of the lineage, the largest clusters first. [cells] If two clusters merge,
/// the elder rule of Lineage::bars() decides which of them continues. O(clusters of all cells · log).
[[nodiscard]] std::vector<std::vector<CellBar>> bars_of_cells(const Lineage& lineage, std::size_t most);

}  // namespace epsflow::report
