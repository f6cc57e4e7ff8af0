// Sums of the distance test, between points in their own precision.
#pragma once

#include <cstdint>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/tiles/tile_view.hpp>
#include <epsflow/index/distance.hpp>

namespace epsflow::gpu {

/// Returns the squared distance of two positions, as index::squared_distance() computes it.
template <class T>
__device__ double exact_sum(const OrderedPoints& points, std::uint32_t p, std::uint32_t q) {
  const T* const data = static_cast<const T*>(points.data);
  const T* const a = data + std::uint64_t{points.order[p]} * points.dims;
  const T* const b = data + std::uint64_t{points.order[q]} * points.dims;
  return index::squared_distance<0>([a](std::size_t k) { return __ldg(a + k); },
                                    [b](std::size_t k) { return __ldg(b + k); }, points.dims);
}

/// Sets sums[i] to the squared distance of p and others[i], off by less than a relative 2^-40: the lanes of a warp
/// share the coordinates. The whole warp must call it with the same positions. All lanes get the sums.
template <class T, unsigned kAtOnce>
__device__ void near_sums(const OrderedPoints& points, std::uint32_t p, const std::uint32_t (&others)[kAtOnce],
                          double (&sums)[kAtOnce]) {
  const T* const data = static_cast<const T*>(points.data);
  const T* const a = data + std::uint64_t{points.order[p]} * points.dims;
  const T* b[kAtOnce];
  for (unsigned i = 0; i < kAtOnce; ++i) {
    b[i] = data + std::uint64_t{points.order[others[i]]} * points.dims;
    sums[i] = 0;
  }
  for (std::uint32_t k = threadIdx.x % 32; k < points.dims; k += 32) {
    const auto coordinate = static_cast<double>(__ldg(a + k));
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const double difference = coordinate - static_cast<double>(__ldg(b[i] + k));
      sums[i] = fma(difference, difference, sums[i]);
    }
  }
  for (unsigned step = 16; step > 0; step /= 2) {
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) sums[i] += __shfl_xor_sync(tuning::kWholeWarp, sums[i], step);
  }
}

}  // namespace epsflow::gpu
