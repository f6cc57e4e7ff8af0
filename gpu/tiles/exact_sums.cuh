// Sums of the distance test, between points in their own precision.
#pragma once

#include <cstdint>

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

}  // namespace epsflow::gpu
