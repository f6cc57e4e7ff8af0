// Products of half precision on the tensor cores of compute capability 9.0, in groups of four warps, fed by bulk copies. The same
// tiles, the same sums and the same verdicts as product_tiles.cu; compiled for that capability alone.
//
// A block of threads has a warp that copies, and two groups of warps that multiply: each compares a row tile of its own with the
// column tiles that both share. They run ahead of each other as far as there are stages, so that while one judges its products
// the other multiplies.
#include <epsflow/gpu/error.hpp>
#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tile_kernels.hpp>
#include <epsflow/gpu/tiles/tile_sift.cuh>
#include <epsflow/gpu/tiles/tile_tuning.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kGroups = 2;
constexpr unsigned kGroupThreads = 128;
constexpr unsigned kThreads = (kGroups + 1) * kGroupThreads;  // the last group's first warp copies
constexpr unsigned kStages = 4;
constexpr unsigned kStageBytes = (kGroups + 1) * kSliceBytes;
constexpr unsigned kSharedBytes = kStages * kStageBytes + 1024;  // aligned by the kernel
constexpr unsigned kCopyRegisters = 40;
constexpr unsigned kProductRegisters = 232;

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// A barrier in shared memory whose phases alternate.
struct Barrier {
  std::uint32_t address;

  __device__ void init(unsigned arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(address), "r"(arrivals));
  }
  __device__ void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(address) : "memory");
  }
  __device__ void expect(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(address), "r"(bytes) : "memory");
  }
  /// Until the phase of that parity is over.
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

__device__ void copy_slice(std::uint32_t to, const std::byte* from, Barrier full) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(to),
               "l"(from), "n"(kSliceBytes), "r"(full.address)
               : "memory");
}

/// Where a group of warps finds a matrix in shared memory: rows of 128 bytes, their pieces exchanged, eight of them after eight.
__device__ std::uint64_t matrix_at(std::uint32_t address) {
  constexpr std::uint64_t kExchange128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kEightRows = std::uint64_t{1024 >> 4} << 32;
  return kExchange128 | kEightRows | std::uint64_t{1} << 16 | (address & 0x3FFFFU) >> 4U;
}

constexpr unsigned kFragments = index::kTilePoints / 8;
using Sums = float[kFragments][4];  // of 16 of 64 rows × 128 columns

/// sums += (or =, where `add` is 0) the products of 64 rows and 128 columns, 16 coordinates.
__device__ __forceinline__ void multiply(Sums& sums, std::uint64_t rows, std::uint64_t columns, int add) {
#define EPSFLOW_SUM(n) "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1, 0, 0;\n"
      "}\n"
      : EPSFLOW_SUM(0), EPSFLOW_SUM(1), EPSFLOW_SUM(2), EPSFLOW_SUM(3), EPSFLOW_SUM(4), EPSFLOW_SUM(5), EPSFLOW_SUM(6),
        EPSFLOW_SUM(7), EPSFLOW_SUM(8), EPSFLOW_SUM(9), EPSFLOW_SUM(10), EPSFLOW_SUM(11), EPSFLOW_SUM(12),
        EPSFLOW_SUM(13), EPSFLOW_SUM(14), EPSFLOW_SUM(15)
      : "l"(rows), "l"(columns), "r"(add));
#undef EPSFLOW_SUM
}

__device__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ void end_products() { asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
/// Until at most one ended set of products is under way.
__device__ void wait_all_but_one() { asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory"); }
/// Until all are done. The sums are named lest the compiler moves their use before it.
__device__ __forceinline__ void wait_products(Sums (&sums)[2]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#pragma unroll
  for (unsigned n = 0; n < kFragments; ++n) {
#pragma unroll
    for (unsigned v = 0; v < 4; ++v) {
      asm volatile("" : "+f"(sums[0][n][v]), "+f"(sums[1][n][v])::"memory");
    }
  }
}

/// Goes through pairs of row tiles with the column tiles that either is compared with. Whole warps walk together, and what they
/// read is made known to the compiler as the same for all lanes: products in what it takes for divergent code wait for each other.
class PairedWalk {
 public:
  __device__ PairedWalk(const TileWork& work, std::uint64_t first, std::uint64_t step)
      : work_(work), at_(first), step_(step), end_(work.size() * (index::kBlockTiles / kGroups)) {
    find();
  }

  __device__ bool done() const { return at_ >= end_; }
  __device__ std::uint64_t row_tile(unsigned group) const { return row_tile_ + group; }
  __device__ std::uint64_t column_tile() const { return first_column_ + column(); }
  /// Whether the group's row tile is compared with the column tile.
  __device__ bool wanted(unsigned group) const { return (rows_ >> (group * 8 + column()) & 1U) != 0; }
  __device__ void next() {
    left_ &= left_ - 1;
    if (left_ != 0) return;
    at_ += step_;
    find();
  }

 private:
  __device__ unsigned column() const { return static_cast<unsigned>(__ffs(static_cast<int>(left_))) - 1; }
  __device__ void find() {
    constexpr unsigned kUnits = index::kBlockTiles / kGroups;
    for (; at_ < end_; at_ += step_) {
      const index::TileBlock block = work_.blocks[work_.first + at_ / kUnits * work_.stride];
      const auto unit = static_cast<unsigned>(at_ % kUnits);
      rows_ = __shfl_sync(kWholeWarp, static_cast<unsigned>(block.pairs >> (unit * kGroups * 8) & 0xFFFFU), 0);
      left_ = (rows_ | rows_ >> 8U) & 0xFFU;
      if (left_ == 0) continue;
      row_tile_ = __shfl_sync(kWholeWarp, block.rows, 0) * index::kBlockTiles + unit * kGroups;
      first_column_ = __shfl_sync(kWholeWarp, block.columns, 0) * index::kBlockTiles;
      return;
    }
  }

  const TileWork& work_;
  std::uint64_t at_;
  std::uint64_t step_;
  std::uint64_t end_;
  std::uint32_t row_tile_ = 0;
  std::uint32_t first_column_ = 0;
  unsigned rows_ = 0;
  unsigned left_ = 0;
};

__global__ void __launch_bounds__(kThreads, 1)
    hopper_tiles_kernel(ProductTiles<float> tiles, TileWork work, PairSink sink) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte shared_bytes[];
  __shared__ std::uint64_t barriers[2 * kStages];
  const std::uint32_t stages = (shared_address(shared_bytes) + 1023U) & ~1023U;
  const auto full = [&](unsigned stage) { return Barrier{shared_address(barriers + stage)}; };
  const auto empty = [&](unsigned stage) { return Barrier{shared_address(barriers + kStages + stage)}; };
  const unsigned group = __shfl_sync(kWholeWarp, threadIdx.x / kGroupThreads, 0);
  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < kStages; ++stage) {
      full(stage).init(1);
      empty(stage).init(kGroups * kGroupThreads / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  }
  __syncthreads();
  const std::uint64_t tile_bytes = std::uint64_t{tiles.slices_per_tile} * kSliceBytes;

  if (group == kGroups) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kCopyRegisters));
    if (threadIdx.x >= kGroups * kGroupThreads + 32) return;
    unsigned stage = 0;
    unsigned phase = 1;  // all stages are empty
    for (PairedWalk walk(work, blockIdx.x, gridDim.x); !walk.done(); walk.next()) {
      const std::byte* rows[kGroups];
      for (unsigned g = 0; g < kGroups; ++g) {
        // Behind the last tile is nothing to read; nobody looks at what is compared with it.
        const std::uint64_t tile = walk.row_tile(g) < tiles.count ? walk.row_tile(g) : walk.row_tile(0);
        rows[g] = tiles.slices + tile * tile_bytes;
      }
      const std::byte* const columns = tiles.slices + walk.column_tile() * tile_bytes;
      for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
        empty(stage).wait(phase);
        if (threadIdx.x % 32 == 0) {
          const Barrier ready = full(stage);
          ready.expect(kStageBytes);
          const std::uint32_t to = stages + stage * kStageBytes;
          const std::uint64_t offset = std::uint64_t{slice} * kSliceBytes;
          for (unsigned g = 0; g < kGroups; ++g) copy_slice(to + g * kSliceBytes, rows[g] + offset, ready);
          copy_slice(to + kGroups * kSliceBytes, columns + offset, ready);
        }
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1U;
        }
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kProductRegisters));
  const unsigned warp_row = threadIdx.x % kGroupThreads / 32 * 16;
  const bool first_lane = threadIdx.x % 32 == 0;
  PairWriter pairs(sink.pairs, sink.room, &sink.counts->pairs, tuning::kPairPlaces);
  PairWriter asked(sink.asked, sink.asked_room, &sink.counts->asked, tuning::kAskedPlaces);
  unsigned stage = 0;
  unsigned phase = 0;
  const auto advance = [&] {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1U;
    }
  };
  for (PairedWalk walk(work, blockIdx.x, gridDim.x); !walk.done(); walk.next()) {
    if (!walk.wanted(group)) {
      for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
        full(stage).wait(phase);
        if (first_lane) empty(stage).arrive();
        advance();
      }
      continue;
    }
    const std::uint64_t row = own_row(walk.row_tile(group) * index::kTilePoints + warp_row);
    const std::uint64_t column = own_column(walk.column_tile() * index::kTilePoints);
    RowBounds<float, 2, 64> row_bounds;
    ColumnBounds<float, kFragments> column_bounds;
    row_bounds.load(tiles.no, row);
    column_bounds.load(tiles.no, column);
    const float gap = __ldg(tiles.gaps + walk.row_tile(group)) + __ldg(tiles.gaps + walk.column_tile());
    Sums sums[2];  // of the upper and the lower 64 rows
    unsigned before = 0;
    for (unsigned slice = 0; slice < tiles.slices_per_tile; ++slice) {
      full(stage).wait(phase);
      const std::uint32_t at = stages + stage * kStageBytes;
      const std::uint64_t rows = matrix_at(at + group * kSliceBytes);
      const std::uint64_t columns = matrix_at(at + kGroups * kSliceBytes);
      constexpr std::uint64_t kHalf = kSliceBytes / 2 >> 4U;  // 64 rows, in units of 16 bytes
      const unsigned steps = min(4U, tiles.steps - 4 * slice);
      begin_products();
      for (unsigned step = 0; step < steps; ++step) {
        const int add = slice + step > 0 ? 1 : 0;
        multiply(sums[0], rows + 2 * step, columns + 2 * step, add);
        multiply(sums[1], rows + kHalf + 2 * step, columns + 2 * step, add);
      }
      end_products();
      if (slice > 0) {
        wait_all_but_one();
        if (first_lane) empty(before).arrive();
      }
      before = stage;
      advance();
    }
    wait_products(sums);
    if (first_lane) empty(before).arrive();
    sift(sums, row_bounds, column_bounds, row, column, gap, pairs, asked);
  }
  pairs.finish();
  asked.finish();
#endif
}

}  // namespace

void launch_hopper_tiles(const ProductTiles<float>& tiles, const TileWork& work, const PairSink& sink,
                         unsigned multiprocessors, cudaStream_t stream) {
  check(cudaFuncSetAttribute(hopper_tiles_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  hopper_tiles_kernel<<<multiprocessors, kThreads, kSharedBytes, stream>>>(tiles, work, sink);
  check_launch(stream);
}

}  // namespace epsflow::gpu
