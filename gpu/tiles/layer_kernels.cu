#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/tiles/layer_kernels.hpp>
#include <epsflow/gpu/tiles/tile_tuning.hpp>
#include <epsflow/index/layers.hpp>

namespace epsflow::gpu {
namespace {

using index::kBlockTiles;
using index::kMostFunctions;
using index::kTilePoints;
using index::LayerFunction;
using index::LayerInterval;
using index::LayersView;
using index::TileBlock;

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = ~0U;

/// Dimensions of the points of a tile that are in shared memory at a time.
constexpr std::uint32_t kStagedDims = kMostFunctions;
/// One more than the points of a tile, so that the dimensions of a point are in different banks.
constexpr std::uint32_t kStride = kTilePoints + 1;

std::uint32_t blocks_of(std::uint64_t items, unsigned per_block) {
  return static_cast<std::uint32_t>((items + per_block - 1) / per_block);
}

template <class T>
__global__ void layer_sample_kernel(PointsOnDevice points, std::uint64_t size, double* sample) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * tuning::kIndexThreads + threadIdx.x;
  if (at >= size * points.dims) return;
  const std::uint64_t row = index::layer_sample_row(at / points.dims, size, points.size);
  sample[at] = static_cast<double>(static_cast<const T*>(points.data)[row * points.dims + at % points.dims]);
}

/// The points of a tile, one for each thread, and the values of functions at them.
struct TileMemory {
  std::uint64_t rows[kTilePoints];          ///< offset of the point of each thread
  double values[kMostFunctions * kStride];  ///< coordinates, then value f of thread t at f · kStride + t
};

/// Computes the values of the first `count` functions, in units of the reach, as index::scaled_values(). order: null
/// for the identity. A thread may read only its own values unless the block synchronises first.
template <class T>
__device__ void scaled_values_of_tile(const PointsOnDevice& points, const std::uint32_t* order,
                                      const LayersView& layers, std::uint32_t count, TileMemory& memory) {
  const std::uint32_t thread = threadIdx.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kTilePoints;
  const std::uint64_t left = points.size - first;
  const auto here = static_cast<std::uint32_t>(left < kTilePoints ? left : kTilePoints);
  const T* const data = static_cast<const T*>(points.data);
  std::uint64_t row = 0;
  if (thread < here) {
    row = (order == nullptr ? first + thread : std::uint64_t{order[first + thread]}) * points.dims;
    memory.rows[thread] = row;
  }
  const std::uint32_t pivots = count > layers.sorted ? layers.pivot_count : layers.sorted_pivots;
  double sums[kMostFunctions] = {};
  for (std::uint32_t begin = 0; begin < points.dims && pivots > 0; begin += kStagedDims) {
    __syncthreads();
    const std::uint32_t dims = min(kStagedDims, points.dims - begin);
    for (std::uint32_t i = thread; i < here * kStagedDims; i += kTilePoints) {
      const std::uint32_t k = i % kStagedDims;
      const std::uint32_t p = i / kStagedDims;
      if (k < dims) memory.values[k * kStride + p] = static_cast<double>(data[memory.rows[p] + begin + k]);
    }
    __syncthreads();
    if (thread >= here) continue;
    for (std::uint32_t k = 0; k < dims; ++k) {
      const double x = memory.values[k * kStride + thread];
      const double* const pivot = layers.pivots + std::uint64_t{begin + k} * layers.pivot_count;
#pragma unroll
      for (std::uint32_t p = 0; p < kMostFunctions; ++p) {
        if (p >= pivots) break;
        const double diff = index::rounded_difference(x, __ldg(pivot + p));
        sums[p] = index::rounded_sum(sums[p], index::rounded_product(diff, diff));
      }
    }
  }
  __syncthreads();
  if (thread >= here) return;
  double* const own = memory.values + thread;
  // Goes through memory, because the compiler does not know the pivot of each function. Functions have pivots in order,
  // so pivot p belongs to a function f >= p: going from the last to the first, none is overwritten before it is read.
#pragma unroll
  for (std::uint32_t p = 0; p < kMostFunctions; ++p) own[p * kStride] = sums[p];
  for (std::uint32_t f = count; f-- > 0;) {
    const LayerFunction& function = layers.functions[f];
    const double value = function.pivot == LayerFunction::kNoPivot ? static_cast<double>(data[row + function.dim])
                                                                   : index::rounded_root(own[function.pivot * kStride]);
    own[f * kStride] = function.scaled(value);
  }
}

template <class T>
__global__ void __launch_bounds__(kTilePoints)
    layer_keys_kernel(PointsOnDevice points, LayersView layers, std::uint64_t* keys, std::uint32_t* ids) {
  __shared__ TileMemory memory;
  scaled_values_of_tile<T>(points, nullptr, layers, layers.sorted, memory);
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kTilePoints + threadIdx.x;
  if (i >= points.size) return;
  double scaled[index::kMostLayers];
  for (std::uint32_t f = 0; f < layers.sorted; ++f) scaled[f] = memory.values[f * kStride + threadIdx.x];
  keys[i] = index::layer_key(layers, scaled);
  ids[i] = static_cast<std::uint32_t>(i);
}

__global__ void identity_kernel(std::uint32_t* ids, std::uint32_t size) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * tuning::kIndexThreads + threadIdx.x;
  if (i < size) ids[i] = static_cast<std::uint32_t>(i);
}

template <class T>
__global__ void __launch_bounds__(kTilePoints)
    tile_bounds_kernel(PointsOnDevice points, const std::uint32_t* order, LayersView layers, LayerInterval* of_tiles) {
  __shared__ TileMemory memory;
  scaled_values_of_tile<T>(points, order, layers, layers.count, memory);
  __syncthreads();
  const std::uint64_t left = points.size - std::uint64_t{blockIdx.x} * kTilePoints;
  const auto here = static_cast<std::uint32_t>(left < kTilePoints ? left : kTilePoints);
  const std::uint32_t lane = threadIdx.x % kWarp;
  for (std::uint32_t f = threadIdx.x / kWarp; f < layers.count; f += kTilePoints / kWarp) {
    const double* const values = memory.values + f * kStride;
    double lo = values[0];
    double hi = lo;
    for (std::uint32_t p = lane; p < here; p += kWarp) {
      lo = fmin(lo, values[p]);
      hi = fmax(hi, values[p]);
    }
    for (unsigned step = kWarp / 2; step > 0; step /= 2) {
      lo = fmin(lo, __shfl_xor_sync(kAllLanes, lo, step));
      hi = fmax(hi, __shfl_xor_sync(kAllLanes, hi, step));
    }
    if (lane == 0)
      of_tiles[std::uint64_t{f} * gridDim.x + blockIdx.x] = index::interval_of(layers.functions[f], lo, hi);
  }
}

__global__ void block_bounds_kernel(const LayerInterval* of_tiles, std::uint32_t functions, std::uint32_t tiles,
                                    std::uint32_t blocks, LayerInterval* of_blocks) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * tuning::kIndexThreads + threadIdx.x;
  if (at >= std::uint64_t{functions} * blocks) return;
  const std::uint64_t function = at / blocks;
  const auto block = static_cast<std::uint32_t>(at % blocks);
  const LayerInterval* const intervals = of_tiles + function * tiles;
  const std::uint32_t end = min(tiles, (block + 1) * kBlockTiles);
  LayerInterval whole = intervals[block * kBlockTiles];
  for (std::uint32_t tile = block * kBlockTiles + 1; tile < end; ++tile) {
    whole = {fminf(whole.lo, intervals[tile].lo), fmaxf(whole.hi, intervals[tile].hi)};
  }
  of_blocks[at] = whole;
}

__device__ bool blocks_apart(const TileBoundsView& bounds, std::uint32_t a, std::uint32_t b) {
  for (std::uint32_t f = 0; f < bounds.functions; ++f) {
    const LayerInterval* const intervals = bounds.of_blocks + std::uint64_t{f} * bounds.blocks;
    if (index::are_apart(intervals[a], intervals[b])) return true;
  }
  return false;
}

/// Returns the bits of a TileBlock to all lanes. All lanes of a warp must call it; each makes two tests.
__device__ std::uint64_t pairs_between(const TileBoundsView& bounds, std::uint32_t rows, std::uint32_t columns,
                                       std::uint32_t lane) {
  std::uint32_t halves[2];
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t bit = half * kWarp + lane;
    const std::uint32_t row = rows * kBlockTiles + bit / kBlockTiles;
    const std::uint32_t column = columns * kBlockTiles + bit % kBlockTiles;
    bool near = row <= column && column < bounds.tiles;
    for (std::uint32_t f = 0; f < bounds.functions && near; ++f) {
      const LayerInterval* const intervals = bounds.of_tiles + std::uint64_t{f} * bounds.tiles;
      near = !index::are_apart(intervals[row], intervals[column]);
    }
    halves[half] = __ballot_sync(kAllLanes, near);
  }
  return std::uint64_t{halves[1]} << 32 | halves[0];
}

/// Calls f(rows, columns, pairs) for blocks of the upper triangle, one in each lane; pairs is 0 if not to be listed.
template <class F>
__device__ void for_each_block(const TileBoundsView& bounds, F f) {
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint64_t chunks = (bounds.blocks + kWarp - 1) / kWarp;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (tuning::kIndexThreads / kWarp);
  for (std::uint64_t item = (std::uint64_t{blockIdx.x} * tuning::kIndexThreads + threadIdx.x) / kWarp;
       item < chunks * bounds.blocks; item += warps) {
    const auto rows = static_cast<std::uint32_t>(item / chunks);
    const auto first = static_cast<std::uint32_t>(item % chunks * kWarp);
    const std::uint32_t columns = first + lane;
    if (first + kWarp <= rows) continue;
    const bool near = columns >= rows && columns < bounds.blocks && !blocks_apart(bounds, rows, columns);
    std::uint64_t own = 0;
    for (std::uint32_t left = __ballot_sync(kAllLanes, near); left != 0; left &= left - 1) {
      const auto owner = static_cast<std::uint32_t>(__ffs(static_cast<int>(left)) - 1);
      const std::uint64_t pairs = pairs_between(bounds, rows, first + owner, lane);
      if (lane == owner) own = pairs;
    }
    f(rows, columns, own);
  }
}

__global__ void __launch_bounds__(tuning::kIndexThreads)
    count_tile_blocks_kernel(TileBoundsView bounds, TileBlockCounts* counts) {
  TileBlockCounts own{0, 0};
  for_each_block(bounds, [&](std::uint32_t, std::uint32_t, std::uint64_t pairs) {
    own.blocks += pairs != 0 ? 1 : 0;
    own.pairs += static_cast<std::uint32_t>(__popcll(pairs));
  });
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    own.blocks += __shfl_xor_sync(kAllLanes, own.blocks, step);
    own.pairs += __shfl_xor_sync(kAllLanes, own.pairs, step);
  }
  if (threadIdx.x % kWarp != 0 || own.blocks == 0) return;
  atomicAdd(&counts->blocks, own.blocks);
  atomicAdd(&counts->pairs, own.pairs);
}

/// The sort key of a block in the list: class, rows, columns.
struct BlockKey {
  std::uint32_t index_bits;
  __host__ __device__ std::uint64_t make(std::uint64_t pairs, std::uint32_t rows, std::uint32_t columns) const {
    return (std::uint64_t{index::block_class(pairs)} << index_bits | rows) << index_bits | columns;
  }
  __device__ std::uint32_t columns(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key & ((std::uint64_t{1} << index_bits) - 1));
  }
  __device__ std::uint32_t rows(std::uint64_t key) const { return columns(key >> index_bits); }
};

/// Writes the keys in any order; they are sorted later. *next: zero before the kernel.
__global__ void __launch_bounds__(tuning::kIndexThreads)
    tile_block_keys_kernel(TileBoundsView bounds, BlockKey key, std::uint64_t count, std::uint64_t* keys,
                           unsigned long long* next) {
  const std::uint32_t lane = threadIdx.x % kWarp;
  for_each_block(bounds, [&](std::uint32_t rows, std::uint32_t columns, std::uint64_t pairs) {
    const std::uint32_t listed = __ballot_sync(kAllLanes, pairs != 0);
    if (listed == 0) return;
    unsigned long long begin = 0;
    if (lane == 0) begin = atomicAdd(next, static_cast<unsigned long long>(__popc(listed)));
    begin = __shfl_sync(kAllLanes, begin, 0);
    const std::uint64_t at = begin + static_cast<std::uint32_t>(__popc(listed & ((1U << lane) - 1)));
    if (pairs != 0 && at < count) keys[at] = key.make(pairs, rows, columns);
  });
}

__global__ void __launch_bounds__(tuning::kIndexThreads)
    tile_blocks_kernel(TileBoundsView bounds, BlockKey key, std::uint64_t count, const std::uint64_t* keys,
                       TileBlock* list) {
  const std::uint64_t at = (std::uint64_t{blockIdx.x} * tuning::kIndexThreads + threadIdx.x) / kWarp;
  if (at >= count) return;
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint32_t rows = key.rows(keys[at]);
  const std::uint32_t columns = key.columns(keys[at]);
  const std::uint64_t pairs = pairs_between(bounds, rows, columns, lane);
  if (lane == 0) list[at] = {rows, columns, pairs};
}

/// Returns enough blocks to keep the device busy with the triangle. A warp processes several parts of it in turn.
std::uint32_t triangle_blocks(const TileBoundsView& bounds) {
  const std::uint64_t warps = std::uint64_t{bounds.blocks} * ((bounds.blocks + kWarp - 1) / kWarp);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(warps / (tuning::kIndexThreads / kWarp) + 1, 1, tuning::kTriangleBlocks));
}

}  // namespace

void launch_layer_sample(PointsOnDevice points, std::uint64_t size, double* sample, cudaStream_t stream) {
  if (size == 0) return;
  const std::uint32_t blocks = blocks_of(size * points.dims, tuning::kIndexThreads);
  if (points.precision == Precision::float32) {
    layer_sample_kernel<float><<<blocks, tuning::kIndexThreads, 0, stream>>>(points, size, sample);
  } else {
    layer_sample_kernel<double><<<blocks, tuning::kIndexThreads, 0, stream>>>(points, size, sample);
  }
  check_launch(stream);
}

void launch_layer_keys(PointsOnDevice points, const LayersView& layers, std::uint64_t* keys, std::uint32_t* ids,
                       cudaStream_t stream) {
  if (points.size == 0) return;
  const std::uint32_t blocks = index::tiles_of(points.size);
  if (points.precision == Precision::float32) {
    layer_keys_kernel<float><<<blocks, kTilePoints, 0, stream>>>(points, layers, keys, ids);
  } else {
    layer_keys_kernel<double><<<blocks, kTilePoints, 0, stream>>>(points, layers, keys, ids);
  }
  check_launch(stream);
}

void launch_identity(std::uint32_t* ids, std::uint32_t size, cudaStream_t stream) {
  if (size == 0) return;
  identity_kernel<<<blocks_of(size, tuning::kIndexThreads), tuning::kIndexThreads, 0, stream>>>(ids, size);
  check_launch(stream);
}

void launch_tile_bounds(PointsOnDevice points, const std::uint32_t* order, const LayersView& layers,
                        LayerInterval* of_tiles, LayerInterval* of_blocks, cudaStream_t stream) {
  if (points.size == 0 || layers.count == 0) return;
  const std::uint32_t tiles = index::tiles_of(points.size);
  if (points.precision == Precision::float32) {
    tile_bounds_kernel<float><<<tiles, kTilePoints, 0, stream>>>(points, order, layers, of_tiles);
  } else {
    tile_bounds_kernel<double><<<tiles, kTilePoints, 0, stream>>>(points, order, layers, of_tiles);
  }
  check_launch(stream);
  const std::uint32_t blocks = index::tile_blocks_of(tiles);
  block_bounds_kernel<<<blocks_of(std::uint64_t{layers.count} * blocks, tuning::kIndexThreads), tuning::kIndexThreads,
                        0, stream>>>(of_tiles, layers.count, tiles, blocks, of_blocks);
  check_launch(stream);
}

void launch_count_tile_blocks(TileBoundsView bounds, TileBlockCounts* counts, cudaStream_t stream) {
  check(cudaMemsetAsync(counts, 0, sizeof *counts, stream));
  if (bounds.blocks == 0) return;
  count_tile_blocks_kernel<<<triangle_blocks(bounds), tuning::kIndexThreads, 0, stream>>>(bounds, counts);
  check_launch(stream);
}

void launch_list_tile_blocks(TileBoundsView bounds, std::uint64_t count, TileBlock* list, Scratch scratch) {
  if (count == 0) return;
  const BlockKey key{static_cast<std::uint32_t>(std::bit_width(bounds.blocks - 1))};
  const DeviceBuffer<std::uint64_t> memory(scratch.memory, scratch.stream, 2 * count);
  const DeviceBuffer<unsigned long long> next(scratch.memory, scratch.stream, 1);
  check(cudaMemsetAsync(next.data(), 0, next.bytes(), scratch.stream));
  tile_block_keys_kernel<<<triangle_blocks(bounds), tuning::kIndexThreads, 0, scratch.stream>>>(
      bounds, key, count, memory.data(), next.data());
  check_launch(scratch.stream);
  cub::DoubleBuffer<std::uint64_t> keys(memory.data(), memory.data() + count);
  const int bits = static_cast<int>(2 * key.index_bits + std::bit_width(index::kBlockClasses - 1));
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, static_cast<std::int64_t>(count), 0, bits,
                                          scratch.stream);
  });
  tile_blocks_kernel<<<blocks_of(count, tuning::kIndexThreads / kWarp), tuning::kIndexThreads, 0, scratch.stream>>>(
      bounds, key, count, keys.Current(), list);
  check_launch(scratch.stream);
}

}  // namespace epsflow::gpu
