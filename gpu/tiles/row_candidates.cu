#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/tiles/collect_candidates.cuh>
#include <epsflow/gpu/tiles/row_candidates.hpp>
#include <epsflow/gpu/tiles/tensor_products.cuh>
#include <epsflow/gpu/tiles/tile_walk.cuh>

namespace epsflow::gpu {
namespace {

template <class Real>
struct CandidateJudge {
  const ColumnChoice& choice;
  const CandidateSlots<Real>& slots;

  __device__ void prepare(const TileWalk<1>& /*walk*/) const {}
  template <class Sums, class Rows, class Columns>
  __device__ __forceinline__ void judge(const Sums& sums, const Rows& rows, const Columns& columns, std::uint32_t row,
                                        std::uint32_t column) const {
    collect(sums, rows, columns, row, column, choice, slots);
  }
};

template <class Real>
__global__ void __launch_bounds__(kProductThreads, sizeof(Real) == 4 ? 2 : 1)
    row_candidates_kernel(const __grid_constant__ ProductTiles<Real> rows,
                          const __grid_constant__ ProductTiles<Real> columns, TileWork work,
                          const __grid_constant__ ColumnChoice choice,
                          const __grid_constant__ CandidateSlots<Real> slots) {
  extern __shared__ __align__(128) std::byte stages[];
  const CandidateJudge<Real> judge{choice, slots};
  multiply_tiles(rows, columns, TileWalk<1>(work, blockIdx.x, gridDim.x), stages, judge);
}

template <class Real>
void launch_candidates(const ProductTiles<Real>& rows, const ProductTiles<Real>& columns, const TileWork& work,
                       const ColumnChoice& choice, const CandidateSlots<Real>& slots, unsigned multiprocessors,
                       cudaStream_t stream) {
  const unsigned blocks = (sizeof(Real) == 4 ? 2 : 1) * multiprocessors;
  check(cudaFuncSetAttribute(row_candidates_kernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kProductSharedBytes));
  row_candidates_kernel<Real>
      <<<blocks, kProductThreads, kProductSharedBytes, stream>>>(rows, columns, work, choice, slots);
  check_launch(stream);
}

}  // namespace

void launch_row_candidates(const ProductTiles<float>& rows, const ProductTiles<float>& columns, const TileWork& work,
                           const ColumnChoice& choice, const CandidateSlots<float>& slots, unsigned multiprocessors,
                           cudaStream_t stream) {
  launch_candidates(rows, columns, work, choice, slots, multiprocessors, stream);
}

void launch_row_candidates(const ProductTiles<double>& rows, const ProductTiles<double>& columns, const TileWork& work,
                           const ColumnChoice& choice, const CandidateSlots<double>& slots, unsigned multiprocessors,
                           cudaStream_t stream) {
  launch_candidates(rows, columns, work, choice, slots, multiprocessors, stream);
}

}  // namespace epsflow::gpu
