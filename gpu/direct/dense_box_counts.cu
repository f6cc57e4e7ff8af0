#include <type_traits>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/counting.cuh>
#include <epsflow/gpu/direct/dense_box_kernels.hpp>
#include <epsflow/gpu/direct/dense_box_remaining_points.cuh>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

/// Adds the points of [span.begin, span.end) near `point` to `sum`. May stop when the sum is enough.
template <class T, unsigned D, class Counting>
__device__ typename Counting::Sum count_near(const DenseBoxView& view, const Coordinates<T, D>& point, Span span,
                                             typename Counting::Sum sum, const Counting& counting) {
  constexpr unsigned kAtOnce = 4;
  const auto test = [&](std::uint32_t q) {
    return near_enough(point, load_coordinates<T, D>(view.points, q), view.eps_squared) ? counting.of_point(q)
                                                                                        : typename Counting::Sum{0};
  };
  std::uint32_t q = span.begin;
  while (q < span.end && span.end - q >= kAtOnce && !counting.enough(sum)) {
#pragma unroll
    for (unsigned k = 0; k < kAtOnce; ++k) sum += test(q + k);
    q += kAtOnce;
  }
  for (; q < span.end && !counting.enough(sum); ++q) sum += test(q);
  return sum;
}

/// Counts for a point whose cell is not enough. Returns false if it would have to test more than `limit` candidates.
template <class T, unsigned D, class Counting>
__device__ bool count_around(const DenseBoxView& view, std::uint32_t position, std::uint32_t cell, Span own,
                             const Counting& counting, std::uint32_t limit, std::uint32_t& count) {
  const Coordinates<T, D> point = load_coordinates<T, D>(view.points, position);
  const CellReach<D> reach(view, point);
  const std::uint64_t key = key_of(view, cell);
  typename Counting::Sum sum = counting.of_cell(cell, own.end - own.begin);
  if (const std::uint32_t least = counting.fewest_candidates(); least >= tuning::kBoundFromMinpts) {
    std::uint64_t candidates = 0;
    for (unsigned r = 0; r < view.row_count && candidates < least; ++r) {
      const Span span = row_in_reach(view, reach, view.rows[r], key);
      candidates += span.end - span.begin;
    }
    if (candidates < least) {
      count = counting.count(sum);
      return true;
    }
  }
  const auto add = [&](Span span) {
    const std::uint32_t end = span.end - span.begin <= limit ? span.end : span.begin + limit;
    sum = count_near(view, point, {span.begin, end}, sum, counting);
    limit -= end - span.begin;
    return end == span.end || counting.enough(sum);
  };
  for (unsigned r = 0; r < view.row_count && !counting.enough(sum); ++r) {
    const Span span = row_in_reach(view, reach, view.rows[r], key);
    if (r == 0) {  // the row of the cell itself, whose points are already counted
      if (!add({span.begin, own.begin}) || !add({own.end, span.end})) return false;
    } else if (!add(span)) {
      return false;
    }
  }
  count = counting.count(sum);
  return true;
}

/// Requested number of blocks on a multiprocessor if neighbours are counted.
template <unsigned D, class Counting>
inline constexpr unsigned kBlocks =
    D == 3 || !std::is_same_v<Counting, DeviceNeighborCounting> ? 0 : tuning::kCountBlocks;

template <class T, unsigned D, class Counting>
__global__ void __launch_bounds__(tuning::kDirectThreads, kBlocks<D, Counting>)
    count_kernel(DenseBoxView view, Range positions, std::uint32_t most, Counting counting, RemainingPoints remaining,
                 std::uint32_t* counts, std::uint32_t* core_bits) {
  const std::uint64_t p = positions.begin + direct_thread();
  std::uint32_t count = 0;
  if (p < positions.end) {
    const std::uint32_t cell = view.cell_of[p];
    const Span own{__ldg(view.starts + cell), __ldg(view.starts + cell + 1)};
    if (const auto of_cell = counting.of_cell(cell, own.end - own.begin); counting.enough(of_cell)) {
      count = most;
    } else {
      const auto position = static_cast<std::uint32_t>(p);
      (void)search_or_leave(remaining, position, [&](std::uint32_t limit) {
        return count_around<T, D>(view, position, cell, own, counting, limit, count);
      });
    }
    if (counts != nullptr) counts[p] = count;
  }
  if (core_bits == nullptr) return;
  const unsigned word = __ballot_sync(tuning::kWholeWarp, p < positions.end && count >= most);
  if (p < positions.end && threadIdx.x % 32 == 0) core_bits[p / 32] = word;
}

/// Returns the sum over a block of kPairThreads threads to all of them.
template <class Sum>
__device__ Sum block_sum(Sum value) {
  constexpr unsigned kWarps = tuning::kPairThreads / 32;
  __shared__ Sum sums[kWarps];
  const Sum of_warp = warp_sum(value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = of_warp;
  __syncthreads();
  Sum sum = 0;
  for (unsigned w = 0; w < kWarps; ++w) sum += sums[w];
  __syncthreads();
  return sum;
}

/// One block for each point: all threads process the same rows.
template <class T, unsigned D, class Counting>
__global__ void __launch_bounds__(tuning::kPairThreads)
    remaining_counts_kernel(DenseBoxView view, std::uint32_t most, Counting counting, RemainingPoints remaining,
                            std::uint32_t* counts, std::uint32_t* core_bits) {
  const std::uint32_t items = min(remaining.tally->remaining, remaining.capacity);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::uint32_t position = remaining.positions[item];
    const std::uint32_t cell = view.cell_of[position];
    const Span own{__ldg(view.starts + cell), __ldg(view.starts + cell + 1)};
    const Coordinates<T, D> point = load_coordinates<T, D>(view.points, position);
    const CellReach<D> reach(view, point);
    const std::uint64_t key = key_of(view, cell);
    typename Counting::Sum sum = counting.of_cell(cell, own.end - own.begin);
    for (unsigned r = 0; r < view.row_count && !counting.enough(sum); ++r) {
      const Span span = row_in_reach(view, reach, view.rows[r], key);
      for (std::uint64_t first = span.begin; first < span.end && !counting.enough(sum);
           first += tuning::kBlockCandidates) {
        const std::uint64_t end = min(first + tuning::kBlockCandidates, std::uint64_t{span.end});
        typename Counting::Sum found = 0;
        for (std::uint64_t q = first + threadIdx.x; q < end; q += tuning::kPairThreads) {
          const bool counted = q >= own.begin && q < own.end;
          if (!counted && near_enough(point, load_coordinates<T, D>(view.points, q), view.eps_squared)) {
            found += counting.of_point(q);
          }
        }
        sum += block_sum(found);
      }
    }
    if (threadIdx.x != 0) continue;
    const std::uint32_t count = counting.count(sum);
    if (counts != nullptr) counts[position] = count;
    if (core_bits != nullptr && count >= most) atomicOr(core_bits + position / 32, 1U << (position % 32));
  }
}

}  // namespace

void launch_count_dense_boxes(const DenseBoxView& view, Range positions, const MinptsRange& minpts,
                              const WeighingView* weights, const RemainingPoints& remaining, std::uint32_t* counts,
                              std::uint32_t* core_bits, cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    with_counting(weights, minpts, [&]<class Counting>(const Counting& counting) {
      count_kernel<T, D><<<direct_blocks(positions.size()), tuning::kDirectThreads, 0, stream>>>(
          view, positions, minpts.most, counting, remaining, counts, core_bits);
    });
  });
  check_launch(stream);
}

void launch_remaining_counts(const DenseBoxView& view, const MinptsRange& minpts, const WeighingView* weights,
                             const RemainingPoints& remaining, std::uint32_t* counts, std::uint32_t* core_bits,
                             cudaStream_t stream) {
  with_point_types(view.precision, view.dims, [&]<class T, unsigned D>() {
    with_counting(weights, minpts, [&]<class Counting>(const Counting& counting) {
      remaining_counts_kernel<T, D><<<tuning::kPairBlocks, tuning::kPairThreads, 0, stream>>>(
          view, minpts.most, counting, remaining, counts, core_bits);
    });
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu
