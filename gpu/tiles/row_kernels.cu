#include <cuda_runtime.h>

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
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

/// Returns a bound, lowered by the error of its computation in float64.
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
                                     std::uint32_t padded_count, Real* no) {
  const std::uint64_t q = direct_thread();
  if (q >= padded_count) return;
  if (q >= count) {
    no[q] = INFINITY;
    return;
  }
  const double norm = shapes[q].norm;
  no[q] = lowered(norm / 2 - frame.gamma * norm / 2, norm, Real{});
}

/// Returns a radius in units of the frame; negative if the row takes no pair.
__device__ double radius_of(const RowRadii& rows, const RowFrame& frame, std::uint64_t i) {
  if (i >= rows.count) return -1;
  const double value = rows.values == nullptr ? INFINITY : rows.values[i];
  if (!rows.limits || value < 0 || isinf(value)) return value;
  return ldexp(sqrt(value), frame.exponent) * (1 + 0x1p-38);
}

template <class Real>
__global__ void bound_rows_kernel(const __grid_constant__ RowRadii rows, RowFrame frame, Real* no,
                                  std::uint32_t* reach) {
  const std::uint64_t i = direct_thread();
  if (i >= rows.padded_count) return;
  const double radius = radius_of(rows, frame, i);
  if (radius < 0) {
    no[i] = static_cast<Real>(INFINITY);
    return;
  }
  no[i] = isinf(radius) ? kAnyDistance : row_bound<Real>(rows.shapes[i], frame, radius);
  atomicMax(reach + i / index::kTilePoints, __float_as_uint(isinf(radius) ? INFINITY : index::round_up(radius)) + 1);
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
__device__ Real nth_largest(const Real* values, std::uint32_t count, std::uint32_t wanted) {
  const unsigned lane = threadIdx.x % 32;
  decltype(ordered(Real{})) value = 0;
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
__global__ void pivot_keys_kernel(const FactorShape* shapes, RowFrame frame,
                                  const __grid_constant__ CandidateSlots<Real> slots, std::uint32_t rows,
                                  std::uint32_t pivots, std::uint32_t wanted, unsigned long long* keys, double* radii) {
  const std::uint64_t row = direct_thread() / 32;
  if (row >= rows) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t* const columns = slots.columns + row * slots.capacity;
  const Real* const nearness = slots.nearness + row * slots.capacity;
  const std::uint32_t count = min(slots.counts[row], slots.capacity);
  double radius = INFINITY;
  if (count >= wanted) radius = radius_from(shapes[row], frame, nth_largest(nearness, count, wanted));
  // The nearest pivot, and of several the first. The pivot itself is not among its candidates.
  unsigned long long key = ~0ULL;
  for (std::uint32_t i = lane; i < count; i += 32) {
    const double squared = fmax(shapes[row].norm - 2 * static_cast<double>(nearness[i]), 0.0);
    const auto bits = __float_as_uint(static_cast<float>(squared));
    key = min(key, static_cast<unsigned long long>(bits) << 32U | columns[i]);
  }
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) key = min(key, __shfl_xor_sync(tuning::kWholeWarp, key, step));
  if (lane != 0) return;
  keys[row] = row < pivots ? row << 32U : key << 32U | key >> 32U;
  radii[row] = radius;
}

__global__ void count_up_kernel(std::uint32_t count, std::uint32_t* numbers) {
  const std::uint64_t i = direct_thread();
  if (i < count) numbers[i] = static_cast<std::uint32_t>(i);
}

__global__ void reorder_kernel(const std::uint32_t* positions, const std::uint32_t* order, const double* radii,
                               std::uint32_t count, std::uint32_t* to_order, double* to_radii) {
  const std::uint64_t i = direct_thread();
  if (i >= count) return;
  to_order[i] = order[positions[i]];
  to_radii[i] = radii[positions[i]];
}

/// One block for each tile.
template <class T>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    tile_balls_kernel(const __grid_constant__ OrderedPoints points, TileFrame frame, double slack,
                      const __grid_constant__ TileBalls balls) {
  extern __shared__ double centre[];
  __shared__ unsigned long long farthest;
  const std::uint32_t tile = blockIdx.x;
  const std::uint32_t first = tile * index::kTilePoints;
  const std::uint32_t count = min(points.size - first, index::kTilePoints);
  const auto coordinate = [&](std::uint32_t member, std::uint32_t k) {
    const T* const values =
        static_cast<const T*>(points.data) + std::uint64_t{points.order[first + member]} * points.dims;
    return ldexp(__dsub_rn(static_cast<double>(__ldg(values + k)), frame.centre[k]), frame.exponent);
  };
  if (threadIdx.x == 0) farthest = 0;
  for (std::uint32_t k = threadIdx.x; k < points.dims; k += tuning::kDirectThreads) {
    double sum = 0;
    for (std::uint32_t m = 0; m < count; ++m) sum += coordinate(m, k);
    centre[k] = sum / count;
    balls.centres[std::uint64_t{k} * balls.count + tile] = centre[k];
  }
  __syncthreads();
  for (std::uint32_t m = threadIdx.x / 32; m < count; m += tuning::kDirectThreads / 32) {
    double sum = 0;
    for (std::uint32_t k = threadIdx.x % 32; k < points.dims; k += 32) {
      const double difference = coordinate(m, k) - centre[k];
      sum = fma(difference, difference, sum);
    }
    for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(tuning::kWholeWarp, sum, step);
    if (threadIdx.x % 32 == 0) atomicMax(&farthest, static_cast<unsigned long long>(__double_as_longlong(sum)));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    balls.radii[tile] = sqrt(__longlong_as_double(static_cast<long long>(farthest))) * (1 + 0x1p-30) + slack;
  }
}

/// A thread for each column tile and a few row tiles.
constexpr std::uint32_t kGapRows = 4;
__global__ void tile_gaps_kernel(const __grid_constant__ TileBalls rows, const __grid_constant__ TileBalls columns,
                                 float* gaps) {
  const auto j = static_cast<std::uint32_t>(direct_thread());
  if (j >= columns.count) return;
  const std::uint32_t first = blockIdx.y * kGapRows;
  double sums[kGapRows] = {};
  for (std::uint32_t k = 0; k < columns.dims; ++k) {
    const double at = columns.centres[std::uint64_t{k} * columns.count + j];
#pragma unroll
    for (std::uint32_t r = 0; r < kGapRows; ++r) {
      const double difference =
          at - __ldg(rows.centres + std::uint64_t{k} * rows.count + min(first + r, rows.count - 1));
      sums[r] = fma(difference, difference, sums[r]);
    }
  }
  for (std::uint32_t r = 0; r < kGapRows && first + r < rows.count; ++r) {
    const double gap = sqrt(sums[r]) * (1 - 0x1p-30) - rows.radii[first + r] - columns.radii[j];
    gaps[std::uint64_t{first + r} * columns.count + j] = index::round_down(fmax(gap, 0.0));
  }
}

/// One warp for each tile.
__global__ void tile_components_kernel(const std::uint32_t* components, const std::uint32_t* positions,
                                       std::uint32_t count, std::uint32_t* tiles) {
  const std::uint64_t first = direct_thread() / 32 * index::kTilePoints;
  if (first >= count) return;
  std::uint32_t least = ~0U, most = 0;
  for (std::uint64_t i = first + threadIdx.x % 32; i < min(first + index::kTilePoints, std::uint64_t{count}); i += 32) {
    const std::uint32_t component = components[positions == nullptr ? i : positions[i]];
    least = min(least, component);
    most = max(most, component);
  }
  least = __reduce_min_sync(tuning::kWholeWarp, least);
  most = __reduce_max_sync(tuning::kWholeWarp, most);
  if (threadIdx.x % 32 == 0) tiles[first / index::kTilePoints] = least == most ? least : kMixedTile;
}

/// A thread for each block of tiles.
__global__ void list_blocks_kernel(const __grid_constant__ TilePairs pairs, index::TileBlock* blocks,
                                   unsigned long long* count) {
  constexpr std::uint32_t kSide = index::kBlockTiles;
  const std::uint32_t rows = blockIdx.y;
  const auto columns = static_cast<std::uint32_t>(direct_thread());
  if (columns >= index::tile_blocks_of(pairs.column_tiles)) return;
  unsigned taken = 0;  // column tiles
  for (std::uint32_t j = 0; j < kSide; ++j) {
    const std::uint32_t column = kSide * columns + j;
    if (column >= pairs.column_tiles) break;
    const auto rank = static_cast<std::uint32_t>(column * pairs.step % pairs.column_tiles);
    if (rank >= pairs.from && rank < pairs.to) taken |= 1U << j;
  }
  if (taken == 0) return;
  std::uint64_t found = 0;
  for (std::uint32_t i = 0; i < kSide; ++i) {
    const std::uint32_t row = kSide * rows + i;
    if (row >= pairs.row_tiles) break;
    const std::uint32_t reach = pairs.reach[row];
    if (reach == 0) continue;
    const float most = __uint_as_float(reach - 1);
    const std::uint32_t component = pairs.row_components == nullptr ? kMixedTile : pairs.row_components[row];
    for (std::uint32_t j = 0; j < kSide; ++j) {
      const std::uint32_t column = kSide * columns + j;
      if ((taken >> j & 1U) == 0) continue;
      const bool beside = column + 1 >= row && column <= row + 1;
      if (pairs.band != TilePairs::Band::with && beside != (pairs.band == TilePairs::Band::alone)) continue;
      if (component != kMixedTile && component == pairs.column_components[column]) continue;
      if (pairs.gaps != nullptr && pairs.gaps[std::uint64_t{row} * pairs.column_tiles + column] > most) continue;
      found |= std::uint64_t{1} << (kSide * i + j);
    }
  }
  if (found != 0) blocks[atomicAdd(count, 1ULL)] = {rows, columns, found};
}

/// One warp for each row.
template <class Real>
__global__ void narrow_kernel(const __grid_constant__ NearestRows rows, RowFrame frame,
                              const __grid_constant__ CandidateSlots<Real> slots, bool again, std::uint32_t* lost) {
  const std::uint64_t warp = direct_thread() / 32;
  if (warp >= rows.count) return;
  const auto p = static_cast<std::uint32_t>(warp);
  const unsigned lane = threadIdx.x % 32;
  if (again && rows.retry[p] < 0) return;
  std::uint32_t* const columns = slots.columns + warp * slots.capacity;
  Real* const nearness = slots.nearness + warp * slots.capacity;
  const std::uint32_t found = slots.counts[p];
  const std::uint32_t count = min(found, slots.capacity);
  const bool overflown = found > slots.capacity;
  double radius = rows.radii[p];
  if (count >= rows.wanted) {
    radius = fmin(radius, radius_from(rows.shapes[p], frame, nth_largest(nearness, count, rows.wanted)));
  }
  const Real no = isinf(radius) ? kAnyDistance : row_bound<Real>(rows.shapes[p], frame, radius);
  const std::uint32_t end = overflown ? rows.retained[p] : count;
  std::uint32_t retained = 0;
  for (std::uint32_t first = 0; first < end; first += 32) {
    const std::uint32_t i = first + lane;
    const std::uint32_t column = i < end ? columns[i] : 0;
    const Real near = i < end ? nearness[i] : 0;
    const bool keeps = i < end && near >= no;
    const unsigned keepers = __ballot_sync(tuning::kWholeWarp, keeps);
    __syncwarp();  // after all have read, and before any writes
    const std::uint32_t at = retained + __popc(keepers & ((1U << lane) - 1));
    if (keeps) columns[at] = column;
    if (keeps) nearness[at] = near;
    retained += __popc(keepers);
    __syncwarp();
  }
  if (lane != 0) return;
  slots.counts[p] = retained;
  rows.retained[p] = retained;
  rows.radii[p] = radius;
  rows.retry[p] = overflown ? radius : -1;
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
  std::uint32_t retained = 0;
  for (std::uint32_t first = 0; first < count; first += 32) {
    const std::uint32_t i = first + lane;
    const std::uint32_t column = i < count ? columns[i] : 0;
    const bool keeps = i < count && sums[i] <= last;
    const unsigned keepers = __ballot_sync(tuning::kWholeWarp, keeps);
    __syncwarp();  // after all have read, and before any writes
    if (keeps) columns[retained + __popc(keepers & ((1U << lane) - 1))] = column;
    retained += __popc(keepers);
    __syncwarp();
  }
  return retained;
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
  std::uint32_t count = min(slots.counts[p], slots.capacity);
  const std::uint32_t* const own = slots.columns + std::uint64_t{p} * slots.capacity;
  auto* const columns = reinterpret_cast<std::uint32_t*>(of_row + slots.capacity);
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

void launch_scatter_order(std::uint32_t size, std::uint64_t step, std::uint32_t* order, cudaStream_t stream) {
  scatter_order_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(size, step, order);
  check_launch(stream);
}

void launch_ids_of(const std::uint32_t* positions, const std::uint32_t* order, std::uint32_t count, std::uint32_t* ids,
                   cudaStream_t stream) {
  ids_of_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, stream>>>(positions, order, count, ids);
  check_launch(stream);
}

template <class Real>
void launch_column_bounds(const FactorShape* shapes, const RowFrame& frame, std::uint32_t count,
                          std::uint32_t padded_count, Real* no, cudaStream_t stream) {
  column_bounds_kernel<<<direct_blocks(padded_count), tuning::kDirectThreads, 0, stream>>>(shapes, frame, count,
                                                                                           padded_count, no);
  check_launch(stream);
}

template <class Real>
void launch_bound_rows(const RowRadii& rows, const RowFrame& frame, Real* no, std::uint32_t* reach,
                       cudaStream_t stream) {
  check(cudaMemsetAsync(reach, 0, rows.padded_count / index::kTilePoints * sizeof *reach, stream));
  bound_rows_kernel<<<direct_blocks(rows.padded_count), tuning::kDirectThreads, 0, stream>>>(rows, frame, no, reach);
  check_launch(stream);
}

template <class Real>
void launch_pivot_keys(const FactorShape* shapes, const RowFrame& frame, const CandidateSlots<Real>& slots,
                       std::uint32_t count, std::uint32_t pivots, std::uint32_t wanted, unsigned long long* keys,
                       double* radii, cudaStream_t stream) {
  pivot_keys_kernel<<<direct_blocks(std::uint64_t{count} * 32), tuning::kDirectThreads, 0, stream>>>(
      shapes, frame, slots, count, pivots, wanted, keys, radii);
  check_launch(stream);
}

void launch_sort_rows(unsigned long long* keys, const std::uint32_t* order, const double* radii, std::uint32_t count,
                      std::uint32_t* to_order, double* to_radii, Scratch scratch) {
  const DeviceBuffer<unsigned long long> spare_keys(scratch.memory, scratch.stream, count);
  const DeviceBuffer<std::uint32_t> positions(scratch.memory, scratch.stream, count);
  const DeviceBuffer<std::uint32_t> spare(scratch.memory, scratch.stream, count);
  count_up_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, scratch.stream>>>(count, positions.data());
  check_launch(scratch.stream);
  cub::DoubleBuffer<unsigned long long> by(keys, spare_keys.data());
  cub::DoubleBuffer<std::uint32_t> sorted(positions.data(), spare.data());
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, by, sorted, static_cast<std::int64_t>(count), 0, 64,
                                           scratch.stream);
  });
  reorder_kernel<<<direct_blocks(count), tuning::kDirectThreads, 0, scratch.stream>>>(sorted.Current(), order, radii,
                                                                                      count, to_order, to_radii);
  check_launch(scratch.stream);
}

void launch_sort_positions(std::uint32_t* positions, std::uint32_t count, Scratch scratch) {
  const DeviceBuffer<std::uint32_t> sorted(scratch.memory, scratch.stream, count);
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, positions, sorted.data(), static_cast<std::int64_t>(count),
                                          0, 32, scratch.stream);
  });
  check(cudaMemcpyAsync(positions, sorted.data(), sorted.bytes(), cudaMemcpyDeviceToDevice, scratch.stream));
}

void launch_tile_balls(const OrderedPoints& points, const TileFrame& frame, double slack, const TileBalls& balls,
                       cudaStream_t stream) {
  const std::uint32_t bytes = points.dims * sizeof(double);
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    tile_balls_kernel<T><<<balls.count, tuning::kDirectThreads, bytes, stream>>>(points, frame, slack, balls);
  });
  check_launch(stream);
}

void launch_tile_gaps(const TileBalls& rows, const TileBalls& columns, float* gaps, cudaStream_t stream) {
  const dim3 blocks(direct_blocks(columns.count), (rows.count + kGapRows - 1) / kGapRows);
  tile_gaps_kernel<<<blocks, tuning::kDirectThreads, 0, stream>>>(rows, columns, gaps);
  check_launch(stream);
}

void launch_tile_components(const std::uint32_t* components, const std::uint32_t* positions, std::uint32_t count,
                            std::uint32_t* tiles, cudaStream_t stream) {
  const std::uint64_t warps = index::tiles_of(count);
  tile_components_kernel<<<direct_blocks(32 * warps), tuning::kDirectThreads, 0, stream>>>(components, positions, count,
                                                                                           tiles);
  check_launch(stream);
}

void launch_list_blocks(const TilePairs& pairs, index::TileBlock* blocks, unsigned long long* count,
                        cudaStream_t stream) {
  check(cudaMemsetAsync(count, 0, sizeof *count, stream));
  const dim3 grid(direct_blocks(index::tile_blocks_of(pairs.column_tiles)), index::tile_blocks_of(pairs.row_tiles));
  list_blocks_kernel<<<grid, tuning::kDirectThreads, 0, stream>>>(pairs, blocks, count);
  check_launch(stream);
}

template <class Real>
void launch_narrow(const NearestRows& rows, const RowFrame& frame, const CandidateSlots<Real>& slots, bool again,
                   std::uint32_t* lost, cudaStream_t stream) {
  check(cudaMemsetAsync(lost, 0, sizeof *lost, stream));
  narrow_kernel<<<direct_blocks(std::uint64_t{rows.count} * 32), tuning::kDirectThreads, 0, stream>>>(
      rows, frame, slots, again, lost);
  check_launch(stream);
}

template <class Real>
void launch_sort_candidates(const OrderedPoints& points, const CandidateSlots<Real>& slots, std::uint32_t length,
                            std::uint32_t* lists, double* sums, std::uint32_t* missing, cudaStream_t stream) {
  check(cudaMemsetAsync(missing, 0, sizeof *missing, stream));
  const std::uint32_t bytes = slots.capacity * (sizeof(double) + sizeof(std::uint32_t));
  with_types<0>(points.precision, points.dims, [&]<class T, unsigned D>() {
    sort_candidates_kernel<T>
        <<<points.size, kSortThreads, bytes, stream>>>(points, slots, length, lists, sums, missing);
  });
  check_launch(stream);
}

#define EPSFLOW_ROW_KERNELS(Real)                                                                                     \
  template void launch_column_bounds(const FactorShape*, const RowFrame&, std::uint32_t, std::uint32_t, Real*,        \
                                     cudaStream_t);                                                                   \
  template void launch_bound_rows(const RowRadii&, const RowFrame&, Real*, std::uint32_t*, cudaStream_t);             \
  template void launch_pivot_keys(const FactorShape*, const RowFrame&, const CandidateSlots<Real>&, std::uint32_t,    \
                                  std::uint32_t, std::uint32_t, unsigned long long*, double*, cudaStream_t);          \
  template void launch_narrow(const NearestRows&, const RowFrame&, const CandidateSlots<Real>&, bool, std::uint32_t*, \
                              cudaStream_t);                                                                          \
  template void launch_sort_candidates(const OrderedPoints&, const CandidateSlots<Real>&, std::uint32_t,              \
                                       std::uint32_t*, double*, std::uint32_t*, cudaStream_t)
EPSFLOW_ROW_KERNELS(float);
EPSFLOW_ROW_KERNELS(double);
#undef EPSFLOW_ROW_KERNELS

}  // namespace epsflow::gpu
