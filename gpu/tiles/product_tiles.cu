// Decides pairs of tiles by half-precision products on tensor cores, with the bounds of index/tile_frame.hpp. After
// FaSTED (Curless & Gowanlock, ICPP 2025): tiles of 128 × 128 points, slices of 64 coordinates through shared memory,
// pieces swizzled against bank conflicts. Differences: one half of the symmetric pairs; verdicts that are certain or
// left to float64; slices of the next tile are loaded while this one is classified; a full list loses nothing.
#include <cuda_fp16.h>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tile_filter.cuh>
#include <epsflow/gpu/tiles/tile_kernels.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>
#include <epsflow/gpu/tiles/tile_walk.cuh>

namespace epsflow::gpu {
namespace {

constexpr unsigned kProductThreads = 256;
constexpr unsigned kStages = 3;
constexpr unsigned kStageBytes = 2 * kSliceBytes;
// Warps cover a pair of tiles as 2 × 4. Each has 64 × 32 products, as 4 × 4 fragments of 16 × 8.
constexpr unsigned kRowFragments = 4;
constexpr unsigned kColumnFragments = 4;

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_async(std::uint32_t to, const std::byte* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from));
}
__device__ void commit_copies() { asm volatile("cp.async.commit_group;\n" ::); }
template <unsigned kLeft>
__device__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kLeft));
}

/// Returns the address of a piece of 16 bytes in a slice.
__device__ std::uint32_t piece(std::uint32_t slice, std::uint32_t row, std::uint32_t number) {
  return slice + row * kRowBytes + ((number ^ (row & 7U)) << 4U);
}

using Sums32 = float[kRowFragments][kColumnFragments][4];
using Sums64 = double[kRowFragments][kColumnFragments][4];

__device__ void load_matrices(std::uint32_t (&to)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}

/// Adds the products of 16 coordinates: pieces 2·step and 2·step + 1. rows, columns: addresses of the warp's first.
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

__device__ double load_double(std::uint32_t from) {
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

template <class Real>
__global__ void __launch_bounds__(kProductThreads, sizeof(Real) == 4 ? 2 : 1)
    product_tiles_kernel(ProductTiles<Real> tiles, TileWork work, PairSink sink) {
  extern __shared__ __align__(128) std::byte stages[];
  const std::uint32_t shared = shared_address(stages);
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp_row = threadIdx.x / 128 * 64;
  const unsigned warp_column = threadIdx.x / 32 % 4 * 32;
  const std::uint64_t tile_bytes = std::uint64_t{tiles.slices_per_tile} * kSliceBytes;

  TileWalk<1> loading(work, blockIdx.x, gridDim.x);
  unsigned loading_slice = 0;
  unsigned loading_stage = 0;
  const auto load_next = [&] {
    if (!loading.done()) {
      const std::uint64_t offset = std::uint64_t{loading_slice} * kSliceBytes;
      const std::byte* const rows = tiles.slices + loading.row_tile() * tile_bytes + offset;
      const std::byte* const columns = tiles.slices + loading.column_tile() * tile_bytes + offset;
      const std::uint32_t to = shared + loading_stage * kStageBytes;
      for (unsigned at = threadIdx.x * 16; at < kSliceBytes; at += kProductThreads * 16) {
        copy_async(to + at, rows + at);
        copy_async(to + kSliceBytes + at, columns + at);
      }
      if (++loading_slice == tiles.slices_per_tile) {
        loading_slice = 0;
        loading.next();
      }
      loading_stage = (loading_stage + 1) % kStages;
    }
    commit_copies();  // commits empty groups too, because waits count groups
  };
  for (unsigned i = 0; i + 1 < kStages; ++i) load_next();

  PairWriter pairs(sink.pairs, sink.room, &sink.counts->pairs, tuning::kPairPlaces);
  PairWriter open(sink.open, sink.open_buffer, &sink.counts->open, tuning::kOpenPlaces);
  unsigned stage = 0;
  for (TileWalk<1> walk(work, blockIdx.x, gridDim.x); !walk.done(); walk.next()) {
    const std::uint32_t row = own_row(walk.row_tile() * index::kTilePoints + warp_row);
    const std::uint32_t column = own_column(walk.column_tile() * index::kTilePoints + warp_column);
    RowBounds<Real, kRowFragments, 16> row_bounds;
    ColumnBounds<Real, kColumnFragments> column_bounds;
    row_bounds.load(tiles.no, row);
    column_bounds.load(tiles.no, column);
    const Real gap = __ldg(tiles.gaps + walk.row_tile()) + __ldg(tiles.gaps + walk.column_tile());
    Real sums[kRowFragments][kColumnFragments][4] = {};
    for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
      wait_copies<kStages - 2>();
      __syncthreads();  // the slice has arrived, and the one before it is no longer read
      load_next();
      const std::uint32_t rows = shared + stage * kStageBytes + warp_row * kRowBytes;
      const std::uint32_t columns = shared + stage * kStageBytes + kSliceBytes + warp_column * kRowBytes;
      const unsigned steps = min(4U, tiles.steps - 4 * slice);
      if (steps == 4) {
        for (unsigned step = 0; step < 4; ++step) multiply(sums, rows, columns, step, lane);
      } else {
        for (unsigned step = 0; step < steps; ++step) multiply(sums, rows, columns, step, lane);
      }
      stage = (stage + 1) % kStages;
    }
    filter(sums, row_bounds, column_bounds, row, column, gap, pairs, open);
  }
  pairs.finish();
  open.finish();
}

template <class Real>
void launch(const ProductTiles<Real>& tiles, const TileWork& work, const PairSink& sink, unsigned multiprocessors,
            cudaStream_t stream) {
  constexpr unsigned kSharedBytes = kStages * kStageBytes;
  constexpr unsigned kBlocks = sizeof(Real) == 4 ? 2 : 1;
  check(cudaFuncSetAttribute(product_tiles_kernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  product_tiles_kernel<Real><<<kBlocks * multiprocessors, kProductThreads, kSharedBytes, stream>>>(tiles, work, sink);
  check_launch(stream);
}

}  // namespace

void launch_product_tiles(const ProductTiles<float>& tiles, const TileWork& work, const PairSink& sink,
                          unsigned multiprocessors, cudaStream_t stream) {
  launch(tiles, work, sink, multiprocessors, stream);
}

void launch_product_tiles(const ProductTiles<double>& tiles, const TileWork& work, const PairSink& sink,
                          unsigned multiprocessors, cudaStream_t stream) {
  launch(tiles, work, sink, multiprocessors, stream);
}

}  // namespace epsflow::gpu
