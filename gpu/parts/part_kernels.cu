#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/parts/part_kernels.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kIndexThreads;
constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = kThreads / kWarp;
constexpr unsigned kNoPart = 0xFF;
static_assert(kCutRows % kThreads == 0 && kMostDeviceParts <= kWarp);

std::uint32_t blocks_of(std::uint64_t items) { return static_cast<std::uint32_t>((items + kThreads - 1) / kThreads); }

__device__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ unsigned lanes_before() { return (1U << (threadIdx.x % kWarp)) - 1; }

/// Returns the part of a point. close: set if a cut on its way is within reach, without which no other part is.
template <class T>
__device__ std::uint32_t part_of(const CutsView& cuts, const T* point, double reach, bool& close) {
  std::int32_t at = cuts.count == 0 ? -1 : 0;
  close = false;
  while (at >= 0) {
    const SpaceCut& cut = cuts.cuts[at];
    const double x = point[cut.axis];
    const bool below = x < cut.at;
    close = close || (below ? cut.at - x : x - cut.at) <= reach;
    at = below ? cut.below : cut.above;
  }
  return static_cast<std::uint32_t>(-1 - at);
}

/// Does the same as Partition::for_near().
template <class T, class F>
__device__ void for_near(const CutsView& cuts, const T* point, double reach, F&& f) {
  std::int32_t open[kMostDeviceParts];
  double distances[kMostDeviceParts];
  unsigned count = 0;
  std::int32_t at = cuts.count == 0 ? -1 : 0;
  double distance = 0;
  while (true) {
    while (at >= 0) {
      const SpaceCut& cut = cuts.cuts[at];
      const double x = point[cut.axis];
      const bool below = x < cut.at;
      const double to_cut = below ? cut.at - x : x - cut.at;
      if (to_cut <= reach) {
        open[count] = below ? cut.above : cut.below;
        distances[count++] = to_cut > distance ? to_cut : distance;
      }
      at = below ? cut.below : cut.above;
    }
    f(static_cast<std::uint32_t>(-1 - at), distance);
    if (count == 0) return;
    at = open[--count];
    distance = distances[count];
  }
}

template <class T>
__global__ void cut_kernel(const T* data, std::uint32_t rows, std::uint32_t dims, const __grid_constant__ CutsView cuts,
                           double reach, CutRows to) {
  __shared__ std::uint32_t counts[kMostDeviceParts];
  if (threadIdx.x <= cuts.count) counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < kCutRows; k += kThreads) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * kCutRows + k;
    unsigned part = kNoPart;
    if (i < rows) {
      const T* const point = data + i * dims;
      bool close = false;
      part = part_of(cuts, point, reach, close);
      to.parts[i] = static_cast<std::uint8_t>(part);
      if (close) {
        for_near(cuts, point, reach, [&](std::uint32_t other, double) {
          if (other == part) return;
          atomicAdd(to.ghosts + other, 1ULL);
          atomicAdd(to.ghosts + cuts.count + 1 + part, 1ULL);
        });
      }
    }
    const unsigned same = __match_any_sync(tuning::kWholeWarp, part);
    if (part != kNoPart && (same & lanes_before()) == 0) atomicAdd(counts + part, __popc(same));
  }
  __syncthreads();
  if (threadIdx.x <= cuts.count) to.counts[std::uint64_t{threadIdx.x} * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

/// Calls f(row, its index in the order) for the rows of this block. All threads of the block must call it.
template <class F>
__device__ void for_ordered_rows(const PartOrder& order, F&& f) {
  __shared__ std::uint32_t next[kMostDeviceParts];
  __shared__ std::uint32_t of_warp[kWarps][kMostDeviceParts];
  const unsigned warp = threadIdx.x / kWarp;
  if (threadIdx.x < order.part_count) {
    next[threadIdx.x] = order.starts[std::uint64_t{threadIdx.x} * gridDim.x + blockIdx.x];
  }
  for (std::uint32_t k = threadIdx.x; k < kCutRows; k += kThreads) {
    for (unsigned c = threadIdx.x; c < kWarps * kMostDeviceParts; c += kThreads) {
      of_warp[c / kMostDeviceParts][c % kMostDeviceParts] = 0;
    }
    __syncthreads();
    const std::uint64_t row = std::uint64_t{blockIdx.x} * kCutRows + k;
    const unsigned part = row < order.rows ? order.parts[row] : kNoPart;
    const unsigned same = __match_any_sync(tuning::kWholeWarp, part);
    const unsigned rank = __popc(same & lanes_before());
    if (part != kNoPart && rank == 0) of_warp[warp][part] = __popc(same);
    __syncthreads();
    if (part != kNoPart) {
      std::uint32_t target = next[part] + rank;
      for (unsigned w = 0; w < warp; ++w) target += of_warp[w][part];
      f(row, target);
    }
    __syncthreads();
    if (threadIdx.x < order.part_count) {
      for (unsigned w = 0; w < kWarps; ++w) next[threadIdx.x] += of_warp[w][threadIdx.x];
    }
    __syncthreads();
  }
}

template <class T>
__global__ void pack_kernel(const T* data, std::uint32_t dims, PartOrder order, SeparatedRows packed) {
  for_ordered_rows(order, [&](std::uint64_t row, std::uint32_t target) {
    const bool owned = target >= packed.first && target < packed.last;
    const std::uint64_t at = owned                   ? target - packed.first
                             : target < packed.first ? target
                                                     : target - (packed.last - packed.first);
    T* const to = static_cast<T*>(owned ? packed.owned : packed.others) + at * dims;
    for (std::uint32_t k = 0; k < dims; ++k) to[k] = data[row * dims + k];
  });
}

template <class T>
__global__ void unpack_kernel(const T* from, PartOrder order, T* to) {
  for_ordered_rows(order, [&](std::uint64_t row, std::uint32_t target) { to[row] = from[target]; });
}

/// Finds one row in each warp: the block of the point by bisection, and the row by the parts of the block's rows.
__global__ void find_rows_kernel(PartOrder order, RowsOfPart of, std::uint32_t blocks, std::uint32_t* points,
                                 std::uint32_t count) {
  const std::uint64_t w = thread_number() / kWarp;
  if (w >= count) return;
  const std::uint32_t* const starts = order.starts + std::uint64_t{of.part} * blocks;
  const std::uint32_t sought = starts[0] + (points[w] - of.first_point);
  std::uint32_t lo = 0, hi = blocks;  // the last block whose start is at most sought
  while (hi - lo > 1) {
    const std::uint32_t middle = lo + (hi - lo) / 2;
    (starts[middle] <= sought ? lo : hi) = middle;
  }
  std::uint32_t left = sought - starts[lo];
  for (std::uint64_t first = std::uint64_t{lo} * kCutRows; first < order.rows; first += kWarp) {
    const std::uint64_t row = first + threadIdx.x % kWarp;
    const bool mine = row < order.rows && order.parts[row] == of.part;
    const unsigned all = __ballot_sync(tuning::kWholeWarp, mine);
    const unsigned here = __popc(all);
    if (left < here) {
      if (mine && __popc(all & lanes_before()) == left) points[w] = of.first_row + static_cast<std::uint32_t>(row);
      return;
    }
    left -= here;
  }
}

template <class T>
__global__ void send_lists_kernel(const T* data, std::uint32_t points, std::uint32_t dims,
                                  const __grid_constant__ CutsView cuts, std::uint32_t part, double inner, double outer,
                                  std::uint64_t* keys, std::uint64_t capacity, unsigned long long* count) {
  const std::uint64_t i = thread_number();
  if (i >= points) return;
  const T* const point = data + i * dims;
  bool close = false;
  (void)part_of(cuts, point, outer, close);
  if (!close) return;
  for_near(cuts, point, outer, [&](std::uint32_t other, double distance) {
    if (other == part) return;
    const unsigned long long at = atomicAdd(count, 1ULL);
    if (at < capacity) keys[at] = SendKey::make(other, distance > inner, static_cast<std::uint32_t>(i));
  });
}

__global__ void lists_kernel(const std::uint64_t* keys, std::uint64_t count, std::uint64_t* begins,
                             std::uint32_t lists) {
  const std::uint64_t list = thread_number();
  if (list >= lists) return;
  std::uint64_t lo = 0;
  for (std::uint64_t end = count; lo < end;) {
    const std::uint64_t middle = lo + (end - lo) / 2;
    if (keys[middle] < list << 32) {
      lo = middle + 1;
    } else {
      end = middle;
    }
  }
  begins[list] = lo;
}

__global__ void points_kernel(const std::uint64_t* keys, std::uint64_t count, std::uint32_t* points) {
  const std::uint64_t j = thread_number();
  if (j < count) points[j] = SendKey::point_of(keys[j]);
}

template <class T>
__global__ void pack_ghosts_kernel(const T* data, std::uint32_t dims, const std::uint64_t* keys, std::uint64_t count,
                                   T* to) {
  const std::uint64_t j = thread_number();
  if (j >= count) return;
  const std::uint64_t point = SendKey::point_of(keys[j]);
  for (std::uint32_t k = 0; k < dims; ++k) to[j * dims + k] = data[point * dims + k];
}

__global__ void renumber_kernel(std::int32_t* labels, std::uint32_t n, const std::int32_t* numbers) {
  const std::uint64_t i = thread_number();
  if (i >= n) return;
  const std::int32_t label = labels[i];
  if (label != kNoise) labels[i] = numbers[label];
}

/// Calls f(typed data) with the type of the coordinates.
template <class F>
void with_data(PointsOnDevice points, F&& f) {
  if (points.precision == Precision::float32) {
    f(static_cast<const float*>(points.data));
  } else {
    f(static_cast<const double*>(points.data));
  }
}

}  // namespace

void launch_cut(PointsOnDevice rows, const CutsView& cuts, double reach, const CutRows& to, cudaStream_t stream) {
  if (rows.size == 0) return;
  with_data(rows, [&](auto data) {
    cut_kernel<<<cut_blocks(rows.size), kThreads, 0, stream>>>(data, rows.size, rows.dims, cuts, reach, to);
  });
  check_launch(stream);
}

void launch_starts(std::uint32_t* counts, std::uint64_t size, Scratch scratch) {
  if (size == 0) return;
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, counts, counts, static_cast<std::int64_t>(size),
                                         scratch.stream);
  });
}

void launch_pack(PointsOnDevice rows, const PartOrder& order, const SeparatedRows& to, cudaStream_t stream) {
  if (rows.size == 0) return;
  with_data(rows, [&](auto data) {
    pack_kernel<<<cut_blocks(rows.size), kThreads, 0, stream>>>(data, rows.dims, order, to);
  });
  check_launch(stream);
}

void launch_unpack(const std::int32_t* from, const PartOrder& order, std::int32_t* to, cudaStream_t stream) {
  if (order.rows == 0) return;
  unpack_kernel<<<cut_blocks(order.rows), kThreads, 0, stream>>>(from, order, to);
  check_launch(stream);
}

void launch_unpack(const std::uint8_t* from, const PartOrder& order, std::uint8_t* to, cudaStream_t stream) {
  if (order.rows == 0) return;
  unpack_kernel<<<cut_blocks(order.rows), kThreads, 0, stream>>>(from, order, to);
  check_launch(stream);
}

void launch_find_rows(const PartOrder& order, const RowsOfPart& of, std::uint32_t* points, std::uint32_t count,
                      cudaStream_t stream) {
  if (count == 0) return;
  find_rows_kernel<<<blocks_of(std::uint64_t{count} * kWarp), kThreads, 0, stream>>>(order, of, cut_blocks(order.rows),
                                                                                     points, count);
  check_launch(stream);
}

void launch_send_lists(PointsOnDevice points, const CutsView& cuts, std::uint32_t part, double inner, double outer,
                       std::uint64_t* keys, std::uint64_t capacity, unsigned long long* count, cudaStream_t stream) {
  if (points.size == 0) return;
  with_data(points, [&](auto data) {
    send_lists_kernel<<<blocks_of(points.size), kThreads, 0, stream>>>(data, points.size, points.dims, cuts, part,
                                                                       inner, outer, keys, capacity, count);
  });
  check_launch(stream);
}

void launch_sort_send_lists(const std::uint64_t* keys, std::uint64_t* sorted, std::uint64_t count, Scratch scratch) {
  if (count == 0) return;
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, sorted, static_cast<std::int64_t>(count), 0,
                                          SendKey::kBits, scratch.stream);
  });
}

void launch_send_list_begins(const std::uint64_t* keys, std::uint64_t count, std::uint64_t* begins, std::uint32_t lists,
                             cudaStream_t stream) {
  lists_kernel<<<blocks_of(lists), kThreads, 0, stream>>>(keys, count, begins, lists);
  check_launch(stream);
}

void launch_points_of_send_list(const std::uint64_t* keys, std::uint64_t count, std::uint32_t* points,
                                cudaStream_t stream) {
  if (count == 0) return;
  points_kernel<<<blocks_of(count), kThreads, 0, stream>>>(keys, count, points);
  check_launch(stream);
}

void launch_pack_ghosts(PointsOnDevice points, const std::uint64_t* keys, std::uint64_t count, void* to,
                        cudaStream_t stream) {
  if (count == 0) return;
  with_data(points, [&]<class T>(const T* data) {
    pack_ghosts_kernel<<<blocks_of(count), kThreads, 0, stream>>>(data, points.dims, keys, count, static_cast<T*>(to));
  });
  check_launch(stream);
}

void launch_renumber(std::int32_t* labels, std::uint32_t n, const std::int32_t* numbers, cudaStream_t stream) {
  if (n == 0) return;
  renumber_kernel<<<blocks_of(n), kThreads, 0, stream>>>(labels, n, numbers);
  check_launch(stream);
}

}  // namespace epsflow::gpu
