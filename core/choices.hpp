// Ways of doing the same work: they change time and memory, never a label.
#pragma once

#include <cstdint>

namespace epsflow {

/// How a csr batch is searched.
enum class Kernel : std::uint8_t {
  rows,    ///< whole rows, one after the other
  global,  ///< a task per point emits pairs in any order, which are then sorted (the paper's Algorithm 2)
  shared,  ///< a task per non-empty cell tests tiles of candidates, and emits pairs (the paper's Algorithm 3)
};
[[nodiscard]] constexpr bool emits_pairs(Kernel kernel) noexcept { return kernel != Kernel::rows; }

/// The neighbour table in memory; `automatic` takes the format of fewer bytes.
enum class FormatChoice : std::uint8_t { automatic, csr, packed };

/// How the variants of one table are clustered.
enum class VariantMethod : std::uint8_t {
  nested,  ///< from the largest minpts down with one union-find
  each,    ///< each on its own, all concurrently (the paper's way)
};

/// How the variants of one eps get their labels.
enum class Strategy : std::uint8_t {
  table,   ///< from a table of all neighbours, shared by their minpts (the paper's way)
  direct,  ///< without one, in memory that grows with the points only
};

/// What the cells of a grid are for.
enum class Cells : std::uint8_t {
  reach,  ///< as wide as a neighbourhood reaches: few candidate runs, for searches point by point
  clique,  ///< so narrow that any two points of a cell are neighbours, for clustering cell by cell; up to three dimensions
};

enum class StrategyChoice : std::uint8_t { automatic, table, direct };

/// Where the candidates of a search come from.
enum class IndexChoice : std::uint8_t {
  automatic,
  grid,  ///< cells of up to six coordinates, those of largest variance
  tree,  ///< tiles of points sorted by coordinates and distances to pivots (after MiSTIC)
  all,   ///< every pair of points
};

/// How pairs of candidates are decided in high dimensions; what a decider cannot tell for certain, float64 does.
enum class DecideChoice : std::uint8_t {
  automatic,
  scalar,    ///< float64
  tensor64,  ///< products of float64 on tensor cores (after TED-Join)
  tensor16,  ///< products of half precision on tensor cores (after FaSTED)
};

/// Where an array is.
enum class MemorySpace : std::uint8_t { host, device };

enum class BackendChoice : std::uint8_t { automatic, cpu, gpu };

}  // namespace epsflow
