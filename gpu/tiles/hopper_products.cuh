// Products of half-precision factors on the tensor cores of compute capability 9.0, by groups of four warps that bulk
// copies feed. Compiled for that capability only.
//
// A block of threads has one warp that copies, and four groups of warps that multiply: each compares half a row tile
// with the column tile that all share. The groups may run ahead of each other by the number of stages, so that one
// multiplies while another classifies its products.
#pragma once

#include <cstddef>
#include <cstdint>

#include <epsflow/gpu/tiles/tile_filter.cuh>
#include <epsflow/gpu/tiles/tile_view.hpp>

namespace epsflow::gpu {

constexpr unsigned kRowTiles = 2;
constexpr unsigned kGroups = 2 * kRowTiles;
constexpr unsigned kGroupRows = index::kTilePoints / 2;
constexpr unsigned kGroupThreads = 128;
constexpr unsigned kThreads = kGroups * kGroupThreads + 32;  // the last warp copies
constexpr unsigned kStages = 4;
constexpr unsigned kStageBytes = (kRowTiles + 1) * kSliceBytes;
constexpr unsigned kBoundBytes = index::kTilePoints * sizeof(float);
// Bounds arrive with the first slice of a tile, and are read after its stages may already hold another tile.
constexpr unsigned kBounds = 8;
static_assert(kBounds > kStages);
constexpr unsigned kSharedBytes = kStages * kStageBytes + kBounds * kBoundBytes + 1024;  // aligned by the kernel

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// A barrier in shared memory with alternating phases.
struct Barrier {
  std::uint32_t address;

  __device__ void init(unsigned arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(address), "r"(arrivals));
  }
  __device__ void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(address) : "memory");
  }
  /// Arrives. The phase then also waits for this many bytes of copies.
  __device__ void expect(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(address), "r"(bytes) : "memory");
  }
  /// Waits until the phase of that parity is over.
  __device__ void wait(unsigned parity) const {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra over;\n"
        "bra again;\n"
        "over:\n"
        "}\n" ::"r"(address),
        "r"(parity)
        : "memory");
  }
};

/// Starts a copy to shared memory. `full` counts its bytes.
__device__ inline void copy(std::uint32_t to, const void* from, unsigned bytes, Barrier full) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(to),
               "l"(from), "r"(bytes), "r"(full.address)
               : "memory");
}

/// Returns the descriptor of a matrix in shared memory: swizzled rows of 128 bytes, in groups of eight rows.
__device__ inline std::uint64_t matrix_at(std::uint32_t address) {
  constexpr std::uint64_t kExchange128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kEightRows = std::uint64_t{1024 >> 4} << 32;
  return kExchange128 | kEightRows | std::uint64_t{1} << 16 | (address & 0x3FFFFU) >> 4U;
}

constexpr unsigned kFragments = index::kTilePoints / 8;
using Sums = float[kFragments][4];  // a lane's share of the sums of 64 rows × 128 columns

/// Adds the products of 64 rows and 128 columns, for 16 coordinates, to sums. rows, columns: from matrix_at().
__device__ __forceinline__ void multiply(Sums& sums, std::uint64_t rows, std::uint64_t columns) {
#define EPSFLOW_SUM(n) "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, 1, 1, 1, 0, 0;\n"
      : EPSFLOW_SUM(0), EPSFLOW_SUM(1), EPSFLOW_SUM(2), EPSFLOW_SUM(3), EPSFLOW_SUM(4), EPSFLOW_SUM(5), EPSFLOW_SUM(6),
        EPSFLOW_SUM(7), EPSFLOW_SUM(8), EPSFLOW_SUM(9), EPSFLOW_SUM(10), EPSFLOW_SUM(11), EPSFLOW_SUM(12),
        EPSFLOW_SUM(13), EPSFLOW_SUM(14), EPSFLOW_SUM(15)
      : "l"(rows), "l"(columns));
#undef EPSFLOW_SUM
}

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
/// Waits until at most one committed group of products is unfinished.
__device__ inline void wait_all_but_one() { asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory"); }
/// Waits for all products. The sums are operands, so that the compiler does not move their use ahead of the wait.
__device__ __forceinline__ void wait_products(Sums& sums) {
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
  for (unsigned n = 0; n < kFragments; ++n) {
#pragma unroll
    for (unsigned v = 0; v < 4; ++v) asm volatile("" : "+f"(sums[n][v])::"memory");
  }
}

/// The slices in shared memory, with the barriers of their stages.
class Stages {
 public:
  __device__ Stages(std::byte* slices, std::uint64_t* barriers)
      : slices_((shared_address(slices) + 1023U) & ~1023U), barriers_(shared_address(barriers)) {}

  /// Initialises the barriers. One thread must call it before any other uses them.
  __device__ void init() const {
    for (unsigned stage = 0; stage < kStages; ++stage) {
      full(stage).init(1);
      empty(stage).init(kGroups * kGroupThreads / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  /// The phases of this barrier end when the slices of the row tiles and of the column tile have arrived.
  __device__ Barrier full(unsigned stage) const { return {barriers_ + stage * 8}; }
  /// The phases of this barrier end when all warps that multiply have read the slices.
  __device__ Barrier empty(unsigned stage) const { return {barriers_ + (kStages + stage) * 8}; }
  __device__ std::uint32_t row_slice(unsigned stage, unsigned row) const {
    return slices_ + stage * kStageBytes + row * kSliceBytes;
  }
  __device__ std::uint32_t column_slice(unsigned stage) const { return row_slice(stage, kRowTiles); }
  /// The bounds of the columns of the number-th tile.
  __device__ std::uint32_t bounds(unsigned number) const {
    return slices_ + kStages * kStageBytes + number % kBounds * kBoundBytes;
  }

 private:
  std::uint32_t slices_;
  std::uint32_t barriers_;
};

/// The column bounds of a thread for classify(), in shared memory because registers do not suffice.
struct SharedColumnBounds {
  std::uint32_t address;

  __device__ void of(unsigned n, float (&two)[2]) const {
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];\n" : "=f"(two[0]), "=f"(two[1]) : "r"(address + 32 * n));
  }
};

/// A position in the cycle of stages.
struct StageCursor {
  unsigned stage = 0;
  unsigned phase = 0;

  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1U;
    }
  }
};

/// Copies slices of row tiles (`tiles`) and column tiles (`others`) in the order of a walk, with the bounds of the
/// columns; run by one warp. Walk: as TileWalk<kRowTiles>.
template <class Walk>
__device__ void copy_slices(const ProductTiles<float>& tiles, const ProductTiles<float>& others, Walk walk,
                            const Stages& stages) {
  const std::uint64_t tile_bytes = std::uint64_t{tiles.slices_per_tile} * kSliceBytes;
  StageCursor cursor{0, 1};  // all stages are empty
  for (unsigned number = 0; !walk.done(); walk.next(), ++number) {
    const std::byte* rows[kRowTiles];
    for (unsigned r = 0; r < kRowTiles; ++r) {
      // After the last tile there is nothing to read. The result of such a comparison is not used.
      const std::uint32_t tile = walk.row_tile(r) < tiles.count ? walk.row_tile(r) : walk.row_tile(0);
      rows[r] = tiles.slices + tile * tile_bytes;
    }
    const std::byte* const columns = others.slices + walk.column_tile() * tile_bytes;
    const float* const bounds = others.no + std::uint64_t{walk.column_tile()} * index::kTilePoints;
    for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
      stages.empty(cursor.stage).wait(cursor.phase);
      if (threadIdx.x % 32 == 0) {
        const Barrier full = stages.full(cursor.stage);
        full.expect(kStageBytes + (slice == 0 ? kBoundBytes : 0));
        const std::uint64_t offset = std::uint64_t{slice} * kSliceBytes;
        for (unsigned r = 0; r < kRowTiles; ++r) {
          copy(stages.row_slice(cursor.stage, r), rows[r] + offset, kSliceBytes, full);
        }
        copy(stages.column_slice(cursor.stage), columns + offset, kSliceBytes, full);
        if (slice == 0) copy(stages.bounds(number), bounds, kBoundBytes, full);
      }
      cursor.advance();
    }
  }
}

/// Multiplies tiles; run by one group of warps. Calls judge.prepare(walk, row tile, row) before the products of 64 rows
/// and a column tile, and judge.judge(sums, column bounds, row, column) with these products. row, column: the first
/// ones of the thread. Row tiles that the walk does not want are skipped.
template <class Walk, class Judge>
__device__ void multiply_tiles(const ProductTiles<float>& tiles, Walk walk, const Stages& stages, unsigned group,
                               Judge& judge) {
  const unsigned row_tile = group / 2;
  const unsigned first_row = group % 2 * kGroupRows;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp_row = first_row + threadIdx.x % kGroupThreads / 32 * 16;
  const auto release = [&](unsigned stage) {
    if (lane == 0) stages.empty(stage).arrive();
  };
  StageCursor cursor;
  for (unsigned number = 0; !walk.done(); walk.next(), ++number) {
    if (!walk.wanted(row_tile)) {
      for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
        stages.full(cursor.stage).wait(cursor.phase);
        release(cursor.stage);
        cursor.advance();
      }
      continue;
    }
    const std::uint32_t row = own_row(walk.row_tile(row_tile) * index::kTilePoints + warp_row);
    const std::uint32_t column = own_column(walk.column_tile() * index::kTilePoints);
    judge.prepare(walk, row_tile, row);
    const SharedColumnBounds column_bounds{stages.bounds(number) +
                                           own_column(0) * static_cast<std::uint32_t>(sizeof(float))};
    // Starts from zeros: if the first product overwrote the sums, they would still hold their registers.
    Sums sums[1] = {};
    unsigned before = 0;
    for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
      stages.full(cursor.stage).wait(cursor.phase);
      const std::uint64_t rows = matrix_at(stages.row_slice(cursor.stage, row_tile) + first_row * kRowBytes);
      const std::uint64_t columns = matrix_at(stages.column_slice(cursor.stage));
      const unsigned steps = min(4U, tiles.steps - 4 * slice);
      begin_products();
      for (unsigned step = 0; step < steps; ++step) {
        multiply(sums[0], rows + 2 * step, columns + 2 * step);
      }
      end_products();
      if (slice > 0) {
        wait_all_but_one();
        release(before);
      }
      before = cursor.stage;
      cursor.advance();
    }
    wait_products(sums[0]);
    release(before);
    judge.judge(sums, column_bounds, row, column);
  }
}

}  // namespace epsflow::gpu
