#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/dense_box_bounds.cuh>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/dense_box_members.cuh>
#include <epsflow/gpu/direct/dense_box_pair_queue.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {
namespace {

/// `count` positions: begin, begin + stride, …
struct StridedRange {
  std::uint32_t begin;
  std::uint32_t count;
  std::uint32_t stride;

  __device__ std::uint32_t at(std::uint32_t i) const { return begin + i * stride; }
};
/// Returns at most kPairPart positions spread over a cell.
__device__ inline StridedRange spread(Span span) {
  const std::uint32_t size = span.end - span.begin;
  return {span.begin, min(size, tuning::kPairPart), max(1U, size / tuning::kPairPart)};
}

/// Returns the bounds of a cell's core points to all threads of the block.
template <class T, unsigned D>
__device__ PointBounds<D> core_bounds(const DenseBoxView& view, const Nodes& nodes, const Members& cell,
                                      StridedRange steps) {
  constexpr unsigned kWarps = tuning::kPairThreads / 32;
  __shared__ PointBounds<D> of_warps[kWarps];
  PointBounds<D> bounds;
  bounds.clear();
  for (std::uint32_t i = threadIdx.x; i < steps.count; i += tuning::kPairThreads) {
    if (cell.is_core(nodes, steps.at(i))) bounds.add(load_coordinates<T, D>(view.points, steps.at(i)));
  }
  for (unsigned k = 0; k < D; ++k) {
    for (unsigned step = 16; step > 0; step /= 2) {
      bounds.lo[k] = fmin(bounds.lo[k], __shfl_xor_sync(tuning::kWholeWarp, bounds.lo[k], static_cast<int>(step)));
      bounds.hi[k] = fmax(bounds.hi[k], __shfl_xor_sync(tuning::kWholeWarp, bounds.hi[k], static_cast<int>(step)));
    }
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = bounds;
  __syncthreads();
  for (unsigned w = 0; w < kWarps; ++w) {
    for (unsigned k = 0; k < D; ++k) {
      bounds.lo[k] = fmin(bounds.lo[k], of_warps[w].lo[k]);
      bounds.hi[k] = fmax(bounds.hi[k], of_warps[w].hi[k]);
    }
  }
  __syncthreads();
  return bounds;
}

/// Compares core points of two ranges: tiles of shared memory hold points of `larger` near the other's bounds.
template <class T, unsigned D>
__device__ bool compare_in_block(const DenseBoxView& view, const Nodes& nodes, const DisjointSets& sets,
                                 const QueuedPair& pair, StridedRange larger, StridedRange smaller) {
  __shared__ T tile[D][tuning::kPairThreads];
  __shared__ unsigned tile_size;
  const Members large(nodes, pair.larger);
  const Members small(nodes, pair.smaller);
  const PointBounds<D> bounds = core_bounds<T, D>(view, nodes, small, smaller);
  for (std::uint32_t first = 0; first < larger.count; first += tuning::kPairThreads) {
    if (threadIdx.x == 0) tile_size = 0;
    __syncthreads();
    const std::uint32_t i = first + threadIdx.x;
    if (i < larger.count && large.is_core(nodes, larger.at(i))) {
      const Coordinates<T, D> point = load_coordinates<T, D>(view.points, larger.at(i));
      if (may_be_near(point, bounds, view.eps_squared)) {
        const unsigned at = atomicAdd(&tile_size, 1U);
        for (unsigned k = 0; k < D; ++k) tile[k][at] = point.x[k];
      }
    }
    __syncthreads();
    const unsigned size = tile_size;
    if (size == 0) {
      __syncthreads();  // before tile_size is reset
      continue;
    }
    bool hit = false;
    for (std::uint32_t j = threadIdx.x; j < smaller.count && !hit; j += tuning::kPairThreads) {
      const std::uint32_t q = smaller.at(j);
      if (!small.is_core(nodes, q)) continue;
      const Coordinates<T, D> point = load_coordinates<T, D>(view.points, q);
      for (unsigned t = 0; t < size; ++t) {
        hit |= index::is_neighbor<D>([&](std::size_t k) { return point.x[k]; },
                                     [&](std::size_t k) { return tile[k][t]; }, D, view.eps_squared);
      }
    }
    if (__syncthreads_or(hit ? 1 : 0) != 0) return true;
    // Other blocks may have connected the two meanwhile.
    if (in_one_set(sets, pair.larger, pair.smaller)) return false;
  }
  return false;
}

template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    queued_pairs_kernel(DenseBoxView view, Nodes nodes, CellSets cell_sets) {
  const DisjointSets sets(cell_sets.parents);
  const PairQueue& queue = cell_sets.queue;
  const std::uint32_t queued = min(queue.tally->queued, queue.capacity);
  for (std::uint32_t item = blockIdx.x; item < queued; item += gridDim.x) {
    const QueuedPair pair = queue.pairs[item];
    if (in_one_set(sets, pair.larger, pair.smaller)) continue;
    const Span large = Members(nodes, pair.larger).span;
    const Span small = Members(nodes, pair.smaller).span;
    const bool huge = small.end - small.begin >= tuning::kHugeCell;
    StridedRange part = spread(large);
    if (!huge) {
      const std::uint32_t skipped = pair.part * tuning::kPairPart;
      part = {large.begin + skipped, min(tuning::kPairPart, large.end - large.begin - skipped), 1};
    }
    const StridedRange others = huge ? spread(small) : StridedRange{small.begin, small.end - small.begin, 1};
    const bool near = compare_in_block<T, D>(view, nodes, sets, pair, part, others);
    if (threadIdx.x == 0) {
      if (near) {
        sets.unite(pair.larger, pair.smaller);
      } else if (huge && sets.find(pair.larger) != sets.find(pair.smaller)) {
        list_huge(queue, pair.larger, pair.smaller);
      }
    }
  }
}

}  // namespace

void launch_queued_pairs(const DenseBoxView& view, const Nodes& nodes, const CellSets& sets, cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    queued_pairs_kernel<T, D><<<tuning::kPairBlocks, tuning::kPairThreads, 0, stream>>>(view, nodes, sets);
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu
