// For rows that have a radius each: the columns that may be within it, by products on tensor cores. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/host_device.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// A column that may be within the radius of a row.
struct RowCandidate {
  float nearness;        ///< the product, less the bound of the column: larger for nearer columns
  std::uint32_t column;  ///< position
};
/// The candidates of each row, in any order. [device]
struct CandidateSlots {
  std::uint32_t* counts = nullptr;  ///< [rows] may exceed the room; then the other candidates are lost
  RowCandidate* slots = nullptr;    ///< [rows × room]
  std::uint32_t room = 0;
};

/// Which columns a row takes. Without components, all but the row itself. [device]
struct ColumnChoice {
  const std::uint32_t* positions = nullptr;   ///< [rows] null: a row is at its number
  const std::uint32_t* components = nullptr;  ///< [n] null, or only columns of other components are taken
  const double* core = nullptr;               ///< [n] with components: and of a core sum below the limit of the row
  const double* limits = nullptr;             ///< [rows]
};

/// The columns of one launch, in tiles, and the rows that they are compared with: all of them.
struct RowWork {
  std::uint32_t row_tiles = 0;
  std::uint32_t first_column = 0;
  std::uint32_t columns = 0;
  std::uint32_t columns_at_once = 1;  ///< for each pair of row tiles

  /// Pairs of row tiles that go through the columns at the same time, so that the L2 cache serves them.
  static constexpr std::uint32_t kAbreast = 16;

  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t row_pairs() const noexcept { return (row_tiles + 1) / 2; }
  [[nodiscard]] EPSFLOW_HOST_DEVICE std::uint32_t column_sets() const noexcept {
    return (columns + columns_at_once - 1) / columns_at_once;
  }
};

/// Adds to the slots of each row the columns q for which the product with row p is at least the sum of their bounds,
/// rows.no[p] + columns.no[q]. On GPUs of compute capability 9.0 alone.
void launch_row_candidates(const ProductTiles<float>& rows, const ProductTiles<float>& columns, RowWork work,
                           const ColumnChoice& choice, const CandidateSlots& slots, unsigned multiprocessors,
                           cudaStream_t stream);

}  // namespace epsflow::gpu
