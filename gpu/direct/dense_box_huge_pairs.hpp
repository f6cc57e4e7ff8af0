// Decides pairs of huge cells that a few tries have not decided. The points of such cells are sorted along a
// space-filling curve, so that consecutive points have narrow bounds, and are compared chunk by chunk.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// The list of undecided pairs of huge cells. Kernels fill it; Tally::huge_pairs is their number.
class HugePairs {
 public:
  HugePairs() = default;
  /// Allocates memory for all pairs of huge cells that this many points can form.
  HugePairs(std::uint32_t points, Scratch scratch);

  [[nodiscard]] CellPair* list() const { return list_.data(); }
  /// Unites the cells of each of the first `count` pairs, at least one, if they have core points within eps. Waits for
  /// earlier work of the stream, but not for its own last kernels.
  void decide(std::uint32_t count, const DenseBoxView& view, const Nodes& nodes, std::uint32_t* parents,
              Scratch scratch) const;

 private:
  DeviceBuffer<CellPair> list_;
};

// The kernels of HugePairs are in dense_box_huge_pairs.cu. None waits.

/// A huge cell. The points of all huge cells are sorted by cell, then along the curve; `first` and `end` are indices in
/// this order.
struct HugeCell {
  std::uint32_t begin;  ///< the position of its first point in the grid
  std::uint32_t first;  ///< the index of its first point
  std::uint32_t end;    ///< one more than the index of its last point
};
/// The smallest and largest coordinates of the points of a chunk, kChunk consecutive points in this order, of one cell
/// or several.
struct ChunkBounds {
  double lo[index::kMostDenseBoxDims];
  double hi[index::kMostDenseBoxDims];
};

/// Writes spans[2k] and spans[2k + 1] = the first position of cells[k] and of the cell after it.
void launch_cell_spans(const DenseBoxView& view, const std::uint32_t* cells, std::uint32_t count, std::uint32_t* spans,
                       cudaStream_t stream);
/// Writes the keys to sort by, and the positions, of all `size` points of the cells. A key is the index of the cell in
/// `cells`, followed by the point's number along the curve in its cell.
void launch_huge_keys(const DenseBoxView& view, const HugeCell* cells, std::uint32_t count, std::uint32_t size,
                      std::uint64_t* keys, std::uint32_t* positions, cudaStream_t stream);
/// Writes chunks[k] = the bounds of the points at positions[k·kChunk] to positions[(k + 1)·kChunk − 1], core or not.
void launch_chunk_bounds(const DenseBoxView& view, const std::uint32_t* positions, std::uint32_t size,
                         ChunkBounds* chunks, cudaStream_t stream);
/// Compares pairs of cells, and unites those that have core points within eps. pairs: [count] as cells of the grid;
/// indices: [count] the same pairs as indices of `cells`. positions: the position of each point of the huge cells,
/// sorted by cell, then along the curve. chunks: from launch_chunk_bounds().
void launch_huge_pairs(const DenseBoxView& view, const Nodes& nodes, std::uint32_t* parents, const HugeCell* cells,
                       const std::uint32_t* positions, const ChunkBounds* chunks, const CellPair* pairs,
                       const CellPair* indices, std::uint32_t count, cudaStream_t stream);

}  // namespace epsflow::gpu
