// Finds the candidates of rows as row_candidates.cu does, on GPUs of compute capability 9.0: the same sums and
// candidates, faster.
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/collect_candidates.cuh>
#include <epsflow/gpu/tiles/hopper_products.cuh>
#include <epsflow/gpu/tiles/row_candidates.hpp>
#include <epsflow/gpu/tiles/tile_walk.cuh>

namespace epsflow::gpu {
namespace {

class HopperJudge {
 public:
  __device__ HopperJudge(const ProductTiles<float>& rows, const ColumnChoice& choice,
                         const CandidateSlots<float>& slots)
      : tiles_(rows), choice_(choice), slots_(slots) {}

  __device__ void prepare(const TileWalk<kRowTiles>& /*walk*/, unsigned /*row_tile*/, std::uint32_t row) {
    rows_.load(tiles_.no, row);
  }
  __device__ __forceinline__ void judge(const Sums (&sums)[1], const SharedColumnBounds& columns, std::uint32_t row,
                                        std::uint32_t column) const {
    collect(sums, rows_, columns, row, column, choice_, slots_);
  }

 private:
  const ProductTiles<float>& tiles_;
  const ColumnChoice& choice_;
  const CandidateSlots<float>& slots_;
  RowBounds<float, 1, 16> rows_;
};

__global__ void __launch_bounds__(kThreads, 1)
    hopper_candidates_kernel(const __grid_constant__ ProductTiles<float> rows,
                             const __grid_constant__ ProductTiles<float> columns, TileWork work,
                             const __grid_constant__ ColumnChoice choice,
                             const __grid_constant__ CandidateSlots<float> slots) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte slices[];
  __shared__ std::uint64_t barriers[2 * kStages];
  const Stages stages(slices, barriers);
  const unsigned group = __shfl_sync(tuning::kWholeWarp, threadIdx.x / kGroupThreads, 0);
  if (threadIdx.x == 0) stages.init();
  __syncthreads();
  const TileWalk<kRowTiles> walk(work, blockIdx.x, gridDim.x);
  if (group == kGroups) {
    copy_slices(rows, columns, walk, stages);
  } else {
    HopperJudge judge(rows, choice, slots);
    multiply_tiles(rows, walk, stages, group, judge);
  }
#endif
}

}  // namespace

void launch_hopper_candidates(const ProductTiles<float>& rows, const ProductTiles<float>& columns, const TileWork& work,
                              const ColumnChoice& choice, const CandidateSlots<float>& slots, unsigned multiprocessors,
                              cudaStream_t stream) {
  check(cudaFuncSetAttribute(hopper_candidates_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  hopper_candidates_kernel<<<multiprocessors, kThreads, kSharedBytes, stream>>>(rows, columns, work, choice, slots);
  check_launch(stream);
}

}  // namespace epsflow::gpu
