// How long the clusters of each cell live along eps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <epsflow/clustering/lineage.hpp>

namespace epsflow::report {

/// The life along eps, at its minpts, of a cluster of one cell.
struct CellLife {
  std::uint32_t cluster = 0;  ///< its number in the cell
  std::uint32_t size = 0;     ///< its points in the cell, its core points in a lineage without sizes
  std::size_t birth = 0;      ///< the first cell of the lineage that has it,
  std::optional<std::size_t> death =
      {};  ///< and that in which it has become part of an older one; none: it lives to the end
};

/// [cells of the lineage] At most `most` of each: of the largest clusters, these first. The elder rule of Lineage::lives() says which of two
/// clusters goes on. O(clusters of all cells · log).
[[nodiscard]] std::vector<std::vector<CellLife>> lives_of_cells(const Lineage& lineage, std::size_t most);

}  // namespace epsflow::report
