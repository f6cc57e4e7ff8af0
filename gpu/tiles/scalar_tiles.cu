// The test of index/distance.hpp on pairs of tiles and on single pairs.
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tile_kernels.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>
#include <epsflow/gpu/tiles/tile_walk.cuh>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kScalarThreads = 256;  // 16 × 16, each with 8 × 8 pairs
constexpr unsigned kSide = 16;
constexpr unsigned kEach = index::kTilePoints / kSide;
constexpr unsigned kDepth = 8;  // coordinates of a slice

/// Sums stay in registers while slices of coordinates go through shared memory, in the order that the test requires.
/// Sums never decrease: after all exceed the limit, the remaining coordinates cannot change the answer.
template <class T>
__global__ void __launch_bounds__(kScalarThreads)
    scalar_tiles_kernel(OrderedPoints points, TileWork work, PairSink sink) {
  __shared__ double rows[kDepth][index::kTilePoints + 1];
  __shared__ double columns[kDepth][index::kTilePoints + 1];
  const T* const data = static_cast<const T*>(points.data);
  const unsigned across = threadIdx.x % kSide;
  const unsigned down = threadIdx.x / kSide;
  const auto load = [&](double(&to)[kDepth][index::kTilePoints + 1], std::uint64_t first, std::uint32_t slice) {
    for (unsigned i = threadIdx.x; i < kDepth * index::kTilePoints; i += kScalarThreads) {
      const std::uint64_t position = first + i / kDepth;
      const std::uint32_t k = slice + i % kDepth;
      to[i % kDepth][i / kDepth] =
          position < points.size && k < points.dims
              ? static_cast<double>(data[std::uint64_t{points.order[position]} * points.dims + k])
              : 0;
    }
  };
  PairWriter pairs(sink.pairs, sink.pairs_capacity, &sink.counts->pairs, tuning::kReservedPairs);
  for (TileWalk<1> walk(work, blockIdx.x, gridDim.x); !walk.done(); walk.next()) {
    const std::uint64_t first_row = std::uint64_t{walk.row_tile()} * index::kTilePoints;
    const std::uint64_t first_column = std::uint64_t{walk.column_tile()} * index::kTilePoints;
    double sums[kEach][kEach] = {};
    for (std::uint32_t slice = 0; slice < points.dims; slice += kDepth) {
      load(rows, first_row, slice);
      load(columns, first_column, slice);
      __syncthreads();
      for (unsigned k = 0; k < kDepth && slice + k < points.dims; ++k) {
        double a[kEach];
        double b[kEach];
        for (unsigned i = 0; i < kEach; ++i) a[i] = rows[k][down + kSide * i];
        for (unsigned j = 0; j < kEach; ++j) b[j] = columns[k][across + kSide * j];
        for (unsigned i = 0; i < kEach; ++i) {
          for (unsigned j = 0; j < kEach; ++j) {
            const double difference = index::rounded_difference(a[i], b[j]);
            sums[i][j] = index::rounded_sum(sums[i][j], index::rounded_product(difference, difference));
          }
        }
      }
      bool open = false;
      for (unsigned i = 0; i < kEach; ++i) {
        for (unsigned j = 0; j < kEach; ++j) open |= sums[i][j] <= points.eps_squared;
      }
      if (__syncthreads_or(open ? 1 : 0) == 0) break;
    }
    std::uint64_t found = 0;
    for (unsigned i = 0; i < kEach; ++i) {
      for (unsigned j = 0; j < kEach; ++j) {
        const std::uint64_t row = first_row + down + kSide * i;
        const std::uint64_t column = first_column + across + kSide * j;
        if (row < column && column < points.size && sums[i][j] <= points.eps_squared) {
          found |= std::uint64_t{1} << (i * kEach + j);
        }
      }
    }
    while (true) {
      const unsigned takers = __ballot_sync(tuning::kWholeWarp, found != 0);
      if (takers == 0) break;
      const auto bit = found == 0 ? 0U : static_cast<unsigned>(__ffsll(static_cast<long long>(found))) - 1;
      pairs.put(takers, {static_cast<std::uint32_t>(first_row + down + kSide * (bit / kEach)),
                         static_cast<std::uint32_t>(first_column + across + kSide * (bit % kEach))});
      found &= found - 1;
    }
  }
  pairs.finish();
}

/// From this many coordinates on a warp works on one pair, because reads of single threads are far apart.
constexpr std::uint32_t kWarpDims = 64;

/// Tests a pair that is the same in all lanes. Lanes sum in parallel. The sum of at most 4096 squares in another order
/// differs by less than a relative 2^-40, so only sums closer to eps² are computed again in the order of the test.
template <class T>
__device__ bool is_near(const OrderedPoints& points, PointPair pair) {
  const T* const data = static_cast<const T*>(points.data);
  const T* const p = data + std::uint64_t{points.order[pair.first]} * points.dims;
  const T* const q = data + std::uint64_t{points.order[pair.second]} * points.dims;
  double sum = 0;
  for (std::uint32_t k = threadIdx.x % 32; k < points.dims; k += 32) {
    const double difference = static_cast<double>(__ldg(p + k)) - static_cast<double>(__ldg(q + k));
    sum = fma(difference, difference, sum);
  }
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(tuning::kWholeWarp, sum, step);
  if (sum <= points.eps_squared * (1 - 0x1p-39)) return true;
  if (sum >= points.eps_squared * (1 + 0x1p-39)) return false;
  return index::is_neighbor<0>([p](std::size_t k) { return __ldg(p + k); }, [q](std::size_t k) { return __ldg(q + k); },
                               points.dims, points.eps_squared);
}

/// Tests the undecided pairs, 32 in each warp at a time.
template <class T>
__global__ void __launch_bounds__(kScalarThreads) undecided_pairs_kernel(OrderedPoints points, PairSink sink) {
  const T* const data = static_cast<const T*>(points.data);
  const std::uint64_t count = min(static_cast<std::uint64_t>(sink.counts->open), sink.open_capacity);
  const unsigned lane = threadIdx.x % 32;
  PairWriter pairs(sink.pairs, sink.pairs_capacity, &sink.counts->pairs, tuning::kReservedOpen);
  const std::uint64_t step = std::uint64_t{gridDim.x} * kScalarThreads;
  for (std::uint64_t at = direct_thread(); at - lane < count; at += step) {
    const PointPair pair = at < count ? sink.open[at] : PointPair{kNoPoint, kNoPoint};
    unsigned takers = 0;
    if (points.dims >= kWarpDims) {
      for (unsigned left = __ballot_sync(tuning::kWholeWarp, pair.first != kNoPoint); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        const PointPair one{__shfl_sync(tuning::kWholeWarp, pair.first, from),
                            __shfl_sync(tuning::kWholeWarp, pair.second, from)};
        if (is_near<T>(points, one)) takers |= 1U << from;
      }
    } else {
      bool yes = false;
      if (pair.first != kNoPoint) {
        const T* const p = data + std::uint64_t{points.order[pair.first]} * points.dims;
        const T* const q = data + std::uint64_t{points.order[pair.second]} * points.dims;
        yes = index::is_neighbor<0>([p](std::size_t k) { return __ldg(p + k); },
                                    [q](std::size_t k) { return __ldg(q + k); }, points.dims, points.eps_squared);
      }
      takers = __ballot_sync(tuning::kWholeWarp, yes);
    }
    if (takers != 0) pairs.put(takers, pair);
  }
  pairs.finish();
}

}  // namespace

void launch_scalar_tiles(const OrderedPoints& points, const TileWork& work, const PairSink& sink,
                         unsigned multiprocessors, cudaStream_t stream) {
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    scalar_tiles_kernel<T><<<multiprocessors, kScalarThreads, 0, stream>>>(points, work, sink);
  });
  check_launch(stream);
}

void launch_undecided_pairs(const OrderedPoints& points, const PairSink& sink, unsigned multiprocessors,
                            cudaStream_t stream) {
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    undecided_pairs_kernel<T><<<8 * multiprocessors, kScalarThreads, 0, stream>>>(points, sink);
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu
