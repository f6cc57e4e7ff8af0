#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <type_traits>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kIndexThreads;

std::uint32_t blocks_of(std::uint64_t items) { return static_cast<std::uint32_t>((items + kThreads - 1) / kThreads); }

__device__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; }

template <class T>
struct ExtentAt {
  const T* data;
  std::uint32_t dims;
  __device__ index::Extent operator()(std::uint64_t i) const {
    const double x = data[i * dims];
    return {x, x};
  }
};

struct Unite {
  __host__ __device__ index::Extent operator()(const index::Extent& a, const index::Extent& b) const {
    return {a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
  }
};

template <class T>
__global__ void first_not_finite_kernel(const T* data, std::uint64_t count, unsigned long long* first) {
  for (std::uint64_t i = thread_number(); i < count; i += std::uint64_t{gridDim.x} * kThreads) {
    if (isfinite(data[i])) continue;
    atomicMin(first, static_cast<unsigned long long>(i));
    return;  // later elements of this thread have larger indices
  }
}

template <class T, class Key>
__global__ void keys_kernel(PointsOnDevice points, KeyMaker maker, Key* keys, std::uint32_t* ids) {
  const std::uint64_t i = thread_number();
  if (i >= points.size) return;
  const T* const point = static_cast<const T*>(points.data) + i * points.dims;
  std::uint64_t key = maker.slices.of(static_cast<std::uint32_t>(i)) * maker.slice_stride;
  for (std::uint32_t a = 0; a < maker.count; ++a) {
    key += (maker.axes[a].slot(static_cast<double>(point[maker.axes[a].dim])) + maker.window) * maker.strides[a];
  }
  keys[i] = static_cast<Key>(key);
  ids[i] = static_cast<std::uint32_t>(i);
}

__global__ void widen_kernel(const float* values, std::uint64_t count, double* out) {
  const std::uint64_t i = thread_number();
  if (i < count) out[i] = values[i];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    images_kernel(PointsOnDevice points, index::Imaging imaging, std::uint64_t capacity, unsigned long long* count,
                  double* out, std::uint32_t* origins) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ std::uint64_t first;
  const std::uint64_t i = thread_number();
  const T* const row = static_cast<const T*>(points.data) + i * points.dims;
  const auto coordinate = [row](unsigned k) { return row[k]; };
  std::uint32_t images = 0;
  if (i < points.size) imaging.for_each(coordinate, [&](const double*) { ++images; });
  if (__syncthreads_or(images > 0 ? 1 : 0) == 0) return;
  std::uint32_t before = 0;
  std::uint32_t all = 0;
  Scan(scan).ExclusiveSum(images, before, all);
  if (threadIdx.x == 0) first = atomicAdd(count, all);
  __syncthreads();
  if (images == 0) return;
  std::uint64_t at = first + before;
  imaging.for_each(coordinate, [&](const double* shift) {
    if (at < capacity) {
      double* const image = out + (points.size + at) * points.dims;
      for (std::uint32_t k = 0; k < points.dims; ++k) image[k] = static_cast<double>(row[k]) + shift[k];
      origins[at] = static_cast<std::uint32_t>(i);
    }
    ++at;
  });
}

template <class Key>
struct StartsCell {
  const Key* keys;
  __device__ std::uint32_t operator()(std::uint64_t i) const { return i > 0 && keys[i] != keys[i - 1] ? 1 : 0; }
};

template <class Key>
__global__ void cell_starts_kernel(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size,
                                   std::uint32_t cells, std::uint32_t* cell_starts, std::uint64_t* cell_keys) {
  const std::uint64_t i = thread_number();
  if (i == 0) cell_starts[cells] = size;
  if (i >= size || (i > 0 && cell_of[i] == cell_of[i - 1])) return;
  cell_starts[cell_of[i]] = static_cast<std::uint32_t>(i);
  cell_keys[cell_of[i]] = keys[i];
}

template <class T>
__global__ void gather_kernel(PointsOnDevice points, const std::uint32_t* order, T* coordinates) {
  const std::uint64_t i = thread_number();
  if (i >= points.size) return;
  const T* const point = static_cast<const T*>(points.data) + std::uint64_t{order[i]} * points.dims;
  for (std::uint32_t k = 0; k < points.dims; ++k) coordinates[std::uint64_t{k} * points.size + i] = point[k];
}

/// Returns the first index at which ascending values are not less than `value`.
template <class T>
__device__ std::uint32_t lower_bound(const T* ascending, std::uint32_t size, T value) {
  std::uint32_t first = 0;
  while (size > 0) {
    const std::uint32_t half = size / 2;
    if (ascending[first + half] < value) {
      first += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return first;
}

/// Calls f(range) for the candidate ranges of a cell, ascending and merged if they touch, as index::CandidateRanges.
template <class F>
__device__ void for_each_candidate_range(const CellTable& table, std::uint32_t cell, F f) {
  Range range{0, 0};
  const auto add = [&](std::uint64_t first_key, std::uint64_t last_key) {
    const std::uint32_t first = lower_bound(table.keys, table.cells, first_key);
    std::uint32_t last = first;
    while (last < table.cells && table.keys[last] <= last_key) ++last;
    if (first == last) return;
    const std::uint32_t begin = table.starts[first];
    if (range.end != begin || range.end == range.begin) {
      if (range.end > range.begin) f(range);
      range.begin = begin;
    }
    range.end = table.starts[last];
  };
  const std::uint64_t key = table.keys[cell];
  if (table.closed.at_end(key)) {
    table.closed.for_each_range(key, add);
  } else {
    for (std::uint32_t p = 0; p < table.neighbor_count; ++p) {
      const std::uint64_t first_key = key + static_cast<std::uint64_t>(table.neighbor_offsets[p]);
      add(first_key, first_key + 2 * std::uint64_t{table.window});
    }
  }
  f(range);
}

/// Counts the ranges of a cell, and the words of all its rows. The last of [cells + 1] elements is zero.
__global__ void measure_ranges_kernel(CellTable table, std::uint64_t* range_counts, std::uint64_t* words) {
  const std::uint64_t cell = thread_number();
  if (cell > table.cells) return;
  std::uint64_t count = 0;
  std::uint64_t row_words = 0;
  if (cell < table.cells) {
    for_each_candidate_range(table, static_cast<std::uint32_t>(cell), [&](Range range) {
      ++count;
      row_words += (std::uint64_t{range.end - range.begin} + 31) / 32;
    });
    row_words *= table.starts[cell + 1] - table.starts[cell];
  }
  range_counts[cell] = count;
  words[cell] = row_words;
}

__global__ void write_ranges_kernel(CellTable table, const std::uint64_t* range_offsets, Range* ranges) {
  const std::uint64_t cell = thread_number();
  if (cell >= table.cells) return;
  Range* out = ranges + range_offsets[cell];
  for_each_candidate_range(table, static_cast<std::uint32_t>(cell), [&](Range range) { *out++ = range; });
}

struct CountOrZero {
  const std::uint32_t* counts;
  std::uint32_t size;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return i < size ? counts[i] : 0; }
};

struct Widen {
  __host__ __device__ std::uint64_t operator()(std::uint32_t value) const { return value; }
};

__device__ std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t parts) {
  return whole / parts * part + whole % parts * part / parts;  // whole · part would overflow
}

__global__ void cut_kernel(const std::uint64_t* ascending, std::uint32_t size, std::uint32_t parts,
                           std::uint32_t* indices, std::uint64_t* values) {
  const std::uint64_t k = thread_number();
  if (k > parts) return;
  const std::uint64_t target = part_of(ascending[size - 1], k, parts);
  const std::uint32_t i = k == parts ? size - 1 : lower_bound(ascending, size, target);
  indices[k] = i;
  values[k] = ascending[i];
}

__global__ void cut_words_kernel(GridView grid, std::uint32_t parts, std::uint32_t* rows) {
  const std::uint64_t k = thread_number();
  if (k > parts) return;
  const std::uint64_t target = part_of(grid.cell_words[grid.cells], k, parts);
  if (k == parts) {
    rows[k] = grid.size;
    return;
  }
  const std::uint32_t cell = lower_bound(grid.cell_words, grid.cells + 1, target + 1) - 1;
  const std::uint32_t begin = grid.cell_starts[cell];
  const std::uint64_t cell_word = grid.cell_words[cell];
  const std::uint64_t row_words = (grid.cell_words[cell + 1] - cell_word) / (grid.cell_starts[cell + 1] - begin);
  rows[k] = begin + static_cast<std::uint32_t>((target - cell_word) / row_words);
}

struct RowWords {
  GridView grid;
  __device__ std::uint64_t operator()(std::uint64_t cell) const {
    return (grid.cell_words[cell + 1] - grid.cell_words[cell]) / (grid.cell_starts[cell + 1] - grid.cell_starts[cell]);
  }
};

template <class T>
auto counted(T f) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0), f);
}

}  // namespace

void launch_extents(PointsOnDevice points, index::Extent* extents, Scratch scratch) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto reduce = [&]<class T>(const T* data) {
    for (std::uint32_t k = 0; k < points.dims; ++k) {
      with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
        return cub::DeviceReduce::Reduce(temporary, bytes, counted(ExtentAt<T>{data + k, points.dims}), extents + k,
                                         static_cast<std::int64_t>(points.size), Unite{},
                                         index::Extent{kInfinity, -kInfinity}, scratch.stream);
      });
    }
  };
  if (points.precision == Precision::float32) return reduce(static_cast<const float*>(points.data));
  reduce(static_cast<const double*>(points.data));
}

void launch_make_images(PointsOnDevice points, const index::Imaging& imaging, std::uint64_t capacity,
                        std::uint64_t* count, double* out, std::uint32_t* origins, cudaStream_t stream) {
  check(cudaMemsetAsync(count, 0, sizeof *count, stream));
  if (points.size == 0) return;
  const std::uint64_t values = std::uint64_t{points.size} * points.dims;
  static_assert(sizeof(unsigned long long) == sizeof *count);
  auto* const counter = reinterpret_cast<unsigned long long*>(count);
  const auto make = [&](auto* from) {
    images_kernel<std::remove_const_t<std::remove_pointer_t<decltype(from)>>>
        <<<blocks_of(points.size), kThreads, 0, stream>>>(points, imaging, capacity, counter, out, origins);
    check_launch(stream);
  };
  if (points.precision == Precision::float32) {
    const auto* const from = static_cast<const float*>(points.data);
    widen_kernel<<<blocks_of(values), kThreads, 0, stream>>>(from, values, out);
    check_launch(stream);
    make(from);
  } else {
    check(cudaMemcpyAsync(out, points.data, values * sizeof(double), cudaMemcpyDeviceToDevice, stream));
    make(static_cast<const double*>(points.data));
  }
}

void launch_first_not_finite(PointsOnDevice points, std::uint64_t* first, cudaStream_t stream) {
  constexpr std::uint64_t kMostBlocks = 1 << 14;
  check(cudaMemsetAsync(first, 0xFF, sizeof *first, stream));  // kAllFinite
  const std::uint64_t count = std::uint64_t{points.size} * points.dims;
  const auto blocks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>((count + kThreads - 1) / kThreads, kMostBlocks));
  auto* const found = reinterpret_cast<unsigned long long*>(first);
  if (points.precision == Precision::float32) {
    first_not_finite_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const float*>(points.data), count, found);
  } else {
    first_not_finite_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const double*>(points.data), count, found);
  }
  check_launch(stream);
}

template <class Key>
void launch_keys(PointsOnDevice points, const KeyMaker& maker, Key* keys, std::uint32_t* ids, cudaStream_t stream) {
  if (points.precision == Precision::float32) {
    keys_kernel<float><<<blocks_of(points.size), kThreads, 0, stream>>>(points, maker, keys, ids);
  } else {
    keys_kernel<double><<<blocks_of(points.size), kThreads, 0, stream>>>(points, maker, keys, ids);
  }
  check_launch(stream);
}

template <class Key>
void launch_sort(TwoBuffers<Key>& keys, TwoBuffers<std::uint32_t>& values, std::uint64_t size, int bits,
                 Scratch scratch) {
  cub::DoubleBuffer<Key> key_buffers(keys.current, keys.other);
  cub::DoubleBuffer<std::uint32_t> value_buffers(values.current, values.other);
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, key_buffers, value_buffers,
                                           static_cast<std::int64_t>(size), 0, bits, scratch.stream);
  });
  keys = {key_buffers.Current(), key_buffers.Alternate()};
  values = {value_buffers.Current(), value_buffers.Alternate()};
}

template <class Key>
void launch_cell_numbers(const Key* keys, std::uint32_t size, std::uint32_t* cell_of, Scratch scratch) {
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(temporary, bytes, counted(StartsCell<Key>{keys}), cell_of,
                                         static_cast<std::int64_t>(size), scratch.stream);
  });
}

template <class Key>
void launch_cell_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t cells,
                        std::uint32_t* cell_starts, std::uint64_t* cell_keys, cudaStream_t stream) {
  cell_starts_kernel<<<blocks_of(size), kThreads, 0, stream>>>(keys, cell_of, size, cells, cell_starts, cell_keys);
  check_launch(stream);
}

#define EPSFLOW_INSTANTIATE(Key)                                                                             \
  template void launch_keys<Key>(PointsOnDevice, const KeyMaker&, Key*, std::uint32_t*, cudaStream_t);       \
  template void launch_sort<Key>(TwoBuffers<Key>&, TwoBuffers<std::uint32_t>&, std::uint64_t, int, Scratch); \
  template void launch_cell_numbers<Key>(const Key*, std::uint32_t, std::uint32_t*, Scratch);                \
  template void launch_cell_starts<Key>(const Key*, const std::uint32_t*, std::uint32_t, std::uint32_t,      \
                                        std::uint32_t*, std::uint64_t*, cudaStream_t)
EPSFLOW_INSTANTIATE(std::uint32_t);
EPSFLOW_INSTANTIATE(std::uint64_t);
#undef EPSFLOW_INSTANTIATE

void launch_gather(PointsOnDevice points, const std::uint32_t* order, void* coordinates, cudaStream_t stream) {
  if (points.precision == Precision::float32) {
    gather_kernel<<<blocks_of(points.size), kThreads, 0, stream>>>(points, order, static_cast<float*>(coordinates));
  } else {
    gather_kernel<<<blocks_of(points.size), kThreads, 0, stream>>>(points, order, static_cast<double*>(coordinates));
  }
  check_launch(stream);
}

void launch_measure_ranges(CellTable table, std::uint64_t* range_offsets, std::uint64_t* cell_words, Scratch scratch) {
  measure_ranges_kernel<<<blocks_of(std::uint64_t{table.cells} + 1), kThreads, 0, scratch.stream>>>(
      table, range_offsets, cell_words);
  check_launch(scratch.stream);
  for (std::uint64_t* values : {range_offsets, cell_words}) {
    with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(temporary, bytes, values, values, std::int64_t{table.cells} + 1,
                                           scratch.stream);
    });
  }
}

void launch_write_ranges(CellTable table, const std::uint64_t* range_offsets, Range* ranges, cudaStream_t stream) {
  write_ranges_kernel<<<blocks_of(table.cells), kThreads, 0, stream>>>(table, range_offsets, ranges);
  check_launch(stream);
}

void launch_offsets(const std::uint32_t* counts, std::uint32_t size, std::uint64_t* offsets, Scratch scratch) {
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, counted(CountOrZero{counts, size}), offsets,
                                         std::int64_t{size} + 1, scratch.stream);
  });
}

void launch_sum_and_largest(const std::uint32_t* counts, std::uint64_t size, std::uint64_t* sums, Scratch scratch) {
  const auto wide = thrust::make_transform_iterator(counts, Widen{});
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(temporary, bytes, wide, sums, static_cast<std::int64_t>(size), scratch.stream);
  });
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(temporary, bytes, wide, sums + 1, static_cast<std::int64_t>(size),
                                     thrust::maximum<std::uint64_t>{}, std::uint64_t{0}, scratch.stream);
  });
}

void launch_cut(const std::uint64_t* ascending, std::uint32_t size, std::uint32_t parts, std::uint32_t* indices,
                std::uint64_t* values, cudaStream_t stream) {
  cut_kernel<<<blocks_of(std::uint64_t{parts} + 1), kThreads, 0, stream>>>(ascending, size, parts, indices, values);
  check_launch(stream);
}

void launch_cut_words(GridView grid, std::uint32_t parts, std::uint32_t* rows, cudaStream_t stream) {
  cut_words_kernel<<<blocks_of(std::uint64_t{parts} + 1), kThreads, 0, stream>>>(grid, parts, rows);
  check_launch(stream);
}

void launch_longest_row(GridView grid, std::uint64_t* words, Scratch scratch) {
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(temporary, bytes, counted(RowWords{grid}), words, std::int64_t{grid.cells},
                                     thrust::maximum<std::uint64_t>{}, std::uint64_t{0}, scratch.stream);
  });
}

void launch_run_lengths(const std::uint32_t* keys, std::uint64_t size, std::uint32_t* values, std::uint32_t* lengths,
                        std::uint64_t* count, Scratch scratch) {
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(temporary, bytes, keys, values, lengths, count,
                                              static_cast<std::int64_t>(size), scratch.stream);
  });
}

}  // namespace epsflow::gpu
