// The grid index in device memory as kernels use it: the same cells, order and ranges as in index/grid.hpp.
#pragma once

#include <cstdint>

#include <epsflow/core/candidate_bundles.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

struct GridView {
  const void* coordinates = nullptr;             ///< [dims × n] float or double, by position
  const std::uint32_t* cell_of = nullptr;        ///< [n] cell of each position
  const std::uint32_t* cell_starts = nullptr;    ///< [cells + 1] first position of each cell
  const std::uint64_t* range_offsets = nullptr;  ///< [cells + 1] index in `ranges` of the cell's first range
  const Range* ranges = nullptr;                 ///< candidates of each cell as positions, ascending
  const std::uint64_t* cell_words = nullptr;     ///< [cells + 1] first word of the cell's first row in a packed table
  std::uint32_t size = 0;
  std::uint32_t cells = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  index::SpaceView space;
  double limit = 0;  ///< Space::limit(eps): eps² if the norm is Euclidean
};

/// The buffer of kernels that emit pairs of a row and its neighbour, in any order. Pairs that do not fit are counted
/// and dropped.
struct PairBuffer {
  std::uint32_t* rows = nullptr;       ///< [capacity]
  std::uint32_t* neighbors = nullptr;  ///< [capacity]
  std::uint64_t capacity = 0;
  /// [2] Kernels add to it: the number of pairs; and launch_shared() alone, the number of rows searched.
  std::uint64_t* counters = nullptr;
};

/// Rows begin + i·stride, for i in [0, count).
struct RowSet {
  std::uint32_t begin = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 0;
};

/// Cells begin + i·stride, for i in [0, count), restricted to their rows in `rows`.
struct CellSet {
  std::uint32_t begin = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 0;
  Range rows;
};

}  // namespace epsflow::gpu
