// Compares tiles as product_tiles.cu does, on GPUs of compute capability 9.0: the same sums and verdicts, faster.
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/hopper_products.cuh>
#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tile_kernels.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>
#include <epsflow/gpu/tiles/tile_walk.cuh>

namespace epsflow::gpu {
namespace {

using Walk = TileWalk<kRowTiles>;

/// Writes the pairs that products decide.
class PairJudge {
 public:
  __device__ PairJudge(const ProductTiles<float>& tiles, const PairSink& sink)
      : tiles_(tiles),
        pairs_(sink.pairs, sink.pairs_capacity, &sink.counts->pairs, tuning::kReservedPairs),
        open_(sink.open, sink.open_capacity, &sink.counts->open, tuning::kReservedOpen) {}

  __device__ void prepare(const Walk& walk, unsigned row_tile, std::uint32_t row) {
    rows_.load(tiles_.no, row);
    gap_ = __ldg(tiles_.gaps + walk.row_tile(row_tile)) + __ldg(tiles_.gaps + walk.column_tile());
  }
  __device__ __forceinline__ void judge(const Sums (&sums)[1], const SharedColumnBounds& columns, std::uint32_t row,
                                        std::uint32_t column) {
    filter(sums, rows_, columns, row, column, gap_, pairs_, open_);
  }
  __device__ void finish() const {
    pairs_.finish();
    open_.finish();
  }

 private:
  const ProductTiles<float>& tiles_;
  RowBounds<float, 1, 16> rows_;
  float gap_ = 0;
  PairWriter pairs_, open_;
};

__global__ void __launch_bounds__(kThreads, 1)
    hopper_tiles_kernel(ProductTiles<float> tiles, TileWork work, PairSink sink) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte slices[];
  __shared__ std::uint64_t barriers[2 * kStages];
  const Stages stages(slices, barriers);
  const unsigned group = __shfl_sync(tuning::kWholeWarp, threadIdx.x / kGroupThreads, 0);
  if (threadIdx.x == 0) stages.init();
  __syncthreads();
  const Walk walk(work, blockIdx.x, gridDim.x);
  if (group == kGroups) {
    copy_slices(tiles, tiles, walk, stages);
  } else {
    PairJudge judge(tiles, sink);
    multiply_tiles(tiles, walk, stages, group, judge);
    judge.finish();
  }
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
