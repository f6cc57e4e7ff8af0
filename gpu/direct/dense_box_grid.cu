#include <thrust/functional.h>
#include <cub/device/device_scan.cuh>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/base/with_scratch.hpp>
#include <epsflow/gpu/direct/dense_box_grid.hpp>
#include <epsflow/gpu/direct/dense_box_view.cuh>
#include <epsflow/gpu/direct/rank_bitmap.cuh>
#include <epsflow/gpu/direct/tally.cuh>

namespace epsflow::gpu {
namespace {

template <class T, unsigned D, class Key>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    gather_kernel(const Coordinates<T, D>* points, const std::uint32_t* order, const Key* keys, std::uint32_t size,
                  Coordinates<T, D>* out, RankWord* words) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  out[i] = load_coordinates<T, D>(points, order[i]);
  if (words == nullptr) return;
  const Key key = keys[i];
  if (i == 0 || keys[i - 1] != key) atomicOr(&words[key / 32].bits, 1U << (key % 32));
}

/// Stores the key of a cell whose first position is i.
template <class Key>
__device__ void store_key(KeyHalves to, std::uint32_t cell, const Key* keys, std::uint64_t i) {
  to.low[cell] = static_cast<std::uint32_t>(keys[i]);
  if constexpr (sizeof(Key) == 8) {
    const auto high = static_cast<std::uint32_t>(keys[i] >> 32);
    if (to.high != nullptr) to.high[cell] = high;
    const bool first = high == 1 && (i == 0 || keys[i - 1] >> 32 == 0);
    if (first && to.first_high != nullptr) *to.first_high = cell;
  }
}

template <class Key>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    cells_kernel(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                 std::uint32_t* starts, KeyHalves cell_keys) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  const Key key = keys[i];
  const std::uint32_t cell = rank_before(words, key);
  cell_of[i] = cell;
  if (i == 0 || keys[i - 1] != key) {
    starts[cell] = static_cast<std::uint32_t>(i);
    store_key(cell_keys, cell, keys, i);
  }
  if (i + 1 == size) starts[cell + 1] = size;
}

template <class Key>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    starts_kernel(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t* starts,
                  KeyHalves cell_keys) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  const std::uint32_t cell = cell_of[i];
  if (i == 0 || cell_of[i - 1] != cell) {
    starts[cell] = static_cast<std::uint32_t>(i);
    store_key(cell_keys, cell, keys, i);
  }
  if (i + 1 == size) starts[cell + 1] = size;
}

/// The last position of each block determines the number of cells up to the end of the block.
template <class Key>
__global__ void __launch_bounds__(tuning::kDirectThreads)
    block_ends_kernel(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t block_bits,
                      std::uint32_t* ends) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  const Key block = keys[i] >> block_bits;
  if (i + 1 == size || keys[i + 1] >> block_bits != block) ends[block] = cell_of[i] + 1;
}

}  // namespace

template <class Key>
void launch_gather_dense_boxes(PointsOnDevice points, const std::uint32_t* order, const Key* keys, void* points_out,
                               RankWord* words, cudaStream_t stream) {
  with_point_types(points.precision, points.dims, [&]<class T, unsigned D>() {
    gather_kernel<T, D, Key><<<direct_blocks(points.size), tuning::kDirectThreads, 0, stream>>>(
        static_cast<const Coordinates<T, D>*>(points.data), order, keys, points.size,
        static_cast<Coordinates<T, D>*>(points_out), words);
  });
  check_launch(stream);
}

template <class Key>
void launch_dense_box_cells(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                            std::uint32_t* starts, KeyHalves cell_keys, cudaStream_t stream) {
  cells_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(keys, words, size, cell_of, starts,
                                                                           cell_keys);
  check_launch(stream);
}

template <class Key>
void launch_dense_box_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t* starts,
                             KeyHalves cell_keys, cudaStream_t stream) {
  starts_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, stream>>>(keys, cell_of, size, starts, cell_keys);
  check_launch(stream);
}

template <class Key>
void launch_key_blocks(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t block_bits,
                       std::uint32_t* block_starts, std::uint64_t blocks, Scratch scratch) {
  check(cudaMemsetAsync(block_starts, 0, (blocks + 1) * sizeof(std::uint32_t), scratch.stream));
  std::uint32_t* const ends = block_starts + 1;
  block_ends_kernel<<<direct_blocks(size), tuning::kDirectThreads, 0, scratch.stream>>>(keys, cell_of, size, block_bits,
                                                                                        ends);
  check_launch(scratch.stream);
  // A block without cells ends at the same cell as the last block before it that has cells.
  with_scratch(scratch, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(temporary, bytes, ends, ends, thrust::maximum<std::uint32_t>{},
                                          static_cast<std::int64_t>(blocks), scratch.stream);
  });
}

#define EPSFLOW_INSTANTIATE(Key)                                                                                       \
  template void launch_gather_dense_boxes<Key>(PointsOnDevice, const std::uint32_t*, const Key*, void*, RankWord*,     \
                                               cudaStream_t);                                                          \
  template void launch_dense_box_cells<Key>(const Key*, const RankWord*, std::uint32_t, std::uint32_t*,                \
                                            std::uint32_t*, KeyHalves, cudaStream_t);                                  \
  template void launch_dense_box_starts<Key>(const Key*, const std::uint32_t*, std::uint32_t, std::uint32_t*,          \
                                             KeyHalves, cudaStream_t);                                                 \
  template void launch_key_blocks<Key>(const Key*, const std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t*, \
                                       std::uint64_t, Scratch)
EPSFLOW_INSTANTIATE(std::uint32_t);
EPSFLOW_INSTANTIATE(std::uint64_t);
#undef EPSFLOW_INSTANTIATE

}  // namespace epsflow::gpu
