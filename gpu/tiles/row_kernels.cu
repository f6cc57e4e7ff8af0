#include <cuda_runtime.h>

#include <numeric>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_types.hpp>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/tiles/exact_sums.cuh>
#include <epsflow/gpu/tiles/row_kernels.hpp>

namespace epsflow::gpu {
namespace {

/// A block is one warp, which has one row.
constexpr unsigned kSortThreads = 32;
/// A bound of rows that every product exceeds, together with every bound of a column.
constexpr float kAnyDistance = -0x1p100F;
/// From this many dimensions on, lanes share the coordinates of a candidate.
constexpr std::uint32_t kSharedDims = 32;

__global__ void shape_extremes_kernel(const FactorShape* shapes, std::uint32_t count, ShapeExtremes* extremes) {
  double norm = 0, radius = 0;
  for (std::uint64_t i = direct_thread(); i < count; i += std::uint64_t{gridDim.x} * tuning::kDirectThreads) {
    norm = fmax(norm, shapes[i].norm);
    radius = fmax(radius, shapes[i].radius);
  }
  // The bits of non-negative numbers are ordered as the numbers.
  atomicMax(&extremes->norm, static_cast<unsigned long long>(__double_as_longlong(norm)));
  atomicMax(&extremes->radius, static_cast<unsigned long long>(__double_as_longlong(radius)));
}

__global__ void scatter_order_kernel(std::uint32_t size, std::uint64_t step, std::uint32_t* order) {
  const std::uint64_t i = direct_thread();
  if (i < size) order[i] = static_cast<std::uint32_t>(i * step % size);
}

__global__ void ids_of_kernel(const std::uint32_t* positions, const std::uint32_t* order, std::uint32_t count,
                              std::uint32_t* ids) {
  const std::uint64_t i = direct_thread();
  if (i < count) ids[i] = order[positions[i]];
}

/// Returns a bound, lowered by what its computation in float64 and the sum of two of them may be off.
__device__ float lowered(double bound, double magnitude, float) {
  return index::round_down(bound - 0x1p-39 * magnitude - 0x1p-23 * fabs(bound));
}
__device__ double lowered(double bound, double magnitude, double) { return bound - 0x1p-39 * magnitude; }
template <class Real>
__device__ Real row_bound(const FactorShape& shape, const RowFrame& frame, double radius) {
  const double error = frame.gamma * shape.norm / 2;
  const double outer = radius * (1 + 0x1p-38) + shape.radius + frame.most_radius;
  return lowered(shape.norm / 2 - error - outer * outer / 2, shape.norm + error + outer * outer, Real{});
}
/// Returns a radius within which the candidate of this nearness is.
template <class Real>
__device__ double radius_from(const FactorShape& shape, const RowFrame& frame, Real nearness) {
  const double errors = frame.gamma * (shape.norm + 2 * frame.most_norm);  // 2e_p + 4e_q
  const double rounded =
      (sizeof(Real) == 4 ? 0x1p-19 : 0x1p-37) * (shape.norm + frame.most_norm + fabs(static_cast<double>(nearness)));
  return sqrt(fmax(shape.norm + errors + rounded - 2 * static_cast<double>(nearness), 0.0)) + shape.radius +
         frame.most_radius;
}

template <class Real>
__global__ void column_bounds_kernel(const FactorShape* shapes, RowFrame frame, std::uint32_t count,
                                     std::uint32_t places, Real* no) {
  const std::uint64_t q = direct_thread();
  if (q >= places) return;
  if (q >= count) {
    no[q] = INFINITY;
    return;
  }
  const double norm = shapes[q].norm;
  no[q] = lowered(norm / 2 - frame.gamma * norm / 2, norm, Real{});
}

template <class Real>
__global__ void open_rows_kernel(std::uint32_t count, std::uint32_t places, Real* no) {
  const std::uint64_t p = direct_thread();
  if (p < places) no[p] = p < count ? kAnyDistance : static_cast<Real>(INFINITY);
}

template <class Real>
__global__ void bound_rows_kernel(const FactorShape* shapes, RowFrame frame, const double* limits, std::uint32_t count,
                                  std::uint32_t places, Real* no) {
  const std::uint64_t i = direct_thread();
  if (i >= places) return;
  const double limit = i < count ? limits[i] : -1;
  if (limit < 0) {
    no[i] = INFINITY;
  } else {
    no[i] = isinf(limit) ? kAnyDistance
                         : row_bound<Real>(shapes[i], frame, ldexp(sqrt(limit), frame.exponent) * (1 + 0x1p-38));
  }
}

/// Returns numbers as integers in the same order, and back.
__device__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ float from_ordered(unsigned bits) {
  return __uint_as_float((bits & 0x80000000U) != 0 ? bits & 0x7FFFFFFFU : ~bits);
}
__device__ unsigned long long ordered(double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  return (bits & 0x8000000000000000U) != 0 ? ~bits : bits | 0x8000000000000000U;
}
__device__ double from_ordered(unsigned long long bits) {
  return __longlong_as_double(
      static_cast<long long>((bits & 0x8000000000000000U) != 0 ? bits & 0x7FFFFFFFFFFFFFFFU : ~bits));
}

/// Returns the wanted-th largest of `count` values, by bisection of its bits. The whole warp must call it.
template <class Real>
__device__ Real largest_but(const Real* values, std::uint32_t count, std::uint32_t wanted) {
  const unsigned lane = threadIdx.x % 32;
  auto value = ordered(Real{});
  value = 0;
  for (auto bit = ordered(Real{}); bit != 0; bit >>= 1U) {  // 0 has the first bit alone
    const auto tried = value | bit;
    unsigned above = 0;
    for (std::uint32_t i = lane; i < count; i += 32) above += ordered(values[i]) >= tried ? 1 : 0;
    if (__reduce_add_sync(tuning::kWholeWarp, above) >= wanted) value = tried;
  }
  return from_ordered(value);
}

/// One warp for each row.
template <class Real>
__global__ void narrow_kernel(const __grid_constant__ NearestRows<Real> rows, RowFrame frame,
                              const __grid_constant__ CandidateSlots<Real> slots, std::uint32_t begin, bool again,
                              std::uint32_t* lost) {
  const std::uint64_t warp = direct_thread() / 32;
  if (warp >= rows.count) return;
  const auto p = static_cast<std::uint32_t>(warp);
  const unsigned lane = threadIdx.x % 32;
  if (again && rows.overflown[p] == 0) return;
  std::uint32_t* const columns = slots.columns + warp * slots.room;
  Real* const nearness = slots.nearness + warp * slots.room;
  const std::uint32_t found = slots.counts[p];
  const std::uint32_t count = min(found, slots.room);
  Real no = rows.no[p];
  if (count >= rows.wanted) {
    const double radius = radius_from(rows.shapes[p], frame, largest_but(nearness, count, rows.wanted));
    no = max(no, row_bound<Real>(rows.shapes[p], frame, radius));
  }
  const bool overflown = found > slots.room;
  std::uint32_t kept = 0;
  for (std::uint32_t first = 0; first < count; first += 32) {
    const std::uint32_t i = first + lane;
    const std::uint32_t column = i < count ? columns[i] : 0;
    const Real near = i < count ? nearness[i] : 0;
    const bool keeps = i < count && near >= no && !(overflown && column >= begin);
    const unsigned keepers = __ballot_sync(tuning::kWholeWarp, keeps);
    const std::uint32_t at = kept + __popc(keepers & ((1U << lane) - 1));
    if (keeps) columns[at] = column;
    if (keeps) nearness[at] = near;
    kept += __popc(keepers);
    __syncwarp();
  }
  if (lane != 0) return;
  slots.counts[p] = kept;
  rows.no[p] = no;
  rows.masked[p] = overflown ? no : static_cast<Real>(INFINITY);
  rows.overflown[p] = overflown ? 1 : 0;
  if (overflown) atomicAdd(lost, 1U);
}

/// Returns how many of `count` candidates are before one with this sum and column.
__device__ std::uint32_t rank_of(const double* sums, const std::uint32_t* columns, std::uint32_t count, double sum,
                                 std::uint32_t column) {
  std::uint32_t rank = 0;
  for (std::uint32_t j = 0; j < count; ++j) {
    rank += sums[j] < sum || (sums[j] == sum && columns[j] < column) ? 1 : 0;
  }
  return rank;
}

/// Removes the candidates that are not among the `length` nearest by sums that the lanes compute together. Returns how
/// many are left.
template <class T>
__device__ std::uint32_t remove_far(const OrderedPoints& points, std::uint32_t p, std::uint32_t length, double* sums,
                                    std::uint32_t* columns, std::uint32_t count) {
  constexpr unsigned kAtOnce = 4;
  const unsigned lane = threadIdx.x;
  for (std::uint32_t first = 0; first < count; first += kAtOnce) {
    std::uint32_t others[kAtOnce];
    double found[kAtOnce];
    for (unsigned i = 0; i < kAtOnce; ++i) others[i] = columns[min(first + i, count - 1)];
    near_sums<T>(points, p, others, found);
    for (unsigned i = 0; i < kAtOnce; ++i) {
      if (lane == 0 && first + i < count) sums[first + i] = found[i];
    }
  }
  __syncwarp();
  double last = 0;  // the length-th smallest sum
  for (unsigned long long bit = 1ULL << 62U, value = 0; bit != 0; bit >>= 1U) {
    const auto tried = __longlong_as_double(static_cast<long long>(value | bit));
    unsigned below = 0;
    for (std::uint32_t i = lane; i < count; i += 32) below += sums[i] < tried ? 1 : 0;
    if (__reduce_add_sync(tuning::kWholeWarp, below) < length) {
      value |= bit;
      last = tried;
    }
  }
  last *= 1 + 0x1p-38;
  std::uint32_t kept = 0;
  for (std::uint32_t first = 0; first < count; first += 32) {
    const std::uint32_t i = first + lane;
    const std::uint32_t column = i < count ? columns[i] : 0;
    const bool keeps = i < count && sums[i] <= last;
    const unsigned keepers = __ballot_sync(tuning::kWholeWarp, keeps);
    if (keeps) columns[kept + __popc(keepers & ((1U << lane) - 1))] = column;
    kept += __popc(keepers);
    __syncwarp();
  }
  return kept;
}

/// One warp for each row.
template <class T, class Real>
__global__ void __launch_bounds__(kSortThreads)
    sort_candidates_kernel(const __grid_constant__ OrderedPoints points,
                           const __grid_constant__ CandidateSlots<Real> slots, std::uint32_t length,
                           std::uint32_t* lists, double* sums, std::uint32_t* missing) {
  extern __shared__ double of_row[];
  const std::uint32_t p = blockIdx.x;
  const unsigned lane = threadIdx.x;
  std::uint32_t count = min(slots.counts[p], slots.room);
  const std::uint32_t* const own = slots.columns + std::uint64_t{p} * slots.room;
  auto* const columns = reinterpret_cast<std::uint32_t*>(of_row + slots.room);
  for (std::uint32_t i = lane; i < count; i += 32) columns[i] = own[i];
  __syncwarp();
  if (count < length && lane == 0) atomicAdd(missing, 1U);
  if (points.dims >= kSharedDims && count > length) count = remove_far<T>(points, p, length, of_row, columns, count);
  for (std::uint32_t i = lane; i < count; i += 32) of_row[i] = exact_sum<T>(points, p, columns[i]);
  __syncwarp();
  for (std::uint32_t i = lane; i < count; i += 32) {
    const std::uint32_t rank = rank_of(of_row, columns, count, of_row[i], columns[i]);
    if (rank >= length) continue;
    lists[std::uint64_t{rank} * points.size + p] = columns[i];
    sums[std::uint64_t{rank} * points.size + p] = of_row[i];
  }
}

}  // namespace

void launch_shape_extremes(const FactorShape* shapes, std::uint32_t count, ShapeExtremes* extremes,
                           cudaStream_t stream) {
  const std::uint32_t blocks = std::min(direct_blocks(count), 256U);
  shape_extremes_kernel<<<blocks, tuning::kDirectThreads, 0, stream>>>(shapes, count, extremes);
  check_launch(stream);
}

void launch_scatter_order(std::uint32_t size, std::uint32_t* order, cudaStream_t stream) {
  // Multiples of a step near the golden ratio of the size lie evenly, and all positions occur if it has no common
  // factor with the size.
  auto step = static_cast<std::uint64_t>(0.6180339887 * size);
  while (step > 1 && std::gcd(step, std::uint64_t{size}) != 1) --step;
  scatter_order_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(
      size, std::max<std::uint64_t>(step, 1), order);
  check_launch(stream);
}

void launch_ids_of(const std::uint32_t* positions, const std::uint32_t* order, std::uint32_t count, std::uint32_t* ids,
                   cudaStream_t stream) {
  ids_of_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, stream>>>(positions, order, count, ids);
  check_launch(stream);
}

template <class Real>
void launch_column_bounds(const FactorShape* shapes, const RowFrame& frame, std::uint32_t count, std::uint32_t places,
                          Real* no, cudaStream_t stream) {
  column_bounds_kernel<<<direct_blocks(places), tuning::kDirectThreads, 0, stream>>>(shapes, frame, count, places, no);
  check_launch(stream);
}

template <class Real>
void launch_open_rows(std::uint32_t count, std::uint32_t places, Real* no, cudaStream_t stream) {
  open_rows_kernel<<<direct_blocks(places), tuning::kDirectThreads, 0, stream>>>(count, places, no);
  check_launch(stream);
}

template <class Real>
void launch_bound_rows(const FactorShape* shapes, const RowFrame& frame, const double* limits, std::uint32_t count,
                       std::uint32_t places, Real* no, cudaStream_t stream) {
  bound_rows_kernel<<<direct_blocks(places), tuning::kDirectThreads, 0, stream>>>(shapes, frame, limits, count, places,
                                                                                  no);
  check_launch(stream);
}

template <class Real>
void launch_narrow(const NearestRows<Real>& rows, const RowFrame& frame, const CandidateSlots<Real>& slots,
                   std::uint32_t begin, bool again, std::uint32_t* lost, cudaStream_t stream) {
  check(cudaMemsetAsync(lost, 0, sizeof *lost, stream));
  narrow_kernel<<<direct_blocks(std::uint64_t{rows.count} * 32), tuning::kDirectThreads, 0, stream>>>(
      rows, frame, slots, begin, again, lost);
  check_launch(stream);
}

template <class Real>
void launch_sort_candidates(const OrderedPoints& points, const CandidateSlots<Real>& slots, std::uint32_t length,
                            std::uint32_t* lists, double* sums, std::uint32_t* missing, cudaStream_t stream) {
  check(cudaMemsetAsync(missing, 0, sizeof *missing, stream));
  const std::uint32_t bytes = slots.room * (sizeof(double) + sizeof(std::uint32_t));
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    sort_candidates_kernel<T>
        <<<points.size, kSortThreads, bytes, stream>>>(points, slots, length, lists, sums, missing);
  });
  check_launch(stream);
}

#define EPSFLOW_ROW_KERNELS(Real)                                                                                    \
  template void launch_column_bounds(const FactorShape*, const RowFrame&, std::uint32_t, std::uint32_t, Real*,       \
                                     cudaStream_t);                                                                  \
  template void launch_open_rows(std::uint32_t, std::uint32_t, Real*, cudaStream_t);                                 \
  template void launch_bound_rows(const FactorShape*, const RowFrame&, const double*, std::uint32_t, std::uint32_t,  \
                                  Real*, cudaStream_t);                                                              \
  template void launch_narrow(const NearestRows<Real>&, const RowFrame&, const CandidateSlots<Real>&, std::uint32_t, \
                              bool, std::uint32_t*, cudaStream_t);                                                   \
  template void launch_sort_candidates(const OrderedPoints&, const CandidateSlots<Real>&, std::uint32_t,             \
                                       std::uint32_t*, double*, std::uint32_t*, cudaStream_t)
EPSFLOW_ROW_KERNELS(float);
EPSFLOW_ROW_KERNELS(double);
#undef EPSFLOW_ROW_KERNELS

}  // namespace epsflow::gpu
