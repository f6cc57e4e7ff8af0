// For rows that have a radius each: the columns that may be within it, by products on tensor cores. No function waits
// for its stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/core/host_device.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

/// The columns that may be within the radius of each row, in any order. [device]
struct CandidateColumns {
  std::uint32_t* counts = nullptr;   ///< [rows] may exceed the capacity; then the other candidates are lost
  std::uint32_t* columns = nullptr;  ///< [rows × capacity] positions
  std::uint32_t capacity = 0;        ///< slots of a row
};
/// Real: type of the products.
template <class Real>
struct CandidateSlots : CandidateColumns {
  /// [rows × capacity] the product, less the bound of the column: larger for nearer columns. Null if not wanted.
  Real* nearness = nullptr;
};

/// Which columns a row may take as candidates. A row never takes itself. If `components` is given, it takes only
/// columns of other components whose core sum (squared core distance) is below the limit of the row. [device]
struct ColumnChoice {
  const std::uint32_t* positions = nullptr;   ///< [rows] the position of each row; null if row i is position i
  const std::uint32_t* components = nullptr;  ///< [n] may be null
  const double* core = nullptr;               ///< [n] core sums
  const double* limits = nullptr;             ///< [rows] squared distances
};

/// Adds to the slots of each row p the columns q that `choice` permits and whose product with the row is at least the
/// sum of their bounds, rows.no[p] + columns.no[q]. work: the pairs of a row tile and a column tile that are compared.
/// From compute capability 8.0 on.
void launch_row_candidates(const ProductTiles<float>& rows, const ProductTiles<float>& columns, const TileWork& work,
                           const ColumnChoice& choice, const CandidateSlots<float>& slots, unsigned multiprocessors,
                           cudaStream_t stream);
void launch_row_candidates(const ProductTiles<double>& rows, const ProductTiles<double>& columns, const TileWork& work,
                           const ColumnChoice& choice, const CandidateSlots<double>& slots, unsigned multiprocessors,
                           cudaStream_t stream);
/// Does the same on a GPU of compute capability 9.0, faster.
void launch_hopper_candidates(const ProductTiles<float>& rows, const ProductTiles<float>& columns, const TileWork& work,
                              const ColumnChoice& choice, const CandidateSlots<float>& slots, unsigned multiprocessors,
                              cudaStream_t stream);

}  // namespace epsflow::gpu
