// Decides pairs of tiles by half-precision products on tensor cores, with the bounds of index/tile_frame.hpp. After
// FaSTED (Curless & Gowanlock, ICPP 2025): tiles of 128 × 128 points, slices of 64 coordinates through shared memory,
// pieces swizzled against bank conflicts. Differences: one half of the symmetric pairs; verdicts that are certain or
// left to float64; slices of the next tile are loaded while this one is classified; a full list loses nothing.
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tensor_products.cuh>
#include <epsflow/gpu/tiles/tile_filter.cuh>
#include <epsflow/gpu/tiles/tile_kernels.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>
#include <epsflow/gpu/tiles/tile_walk.cuh>

namespace epsflow::gpu {
namespace {

/// Writes the pairs that products decide.
template <class Real>
class ProductJudge {
 public:
  __device__ ProductJudge(const ProductTiles<Real>& tiles, const PairSink& sink)
      : tiles_(tiles),
        pairs_(sink.pairs, sink.pairs_capacity, &sink.counts->pairs, tuning::kReservedPairs),
        open_(sink.open, sink.open_capacity, &sink.counts->open, tuning::kReservedOpen) {}

  __device__ void prepare(const TileWalk<1>& walk) {
    gap_ = __ldg(tiles_.gaps + walk.row_tile()) + __ldg(tiles_.gaps + walk.column_tile());
  }
  template <class Sums, class Rows, class Columns>
  __device__ __forceinline__ void judge(const Sums& sums, const Rows& rows, const Columns& columns, std::uint32_t row,
                                        std::uint32_t column) {
    filter(sums, rows, columns, row, column, gap_, pairs_, open_);
  }
  __device__ void finish() const {
    pairs_.finish();
    open_.finish();
  }

 private:
  const ProductTiles<Real>& tiles_;
  PairWriter pairs_, open_;
  Real gap_ = 0;
};

template <class Real>
__global__ void __launch_bounds__(kProductThreads, sizeof(Real) == 4 ? 2 : 1)
    product_tiles_kernel(ProductTiles<Real> tiles, TileWork work, PairSink sink) {
  extern __shared__ __align__(128) std::byte stages[];
  ProductJudge<Real> judge(tiles, sink);
  multiply_tiles(tiles, tiles, TileWalk<1>(work, blockIdx.x, gridDim.x), stages, judge);
  judge.finish();
}

template <class Real>
void launch(const ProductTiles<Real>& tiles, const TileWork& work, const PairSink& sink, unsigned multiprocessors,
            cudaStream_t stream) {
  constexpr unsigned kBlocks = sizeof(Real) == 4 ? 2 : 1;
  check(cudaFuncSetAttribute(product_tiles_kernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kProductSharedBytes));
  product_tiles_kernel<Real>
      <<<kBlocks * multiprocessors, kProductThreads, kProductSharedBytes, stream>>>(tiles, work, sink);
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
