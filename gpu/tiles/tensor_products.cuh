// Products of tiles on the tensor cores of GPUs from compute capability 8.0 on, in half precision or float64.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include <epsflow/gpu/tiles/tile_filter.cuh>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

constexpr unsigned kProductThreads = 256;
constexpr unsigned kProductStages = 3;
constexpr unsigned kProductStageBytes = 2 * kSliceBytes;
constexpr unsigned kProductSharedBytes = kProductStages * kProductStageBytes;
// Warps cover a pair of tiles as 2 × 4. Each has 64 × 32 products, as 4 × 4 fragments of 16 × 8.
constexpr unsigned kRowFragments = 4;
constexpr unsigned kColumnFragments = 4;

__device__ inline void copy_async(std::uint32_t to, const std::byte* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;\n" ::); }
template <unsigned kLeft>
__device__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kLeft));
}

/// Returns the address of a piece of 16 bytes in a slice.
__device__ inline std::uint32_t piece(std::uint32_t slice, std::uint32_t row, std::uint32_t number) {
  return slice + row * kRowBytes + ((number ^ (row & 7U)) << 4U);
}

using Sums32 = float[kRowFragments][kColumnFragments][4];
using Sums64 = double[kRowFragments][kColumnFragments][4];

__device__ inline void load_matrices(std::uint32_t (&to)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}

/// Adds products of 16 coordinates from piece 2·step on. The warp's first row and column are at `rows`, `columns`.
__device__ __forceinline__ void multiply(Sums32& sums, std::uint32_t rows, std::uint32_t columns, unsigned step,
                                         unsigned lane) {
  std::uint32_t a[kRowFragments][4];
  std::uint32_t b[kColumnFragments / 2][4];
  for (unsigned m = 0; m < kRowFragments; ++m) {
    load_matrices(a[m], piece(rows, 16 * m + lane % 16, 2 * step + lane / 16));
  }
  for (unsigned n = 0; n < kColumnFragments / 2; ++n) {
    load_matrices(b[n], piece(columns, 16 * n + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2));
  }
  for (unsigned m = 0; m < kRowFragments; ++m) {
    for (unsigned n = 0; n < kColumnFragments; ++n) {
      float(&sum)[4] = sums[m][n];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};\n"
          : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
          : "r"(a[m][0]), "r"(a[m][1]), "r"(a[m][2]), "r"(a[m][3]), "r"(b[n / 2][n % 2 * 2]),
            "r"(b[n / 2][n % 2 * 2 + 1]));
    }
  }
}

__device__ inline double load_double(std::uint32_t from) {
  double value;
  asm volatile("ld.shared.f64 %0, [%1];\n" : "=d"(value) : "r"(from));
  return value;
}

/// Adds the products of 4 coordinates in float64.
__device__ __forceinline__ void multiply(Sums64& sums, std::uint32_t rows, std::uint32_t columns, unsigned step,
                                         unsigned lane) {
  const unsigned number = 2 * step + lane % 4 / 2;
  const unsigned half = lane % 2 * 8;
  double a[kRowFragments][2];
  double b[kColumnFragments];
  for (unsigned m = 0; m < kRowFragments; ++m) {
    for (unsigned h = 0; h < 2; ++h) a[m][h] = load_double(piece(rows, 16 * m + 8 * h + lane / 4, number) + half);
  }
  for (unsigned n = 0; n < kColumnFragments; ++n) b[n] = load_double(piece(columns, 8 * n + lane / 4, number) + half);
  for (unsigned m = 0; m < kRowFragments; ++m) {
    for (unsigned n = 0; n < kColumnFragments; ++n) {
      double(&sum)[4] = sums[m][n];
#if __CUDA_ARCH__ >= 900
      asm volatile(
          "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};\n"
          : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
          : "d"(a[m][0]), "d"(a[m][1]), "d"(b[n]));
#else
      for (unsigned h = 0; h < 2; ++h) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
                     : "+d"(sum[2 * h]), "+d"(sum[2 * h + 1])
                     : "d"(a[m][h]), "d"(b[n]));
      }
#endif
    }
  }
}

/// Multiplies row tiles (`tiles`) by column tiles (`others`) in the order of a walk; run by a block of kProductThreads.
/// Calls judge.prepare(walk) before the products of a row tile and a column tile, and judge.judge(sums, row bounds,
/// column bounds, row, column) with these products. The thread's first product is at `row` and `column`. stages:
/// kProductSharedBytes of shared memory.
template <class Real, class Walk, class Judge>
__device__ __forceinline__ void multiply_tiles(const ProductTiles<Real>& tiles, const ProductTiles<Real>& others,
                                               const Walk& first, std::byte* stages, Judge& judge) {
  const std::uint32_t shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(stages));
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp_row = threadIdx.x / 128 * 64;
  const unsigned warp_column = threadIdx.x / 32 % 4 * 32;
  const std::uint64_t tile_bytes = std::uint64_t{tiles.slices_per_tile} * kSliceBytes;

  Walk loading = first;
  unsigned loading_slice = 0;
  unsigned loading_stage = 0;
  const auto load_next = [&] {
    if (!loading.done()) {
      const std::uint64_t offset = std::uint64_t{loading_slice} * kSliceBytes;
      const std::byte* const rows = tiles.slices + loading.row_tile(0) * tile_bytes + offset;
      const std::byte* const columns = others.slices + loading.column_tile() * tile_bytes + offset;
      const std::uint32_t to = shared + loading_stage * kProductStageBytes;
      for (unsigned at = threadIdx.x * 16; at < kSliceBytes; at += kProductThreads * 16) {
        copy_async(to + at, rows + at);
        copy_async(to + kSliceBytes + at, columns + at);
      }
      if (++loading_slice == tiles.slices_per_tile) {
        loading_slice = 0;
        loading.next();
      }
      loading_stage = (loading_stage + 1) % kProductStages;
    }
    commit_copies();  // commits empty groups too, because waits count groups
  };
  for (unsigned i = 0; i + 1 < kProductStages; ++i) load_next();

  unsigned stage = 0;
  for (Walk walk = first; !walk.done(); walk.next()) {
    const std::uint32_t row = own_row(walk.row_tile(0) * index::kTilePoints + warp_row);
    const std::uint32_t column = own_column(walk.column_tile() * index::kTilePoints + warp_column);
    RowBounds<Real, kRowFragments, 16> row_bounds;
    ColumnBounds<Real, kColumnFragments> column_bounds;
    row_bounds.load(tiles.no, row);
    column_bounds.load(others.no, column);
    judge.prepare(walk);
    Real sums[kRowFragments][kColumnFragments][4] = {};
    for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
      wait_copies<kProductStages - 2>();
      __syncthreads();  // the slice has arrived, and the one before it is no longer read
      load_next();
      const std::uint32_t rows = shared + stage * kProductStageBytes + warp_row * kRowBytes;
      const std::uint32_t columns = shared + stage * kProductStageBytes + kSliceBytes + warp_column * kRowBytes;
      const unsigned steps = min(4U, tiles.steps - 4 * slice);
      if (steps == 4) {
        for (unsigned step = 0; step < 4; ++step) multiply(sums, rows, columns, step, lane);
      } else {
        for (unsigned step = 0; step < steps; ++step) multiply(sums, rows, columns, step, lane);
      }
      stage = (stage + 1) % kProductStages;
    }
    judge.judge(sums, row_bounds, column_bounds, row, column);
  }
}

}  // namespace epsflow::gpu
