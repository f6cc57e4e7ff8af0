// The kernels that find neighbours. They compute distances in float64 as index/distance.hpp does, so bit for bit as the
// CPU does. No function waits for the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/grid_view.hpp>

namespace epsflow::gpu {

/// Throws DeviceError if this build has no code for the current GPU. Each new backend calls it once.
void require_code();

/// Writes counts[i] = the number of neighbours of the i-th row of the set, itself included. One thread for each row.
void launch_count_rows(const GridView& grid, RowSet rows, std::uint32_t* counts, cudaStream_t stream);

/// Writes the neighbours of the rows [rows.begin, rows.end), as positions, ascending. Those of row r begin at
/// ids[offsets[r] − offsets[rows.begin]]. A few threads for each row.
void launch_fill_rows(const GridView& grid, Range rows, const std::uint64_t* offsets, std::uint32_t* ids,
                      cudaStream_t stream);

/// Writes rows of a packed table (core/neighbor_table.hpp): a bit for each candidate, 1 if it is a neighbour. words[0]
/// is word first_word of the table. Writes counts[i] = the number of neighbours of row rows.begin + i. One thread for
/// each row.
void launch_pack_rows(const GridView& grid, Range rows, std::uint64_t first_word, std::uint32_t* words,
                      std::uint32_t* counts, cudaStream_t stream);

/// Algorithm 2 of Gowanlock et al. 2017 (GPUCalcGlobal): one thread for each point, candidates from global memory.
/// Differs in that a warp collects pairs in shared memory and reserves space for them with one atomic.
void launch_global(const GridView& grid, RowSet rows, PairBuffer pairs, cudaStream_t stream);

/// Algorithm 3 (GPUCalcShared): one block for each non-empty cell, candidates piece by piece in shared memory. Differs
/// in that a cell may hold any number of points, and in that pairs are collected as in launch_global().
void launch_shared(const GridView& grid, CellSet cells, PairBuffer pairs, cudaStream_t stream);

}  // namespace epsflow::gpu
