// Groups of points along the curve whose lanes search together.
#pragma once

#include <epsflow/gpu/base/tuning.hpp>

namespace epsflow::gpu {

/// Points of a group, one for each lane of a warp.
inline constexpr unsigned kGroup = 32;

/// Returns a bit for the first lane, and for each whose point is much farther than usual from the one of the lane
/// before it. All lanes must call it. scale: LeafView::scale.
template <unsigned D>
__device__ __forceinline__ unsigned jumps_of_group(const double (&point)[D], double scale) {
  float far = 0;
#pragma unroll
  for (unsigned k = 0; k < D; ++k) {
    const double before = __shfl_up_sync(tuning::kWholeWarp, point[k], 1);
    far = fmaxf(far, static_cast<float>(fabs(point[k] - before) * scale));
  }
  if (threadIdx.x % 32 == 0) far = 0;
  float sum = far;
#pragma unroll
  for (unsigned other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(tuning::kWholeWarp, sum, other);
  return __ballot_sync(tuning::kWholeWarp, far > tuning::kCurveJump / kGroup * sum) | 1U;
}

/// Writes the box of the points of the lanes with `inside` to shared memory of the warp. All lanes must call it.
template <unsigned D>
__device__ __forceinline__ void write_box_of_lanes(const double (&point)[D], bool inside, double (&low)[D],
                                                   double (&high)[D]) {
  __syncwarp();  // until no lane reads the box before
#pragma unroll
  for (unsigned k = 0; k < D; ++k) {
    double lo = inside ? point[k] : __builtin_huge_val(), hi = inside ? point[k] : -__builtin_huge_val();
#pragma unroll
    for (unsigned other = 16; other > 0; other /= 2) {
      lo = fmin(lo, __shfl_xor_sync(tuning::kWholeWarp, lo, other));
      hi = fmax(hi, __shfl_xor_sync(tuning::kWholeWarp, hi, other));
    }
    low[k] = lo;  // all lanes write the same value
    high[k] = hi;
  }
  __syncwarp();
}

}  // namespace epsflow::gpu
