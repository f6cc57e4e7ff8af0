// The steps that order points by layers (coordinates, and distances to pivots) on the GPU, and list the pairs of tiles
// that may hold neighbours. No function waits for its stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/index/layer_function.hpp>

namespace epsflow::gpu {

/// Writes sample[i · dims + k] = coordinate k of the i-th point of index::layer_sample(). [device] [size × dims]
void launch_layer_sample(PointsOnDevice points, std::uint64_t size, double* sample, cudaStream_t stream);

/// Writes for point i keys[i], the bins of its layers with the first layer in the highest bits, and ids[i] = i. The
/// pivots of `layers` must be in device memory.
void launch_layer_keys(PointsOnDevice points, const index::LayersView& layers, std::uint64_t* keys, std::uint32_t* ids,
                       cudaStream_t stream);
/// Writes ids[i] = i.
void launch_identity(std::uint32_t* ids, std::uint32_t size, cudaStream_t stream);

/// The intervals of layer functions on tiles and on blocks of eight tiles, function by function. [device]
struct TileBoundsView {
  const index::LayerInterval* of_tiles = nullptr;   ///< [functions × tiles]
  const index::LayerInterval* of_blocks = nullptr;  ///< [functions × blocks]
  std::uint32_t functions = 0;
  std::uint32_t tiles = 0;
  std::uint32_t blocks = 0;
};

/// Computes the intervals of tiles of points in the given order, as index::TileBounds. The pivots of `layers` must be
/// in device memory.
void launch_tile_bounds(PointsOnDevice points, const std::uint32_t* order, const index::LayersView& layers,
                        index::LayerInterval* of_tiles, index::LayerInterval* of_blocks, cudaStream_t stream);

/// The size of the list of index::list_tile_blocks(). [device]
struct TileBlockCounts {
  unsigned long long blocks;  ///< entries of the list, index::TileBlock
  unsigned long long pairs;   ///< pairs of tiles in all entries
};
/// Sets *counts to the size of this list without making the list.
void launch_count_tile_blocks(TileBoundsView bounds, TileBlockCounts* counts, cudaStream_t stream);
/// Writes the list. count: its number of blocks, from launch_count_tile_blocks(). list: [device] [count].
void launch_list_tile_blocks(TileBoundsView bounds, std::uint64_t count, index::TileBlock* list, Scratch scratch);

}  // namespace epsflow::gpu
