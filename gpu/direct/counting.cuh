// The quantity that a kernel counts around a point: its neighbours, or their weights.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/direct/device_weighing.hpp>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {

/// Counts neighbours, up to the largest minpts.
struct DeviceNeighborCounting {
  using Sum = std::uint32_t;

  std::uint32_t most;   ///< the largest minpts
  std::uint32_t least;  ///< the smallest minpts

  /// Returns the sum over the points of a cell, which are neighbours of each other; a part of it if that is enough().
  __device__ Sum of_cell(std::uint32_t /*cell*/, std::uint32_t points) const { return points; }
  __device__ Sum of_point(std::uint64_t /*position*/) const { return 1; }
  /// Returns true if further neighbours cannot change the count.
  __device__ bool enough(Sum sum) const { return sum >= most; }
  /// Returns a count that reaches the same minpts as the sum.
  __device__ std::uint32_t count(Sum sum) const { return min(sum, most); }
  /// Returns a number of candidates. A point with fewer candidates is not core at any minpts.
  __device__ std::uint32_t fewest_candidates() const { return least; }
};

/// Sums the weights of neighbours, in units of their WeightScale. The count is the largest minpts that the sum reaches,
/// or 0. If a weight is below 0, enough() is always false, because further neighbours may lower the sum.
struct DeviceWeightCounting {
  using Sum = WeightSum;

  WeighingView view;

  __device__ Sum of_cell(std::uint32_t cell, std::uint32_t /*points*/) const { return view.of_cells[cell]; }
  __device__ Sum of_point(std::uint64_t position) const { return __ldg(view.units + position); }
  __device__ bool enough(Sum sum) const { return sum >= view.enough; }
  __device__ std::uint32_t count(Sum sum) const {
    std::uint32_t reached = 0;
    for (std::uint32_t beyond = view.levels; reached < beyond;) {
      const std::uint32_t middle = reached + (beyond - reached) / 2;
      if (sum >= view.least_sums[middle]) {
        reached = middle + 1;
      } else {
        beyond = middle;
      }
    }
    return reached > 0 ? view.minpts[reached - 1] : 0;
  }
  __device__ std::uint32_t fewest_candidates() const { return 0; }
};

/// Returns the sum of the values of all lanes, in every lane. All lanes of the warp must call it.
__device__ inline std::uint32_t warp_sum(std::uint32_t value) { return __reduce_add_sync(tuning::kWholeWarp, value); }
__device__ inline WeightSum warp_sum(WeightSum value) {
  for (unsigned step = 16; step > 0; step /= 2) {
    const auto low = __shfl_xor_sync(tuning::kWholeWarp, static_cast<unsigned long long>(value), step);
    const auto high = __shfl_xor_sync(tuning::kWholeWarp, static_cast<long long>(value >> 64), step);
    value += (static_cast<WeightSum>(high) << 64) + static_cast<WeightSum>(low);
  }
  return value;
}

/// Adds a weight, in units of its WeightScale, to a sum to which other threads add at the same time. After all
/// additions the sum is exact, because the carry of the lower half is added to the upper half.
__device__ inline void atomic_add(WeightSum* sum, std::int64_t weight) {
  auto* const halves = reinterpret_cast<unsigned long long*>(sum);
  const auto low = static_cast<unsigned long long>(weight);
  const unsigned long long before = atomicAdd(halves, low);
  const unsigned long long carry = before + low < before ? 1 : 0;
  const unsigned long long high = (weight < 0 ? ~0ULL : 0ULL) + carry;
  if (high != 0) atomicAdd(halves + 1, high);
}

/// Calls f with DeviceWeightCounting, or with DeviceNeighborCounting if weights is null.
template <class F>
void with_counting(const WeighingView* weights, const MinptsRange& minpts, F f) {
  if (weights != nullptr) {
    f(DeviceWeightCounting{*weights});
  } else {
    f(DeviceNeighborCounting{minpts.most, minpts.least});
  }
}

}  // namespace epsflow::gpu
