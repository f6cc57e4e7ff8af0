#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/direct/counting.cuh>
#include <epsflow/gpu/direct/disjoint_sets.cuh>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/tiles/pair_kernels.hpp>
#include <epsflow/gpu/tiles/pair_writer.cuh>
#include <epsflow/gpu/tiles/tile_tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Calls visit(pair) for the pairs of the list, spread over all threads.
template <class Visit>
__device__ void for_each_pair(PairsOnDevice list, Visit visit) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * tuning::kDirectThreads;
  for (std::uint64_t at = direct_thread(); at < list.size; at += step) {
    const auto words = __ldcs(reinterpret_cast<const uint2*>(list.pairs) + at);
    if (words.x != kNoPoint) visit(PointPair{words.x, words.y});
  }
}

std::uint32_t blocks_for(PairsOnDevice list) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      (list.size + tuning::kDirectThreads - 1) / tuning::kDirectThreads, 1, tuning::kListBlocks));
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    count_pairs_kernel(PairsOnDevice list, std::uint32_t* counts) {
  for_each_pair(list, [&](PointPair pair) {
    atomicAdd(counts + pair.first, 1U);
    atomicAdd(counts + pair.second, 1U);
  });
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    sum_pairs_kernel(PairsOnDevice list, const std::int64_t* units, WeightSum* sums) {
  for_each_pair(list, [&](PointPair pair) {
    atomic_add(sums + pair.first, __ldg(units + pair.second));
    atomic_add(sums + pair.second, __ldg(units + pair.first));
  });
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    unite_pairs_kernel(PairsOnDevice list, const std::uint32_t* core_bits, const std::uint32_t* before,
                       std::uint32_t* parents) {
  const DisjointSets sets(parents);
  for_each_pair(list, [&](PointPair pair) {
    if (!bit_of(core_bits, pair.first) || !bit_of(core_bits, pair.second)) return;
    if (before != nullptr && bit_of(before, pair.first) && bit_of(before, pair.second)) return;
    if (sets.parent(pair.first) == sets.parent(pair.second)) return;
    sets.unite(pair.first, pair.second);
  });
}

__device__ bool is_needed(PointPair pair, const std::uint32_t* core_bits) {
  return !bit_of(core_bits, pair.first) || !bit_of(core_bits, pair.second);
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    count_needed_pairs_kernel(PairsOnDevice list, const std::uint32_t* core_bits, unsigned long long* count) {
  unsigned of_thread = 0;
  for_each_pair(list, [&](PointPair pair) { of_thread += is_needed(pair, core_bits) ? 1 : 0; });
  const unsigned of_warp = __reduce_add_sync(tuning::kWholeWarp, of_thread);
  if (threadIdx.x % 32 == 0 && of_warp > 0) atomicAdd(count, static_cast<unsigned long long>(of_warp));
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    copy_needed_pairs_kernel(PairsOnDevice list, const std::uint32_t* core_bits, PointPair* to, std::uint64_t capacity,
                             unsigned long long* count) {
  PairWriter writer(to, capacity, count, tuning::kReservedPairs);
  const std::uint64_t step = std::uint64_t{gridDim.x} * tuning::kDirectThreads;
  for (std::uint64_t at = direct_thread(); at - threadIdx.x % 32 < list.size; at += step) {
    const PointPair pair = at < list.size ? list.pairs[at] : PointPair{kNoPoint, kNoPoint};
    const unsigned takers = __ballot_sync(tuning::kWholeWarp, pair.first != kNoPoint && is_needed(pair, core_bits));
    if (takers != 0) writer.put(takers, pair);
  }
  writer.finish();
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    offer_numbers_kernel(PairsOnDevice list, const std::uint32_t* core_bits, const std::uint32_t* numbers,
                         std::uint32_t* lowest) {
  for_each_pair(list, [&](PointPair pair) {
    const bool first = bit_of(core_bits, pair.first);
    if (first == bit_of(core_bits, pair.second)) return;
    const std::uint32_t core = first ? pair.first : pair.second;
    const std::uint32_t other = first ? pair.second : pair.first;
    const std::uint32_t number = __ldg(numbers + core) & kNumberMask;
    const volatile std::uint32_t* const seen = lowest + other;
    if (*seen > number) atomicMin(lowest + other, number);
  });
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    label_pairs_kernel(std::uint32_t size, const std::uint32_t* order, const std::uint32_t* numbers,
                       const std::uint32_t* lowest, std::int32_t* labels, std::uint32_t* sizes, Tally* tally) {
  const std::uint64_t p = direct_thread();
  bool noise = false;
  bool border = false;
  std::uint32_t number = kNoNumber;
  if (p < size) {
    number = numbers[p] & kNumberMask;
    if (number == kNoNumber) {
      number = min(lowest[p], kNoNumber);
      noise = number == kNoNumber;
      border = !noise;
    }
    if (labels != nullptr) labels[order[p]] = noise ? kNoise : static_cast<std::int32_t>(number);
  }
  tally_points(tally, noise, border);
  add_by_block(sizes, border, number, 1);
}

__global__ void __launch_bounds__(tuning::kDirectThreads)
    pair_keys_kernel(PairsOnDevice list, PairKeys shape, std::uint64_t* keys, unsigned long long* count) {
  constexpr unsigned kEach = 8;  // pairs of a thread for each atomic of its warp
  const unsigned lane = threadIdx.x % 32;
  // No range of rows contains kNoPoint.
  const auto wanted = [&](std::uint32_t row) { return row >= shape.rows.begin && row < shape.rows.end; };
  const std::uint64_t step = std::uint64_t{gridDim.x} * tuning::kDirectThreads * kEach;
  for (std::uint64_t at = direct_thread() / 32 * 32 * kEach + lane; at - lane < list.size; at += step) {
    PointPair pairs[kEach];
    unsigned found = 0;
    for (unsigned i = 0; i < kEach; ++i) {
      const std::uint64_t entry = at + 32 * i;
      pairs[i] = entry < list.size ? list.pairs[entry] : PointPair{kNoPoint, kNoPoint};
      found += wanted(pairs[i].first) ? 1 : 0;
      found += wanted(pairs[i].second) ? 1 : 0;
    }
    found = __reduce_add_sync(tuning::kWholeWarp, found);
    if (found == 0) continue;
    unsigned long long next = 0;
    if (lane == 0) next = atomicAdd(count, static_cast<unsigned long long>(found));
    next = __shfl_sync(tuning::kWholeWarp, next, 0);
    const auto put = [&](std::uint32_t row, std::uint32_t neighbor) {
      const unsigned takers = __ballot_sync(tuning::kWholeWarp, wanted(row));
      if (wanted(row)) {
        keys[next + __popc(takers & ((1U << lane) - 1))] =
            std::uint64_t{row - shape.rows.begin} << shape.bits | neighbor;
      }
      next += __popc(takers);
    };
    for (unsigned i = 0; i < kEach; ++i) {
      put(pairs[i].first, pairs[i].second);
      put(pairs[i].second, pairs[i].first);
    }
  }
}

__global__ void fill_kernel(std::uint32_t* values, std::uint64_t size, std::uint32_t value) {
  const std::uint64_t i = direct_thread();
  if (i < size) values[i] = value;
}

__global__ void begin_keys_kernel(PairKeys shape, std::uint64_t* keys, unsigned long long* count) {
  const std::uint64_t i = direct_thread();
  if (i == 0) *count = shape.rows.end - shape.rows.begin;
  if (i < shape.rows.end - shape.rows.begin) keys[i] = i << shape.bits | (shape.rows.begin + i);
}

__global__ void ids_of_keys_kernel(const std::uint64_t* keys, std::uint64_t size, unsigned bits, std::uint32_t* ids) {
  const std::uint64_t i = direct_thread();
  if (i < size) ids[i] = static_cast<std::uint32_t>(keys[i] & ((std::uint64_t{1} << bits) - 1));
}

}  // namespace

void launch_count_pairs(PairsOnDevice list, std::uint32_t* counts, cudaStream_t stream) {
  count_pairs_kernel<<<blocks_for(list), tuning::kDirectThreads, 0, stream>>>(list, counts);
  check_launch(stream);
}

void launch_sum_pairs(PairsOnDevice list, const WeighingView& weights, WeightSum* sums, cudaStream_t stream) {
  sum_pairs_kernel<<<blocks_for(list), tuning::kDirectThreads, 0, stream>>>(list, weights.units, sums);
  check_launch(stream);
}

void launch_unite_pairs(PairsOnDevice list, const std::uint32_t* core_bits, const std::uint32_t* before,
                        std::uint32_t* parents, cudaStream_t stream) {
  unite_pairs_kernel<<<blocks_for(list), tuning::kDirectThreads, 0, stream>>>(list, core_bits, before, parents);
  check_launch(stream);
}

void launch_count_needed_pairs(PairsOnDevice list, const std::uint32_t* core_bits, unsigned long long* count,
                               cudaStream_t stream) {
  check(cudaMemsetAsync(count, 0, sizeof(*count), stream));
  count_needed_pairs_kernel<<<blocks_for(list), tuning::kDirectThreads, 0, stream>>>(list, core_bits, count);
  check_launch(stream);
}

void launch_copy_needed_pairs(PairsOnDevice list, const std::uint32_t* core_bits, PointPair* to, std::uint64_t capacity,
                              unsigned long long* count, cudaStream_t stream) {
  check(cudaMemsetAsync(count, 0, sizeof(*count), stream));
  copy_needed_pairs_kernel<<<blocks_for(list), tuning::kDirectThreads, 0, stream>>>(list, core_bits, to, capacity,
                                                                                    count);
  check_launch(stream);
}

std::uint64_t most_copy_gaps() noexcept {
  return std::uint64_t{tuning::kListBlocks} * (tuning::kDirectThreads / 32) * tuning::kReservedPairs;
}

void launch_offer_numbers(PairsOnDevice list, const std::uint32_t* core_bits, const std::uint32_t* numbers,
                          std::uint32_t* lowest, cudaStream_t stream) {
  offer_numbers_kernel<<<blocks_for(list), tuning::kDirectThreads, 0, stream>>>(list, core_bits, numbers, lowest);
  check_launch(stream);
}

void launch_label_pairs(std::uint32_t size, const std::uint32_t* order, const std::uint32_t* numbers,
                        const std::uint32_t* lowest, std::int32_t* labels, std::uint32_t* sizes, Tally* tally,
                        cudaStream_t stream) {
  label_pairs_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(size, order, numbers, lowest, labels,
                                                                                 sizes, tally);
  check_launch(stream);
}

void launch_pair_keys(PairsOnDevice list, PairKeys shape, std::uint64_t* keys, unsigned long long* count,
                      cudaStream_t stream) {
  pair_keys_kernel<<<blocks_for(list), tuning::kDirectThreads, 0, stream>>>(list, shape, keys, count);
  check_launch(stream);
}

void launch_fill(std::uint32_t* values, std::uint64_t size, std::uint32_t value, cudaStream_t stream) {
  fill_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(values, size, value);
  check_launch(stream);
}

void launch_begin_keys(PairKeys shape, std::uint64_t* keys, unsigned long long* count, cudaStream_t stream) {
  begin_keys_kernel<<<direct_blocks(shape.rows.size()), tuning::kDirectThreads, 0, stream>>>(shape, keys, count);
  check_launch(stream);
}

void launch_ids_of_keys(TwoBuffers<std::uint64_t> keys, std::uint64_t size, PairKeys shape, std::uint32_t* ids,
                        Scratch scratch) {
  cub::DoubleBuffer<std::uint64_t> buffers(keys.current, keys.other);
  const auto bits = static_cast<int>(shape.bits + static_cast<unsigned>(std::bit_width(shape.rows.size())));
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, buffers, size, 0, bits, scratch.stream);
  });
  ids_of_keys_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, scratch.stream>>>(buffers.Current(), size,
                                                                                         shape.bits, ids);
  check_launch(scratch.stream);
}

}  // namespace epsflow::gpu
