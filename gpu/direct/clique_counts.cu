#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/direct/clique_kernels.hpp>
#include <epsflow/gpu/direct/clique_remaining_points.cuh>
#include <epsflow/gpu/direct/clique_view.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kDirectThreads;

/// Counts points of [span.begin, span.end) near `place`, on top of `count`, and may stop at `most`.
template <class T, unsigned D>
__device__ std::uint32_t count_near(const CliqueView& view, const Place<T, D>& place, Span span, std::uint32_t count,
                                    std::uint32_t most) {
  constexpr unsigned kAtOnce = 4;
  const auto test = [&](std::uint32_t q) {
    return near_enough(place, load_place<T, D>(view.points, q), view.eps_squared) ? 1U : 0U;
  };
  std::uint32_t q = span.begin;
  while (q < span.end && span.end - q >= kAtOnce && count < most) {
#pragma unroll
    for (unsigned k = 0; k < kAtOnce; ++k) count += test(q + k);
    q += kAtOnce;
  }
  for (; q < span.end && count < most; ++q) count += test(q);
  return count;
}

/// Neighbours of a point whose cell alone does not have `most` points, or kGaveUp.
template <class T, unsigned D>
__device__ std::uint32_t count_around(const CliqueView& view, std::uint32_t position, std::uint32_t cell, Span own,
                                      std::uint32_t most, std::uint32_t least, std::uint32_t limit) {
  const Place<T, D> place = load_place<T, D>(view.points, position);
  const CellReach<D> reach(view, place);
  const std::uint64_t key = key_of(view, cell);
  std::uint32_t count = own.end - own.begin;
  if (least >= tuning::kBoundFromMinpts) {
    std::uint64_t candidates = 0;
    for (unsigned r = 0; r < view.row_count && candidates < least; ++r) {
      const Span span = row_in_reach(view, reach, view.rows[r], key);
      candidates += span.end - span.begin;
    }
    if (candidates < least) return count;
  }
  const auto add = [&](Span span) {
    const std::uint32_t end = span.end - span.begin <= limit ? span.end : span.begin + limit;
    count = count_near(view, place, {span.begin, end}, count, most);
    limit -= end - span.begin;
    return end == span.end || count >= most;
  };
  for (unsigned r = 0; r < view.row_count && count < most; ++r) {
    const Span span = row_in_reach(view, reach, view.rows[r], key);
    if (r == 0) {  // the row of the cell itself, whose points are counted already
      if (!add({span.begin, own.begin}) || !add({own.end, span.end})) return kGaveUp;
    } else if (!add(span)) {
      return kGaveUp;
    }
  }
  return count;
}

template <class T, unsigned D>
__global__ void __launch_bounds__(kThreads, D == 3 ? 0 : tuning::kCountBlocks)
    count_kernel(CliqueView view, Range positions, std::uint32_t most, std::uint32_t least, RemainingPoints remaining,
                 std::uint32_t* counts, std::uint32_t* core_bits) {
  const std::uint64_t p = positions.begin + direct_thread();
  std::uint32_t count = 0;
  if (p < positions.end) {
    const std::uint32_t cell = view.cell_of[p];
    const Span own{__ldg(view.starts + cell), __ldg(view.starts + cell + 1)};
    count = own.end - own.begin;
    if (count < most) {
      const auto position = static_cast<std::uint32_t>(p);
      count = search_or_leave(remaining, position, [&](std::uint32_t limit) {
        return count_around<T, D>(view, position, cell, own, most, least, limit);
      });
      if (count == kGaveUp) count = 0;
    }
    if (counts != nullptr) counts[p] = min(count, most);
  }
  if (core_bits == nullptr) return;
  const unsigned word = __ballot_sync(kWholeWarp, p < positions.end && count >= most);
  if (p < positions.end && threadIdx.x % 32 == 0) core_bits[p / 32] = word;
}

/// Sum over a block of kPairThreads threads, the same for all of them.
__device__ inline std::uint32_t block_sum(std::uint32_t value) {
  constexpr unsigned kWarps = tuning::kPairThreads / 32;
  __shared__ std::uint32_t sums[kWarps];
  const std::uint32_t of_warp = __reduce_add_sync(kWholeWarp, value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = of_warp;
  __syncthreads();
  std::uint32_t sum = 0;
  for (unsigned w = 0; w < kWarps; ++w) sum += sums[w];
  __syncthreads();
  return sum;
}

/// A block per point: all of its threads walk along the same rows.
template <class T, unsigned D>
__global__ void __launch_bounds__(tuning::kPairThreads)
    remaining_counts_kernel(CliqueView view, std::uint32_t most, RemainingPoints remaining, std::uint32_t* counts,
                            std::uint32_t* core_bits) {
  const std::uint32_t items = min(remaining.tally->remaining, remaining.capacity);
  for (std::uint32_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::uint32_t position = remaining.positions[item];
    const std::uint32_t cell = view.cell_of[position];
    const Span own{__ldg(view.starts + cell), __ldg(view.starts + cell + 1)};
    const Place<T, D> place = load_place<T, D>(view.points, position);
    const CellReach<D> reach(view, place);
    const std::uint64_t key = key_of(view, cell);
    std::uint32_t count = own.end - own.begin;
    for (unsigned r = 0; r < view.row_count && count < most; ++r) {
      const Span span = row_in_reach(view, reach, view.rows[r], key);
      for (std::uint64_t first = span.begin; first < span.end && count < most; first += tuning::kBlockCandidates) {
        const std::uint64_t end = min(first + tuning::kBlockCandidates, std::uint64_t{span.end});
        std::uint32_t found = 0;
        for (std::uint64_t q = first + threadIdx.x; q < end; q += tuning::kPairThreads) {
          const bool counted = q >= own.begin && q < own.end;
          found += !counted && near_enough(place, load_place<T, D>(view.points, q), view.eps_squared) ? 1 : 0;
        }
        count += block_sum(found);
      }
    }
    if (threadIdx.x != 0) continue;
    if (counts != nullptr) counts[position] = min(count, most);
    if (core_bits != nullptr && count >= most) atomicOr(core_bits + position / 32, 1U << (position % 32));
  }
}

}  // namespace

void launch_count_cliques(const CliqueView& view, Range positions, std::uint32_t most, std::uint32_t least,
                          const RemainingPoints& remaining, std::uint32_t* counts, std::uint32_t* core_bits,
                          cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    count_kernel<T, D><<<direct_blocks(positions.size()), kThreads, 0, stream>>>(view, positions, most, least,
                                                                                 remaining, counts, core_bits);
  });
  check_launch(stream);
}

void launch_remaining_counts(const CliqueView& view, std::uint32_t most, const RemainingPoints& remaining,
                             std::uint32_t* counts, std::uint32_t* core_bits, cudaStream_t stream) {
  for_places(view.precision, view.dims, [&]<class T, unsigned D>() {
    remaining_counts_kernel<T, D>
        <<<tuning::kPairBlocks, tuning::kPairThreads, 0, stream>>>(view, most, remaining, counts, core_bits);
  });
  check_launch(stream);
}

}  // namespace epsflow::gpu
