// Shifts, scales and rounds points for the products, and computes the bounds of each point.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/tiles/tile_kernels.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>

namespace epsflow::gpu {
namespace {

constexpr std::uint32_t kSample = 256;

template <class T>
__global__ void centre_kernel(PointsOnDevice points, double* centre) {
  const std::uint64_t k = direct_thread();
  if (k >= points.dims) return;
  const T* const values = static_cast<const T*>(points.data);
  const std::uint32_t taken = min(points.size, kSample);
  double sum = 0;
  bool whole = true;
  for (std::uint32_t i = 0; i < taken; ++i) {
    const std::uint64_t row = std::uint64_t{i} * points.size / taken;
    const auto value = static_cast<double>(values[row * points.dims + k]);
    sum += value / taken;  // does not overflow
    whole = whole && value == rint(value);
  }
  centre[k] = whole ? rint(sum) : sum;
}

template <class T>
__global__ void survey_kernel(PointsOnDevice points, const double* centre, TileSurvey* survey) {
  const T* const values = static_cast<const T*>(points.data);
  const std::uint64_t count = std::uint64_t{points.size} * points.dims;
  double most = 0;
  bool whole = true;
  for (std::uint64_t i = direct_thread(); i < count; i += std::uint64_t{gridDim.x} * tuning::kDirectThreads) {
    const double value = static_cast<double>(values[i]);
    most = fmax(most, fabs(__dsub_rn(value, centre[i % points.dims])));
    whole = whole && value == rint(value);
  }
  for (unsigned step = 16; step > 0; step /= 2) most = fmax(most, __shfl_xor_sync(tuning::kWholeWarp, most, step));
  const bool all_whole = __all_sync(tuning::kWholeWarp, whole) != 0;
  if (threadIdx.x % 32 != 0) return;
  // The bits of non-negative numbers are ordered as the numbers.
  atomicMax(&survey->farthest, static_cast<unsigned long long>(__double_as_longlong(most)));
  if (!all_whole) survey->fractions = 1;
}

__device__ double sum_of_warp(double value) {
  for (unsigned step = 16; step > 0; step /= 2) value += __shfl_xor_sync(tuning::kWholeWarp, value, step);
  return value;
}

/// Returns coordinate k, shifted and scaled. As the scale is a power of two, it is off by a relative 2^-53.
template <class T>
struct Framed {
  const T* values;
  const double* centre;
  int exponent;

  __device__ double operator()(std::uint32_t k) const {
    return ldexp(__dsub_rn(static_cast<double>(values[k]), centre[k]), exponent);
  }
};

/// Returns the radius from the sum of squared errors and from the frame's roundings.
__device__ double radius_of(double error, double length) {
  return sqrt(error) * (1 + 0x1p-30) + sqrt(length) * 0x1p-51 + 0x1p-500;
}
/// Returns the thresholds of a point. ‖p‖·‖q‖ is at most the mean of the squares, so the error of a product separates
/// into terms of both points.
__device__ index::RealThresholds thresholds_of(const FactorShape& shape, const TileFrame& frame) {
  return index::real_thresholds(shape.norm, frame.gamma * shape.norm / 2, shape.radius, frame.eps);
}

__device__ double rounded_to(double value, float) { return static_cast<double>(__half2float(__double2half(value))); }
__device__ double rounded_to(double value, double) { return value; }
__device__ void put(std::byte* to, double value, float) { *reinterpret_cast<__half*>(to) = __double2half(value); }
__device__ void put(std::byte* to, double value, double) { *reinterpret_cast<double*>(to) = value; }

// `no` allows for the rounding of the sum of two of them. The gap allows for the rounding of the sum of two gaps, and
// of the excess of a product over the bounds.
__device__ float no_of(const index::RealThresholds& t, float) {
  return index::round_down(t.reject - 0x1p-23 * fabs(t.reject));
}
__device__ float gap_of(const index::RealThresholds& t, float no) {
  const double gap = t.accept - static_cast<double>(no);
  return index::round_up(gap + 0x1p-21 * (gap + fabs(t.reject) + fabs(t.accept)));
}
__device__ double no_of(const index::RealThresholds& t, double) { return t.reject - 0x1p-51 * fabs(t.reject); }
__device__ double gap_of(const index::RealThresholds& t, double no) {
  const double gap = t.accept - no;
  return gap + 0x1p-49 * (gap + fabs(t.reject) + fabs(t.accept));
}

/// Sets *most to max(*most, value). The bits of non-negative numbers are ordered as the numbers.
__device__ void raise(float* most, float value) { atomicMax(reinterpret_cast<int*>(most), __float_as_int(value)); }
__device__ void raise(double* most, double value) {
  atomicMax(reinterpret_cast<long long*>(most), __double_as_longlong(value));
}

/// One warp for each row of a tile.
template <class T, class Real>
__global__ void factors_kernel(OrderedPoints points, TileFrame frame, ProductTiles<Real> tiles,
                               std::uint64_t padded_size) {
  constexpr std::uint32_t kBytes = sizeof(Real) / (sizeof(Real) == 4 ? 2 : 1);  // of a factor
  const std::uint64_t position = direct_thread() / 32;
  if (position >= padded_size) return;
  const unsigned lane = threadIdx.x % 32;
  const bool valid = position < points.size;
  const auto id = valid ? points.order[position] : 0U;
  const Framed<T> framed{static_cast<const T*>(points.data) + std::uint64_t{id} * points.dims, frame.centre,
                         frame.exponent};
  std::byte* const tile = tiles.slices + position / index::kTilePoints * tiles.slices_per_tile * kSliceBytes;
  const auto row = static_cast<std::uint32_t>(position % index::kTilePoints);
  double norm = 0;
  double error = 0;
  double length = 0;
  for (std::uint32_t k = lane; k < tiles.slices_per_tile * (kRowBytes / kBytes); k += 32) {
    const double value = valid && k < points.dims ? framed(k) : 0;
    const double factor = rounded_to(value, Real{});
    norm = fma(factor, factor, norm);
    error = fma(value - factor, value - factor, error);
    length = fma(value, value, length);
    put(tile + factor_offset(row, std::uint64_t{k} * kBytes), factor, Real{});
  }
  norm = sum_of_warp(norm);
  error = sum_of_warp(error);
  length = sum_of_warp(length);
  if (lane != 0) return;
  const FactorShape shape{norm, radius_of(error, length)};
  if (valid && tiles.shapes != nullptr) tiles.shapes[position] = shape;
  if (!valid) {
    tiles.no[position] = INFINITY;
  } else if (frame.exact) {
    tiles.no[position] = index::exact_thresholds(norm, frame.limit, 1).reject;
  } else {
    const index::RealThresholds thresholds = thresholds_of(shape, frame);
    const Real no = no_of(thresholds, Real{});
    tiles.no[position] = no;
    raise(tiles.gaps + position / index::kTilePoints, gap_of(thresholds, no));
  }
}

template <class Real>
void launch(const OrderedPoints& points, const TileFrame& frame, const ProductTiles<Real>& tiles, cudaStream_t stream) {
  const std::uint64_t padded_size =
      (std::uint64_t{points.size} + index::kTilePoints - 1) / index::kTilePoints * index::kTilePoints;
  check(cudaMemsetAsync(tiles.gaps, 0, padded_size / index::kTilePoints * sizeof(Real), stream));
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    factors_kernel<T>
        <<<direct_blocks(padded_size * 32), tuning::kDirectThreads, 0, stream>>>(points, frame, tiles, padded_size);
  });
  check_launch(stream);
}

}  // namespace

void launch_centre(PointsOnDevice points, double* centre, cudaStream_t stream) {
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    centre_kernel<T><<<direct_blocks(points.dims), tuning::kDirectThreads, 0, stream>>>(points, centre);
  });
  check_launch(stream);
}

void launch_survey(PointsOnDevice points, const double* centre, TileSurvey* survey, cudaStream_t stream) {
  const std::uint32_t blocks = std::min(direct_blocks(std::uint64_t{points.size} * points.dims), tuning::kSurveyBlocks);
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    survey_kernel<T><<<blocks, tuning::kDirectThreads, 0, stream>>>(points, centre, survey);
  });
  check_launch(stream);
}

void launch_factors(const OrderedPoints& points, const TileFrame& frame, const ProductTiles<float>& tiles,
                    cudaStream_t stream) {
  launch(points, frame, tiles, stream);
}

void launch_factors(const OrderedPoints& points, const TileFrame& frame, const ProductTiles<double>& tiles,
                    cudaStream_t stream) {
  launch(points, frame, tiles, stream);
}

}  // namespace epsflow::gpu
