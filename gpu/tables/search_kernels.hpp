// The kernels that find neighbours. All compare in float64 as index/distance.hpp says, so they agree with the CPU bit
// for bit. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/gpu/grid/grid_view.hpp>

namespace epsflow::gpu {

/// Throws DeviceError when this build has no code for the current GPU.
void require_code();

/// counts[i]: neighbours of the i-th row of the set. A thread per row.
void launch_count_rows(const GridView& grid, RowSet rows, std::uint32_t* counts, cudaStream_t stream);

/// The ids of the rows [rows.begin, rows.end), ascending, row r from ids[offsets[r] − offsets[rows.begin]] on. A few
/// threads per row.
void launch_fill_rows(const GridView& grid, Range rows, const std::uint64_t* offsets, std::uint32_t* ids,
                      cudaStream_t stream);

/// The bits of the rows [rows.begin, rows.end) of a packed table, its first_word-th word to words[0], and their counts.
/// A thread per row.
void launch_pack_rows(const GridView& grid, Range rows, std::uint64_t first_word, std::uint32_t* words,
                      std::uint32_t* counts, cudaStream_t stream);

/// Algorithm 2 of Gowanlock et al. 2017 (GPUCalcGlobal): a thread per point, candidates from global memory. Differs in
/// that a warp collects pairs in shared memory and takes room for them with one atomic.
void launch_global(const GridView& grid, RowSet rows, PairBuffer pairs, cudaStream_t stream);

/// Algorithm 3 (GPUCalcShared): a block per non-empty cell, candidates piece by piece in shared memory. Differs in that a
/// cell may hold any number of points, and in the collecting of pairs.
void launch_shared(const GridView& grid, CellSet cells, PairBuffer pairs, cudaStream_t stream);

}  // namespace epsflow::gpu
