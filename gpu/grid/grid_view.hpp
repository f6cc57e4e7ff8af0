// The grid index in device memory, as kernels see it. The same cells, order and ranges as index/grid.hpp makes on the
// host.
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
  const std::uint64_t* range_offsets = nullptr;  ///< [cells + 1] first of the cell's ranges
  const Range* ranges = nullptr;                 ///< candidates of each cell, ascending
  const std::uint64_t* cell_words = nullptr;     ///< [cells + 1] first word of the cell's first row in a packed table
  std::uint32_t size = 0;
  std::uint32_t cells = 0;
  std::uint32_t dims = 1;
  Precision precision = Precision::float64;
  index::SpaceView space;
  double limit = 0;  ///< of the space: eps² where it is plain
};

/// Where kernels that emit pairs put them: row and neighbour of each, in any order. Pairs that do not fit are counted
/// and dropped.
struct PairBuffer {
  std::uint32_t* rows = nullptr;       ///< [capacity]
  std::uint32_t* neighbors = nullptr;  ///< [capacity]
  std::uint64_t capacity = 0;
  std::uint64_t* counters = nullptr;  ///< [2] pairs, and rows that were searched; zero before the kernel
};

/// Rows begin + i·stride, for i in [0, count).
struct RowSet {
  std::uint32_t begin = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 0;
};

/// Cells begin + i·stride, for i in [0, count), and of their rows those in `rows`.
struct CellSet {
  std::uint32_t begin = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 0;
  Range rows;
};

}  // namespace epsflow::gpu
