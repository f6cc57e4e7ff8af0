#include <epsflow/gpu/direct/clique_grid.hpp>
#include <epsflow/gpu/direct/clique_view.cuh>
#include <epsflow/gpu/direct/rank_bitmap.cuh>
#include <epsflow/gpu/direct/tally.cuh>
#include <epsflow/gpu/error.hpp>

namespace epsflow::gpu {
namespace {

constexpr unsigned kThreads = tuning::kDirectThreads;

template <class T, unsigned D, class Key>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const Place<T, D>* points, const std::uint32_t* order, const Key* keys, std::uint32_t size,
                  Place<T, D>* out, RankWord* words) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  out[i] = load_place<T, D>(points, order[i]);
  if (words == nullptr) return;
  const Key key = keys[i];
  if (i == 0 || keys[i - 1] != key) atomicOr(&words[key / 32].bits, 1U << (key % 32));
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    cells_kernel(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                 std::uint32_t* starts, Key* cell_keys) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  const Key key = keys[i];
  const std::uint32_t cell = rank_before(words, key);
  cell_of[i] = cell;
  if (i == 0 || keys[i - 1] != key) {
    starts[cell] = static_cast<std::uint32_t>(i);
    cell_keys[cell] = key;
  }
  if (i + 1 == size) starts[cell + 1] = size;
}

template <class Key>
__global__ void __launch_bounds__(kThreads) starts_kernel(const Key* keys, const std::uint32_t* cell_of,
                                                          std::uint32_t size, std::uint32_t* starts, Key* cell_keys) {
  const std::uint64_t i = direct_thread();
  if (i >= size) return;
  const std::uint32_t cell = cell_of[i];
  if (i == 0 || cell_of[i - 1] != cell) {
    starts[cell] = static_cast<std::uint32_t>(i);
    cell_keys[cell] = keys[i];
  }
  if (i + 1 == size) starts[cell + 1] = size;
}

}  // namespace

template <class Key>
void launch_gather_cliques(PointsOnDevice points, const std::uint32_t* order, const Key* keys, void* points_out,
                           RankWord* words, cudaStream_t stream) {
  for_places(points.precision, points.dims, [&]<class T, unsigned D>() {
    gather_kernel<T, D, Key><<<direct_blocks(points.size), kThreads, 0, stream>>>(
        static_cast<const Place<T, D>*>(points.data), order, keys, points.size, static_cast<Place<T, D>*>(points_out),
        words);
  });
  check_launch(stream);
}

template <class Key>
void launch_clique_cells(const Key* keys, const RankWord* words, std::uint32_t size, std::uint32_t* cell_of,
                         std::uint32_t* starts, Key* cell_keys, cudaStream_t stream) {
  cells_kernel<<<direct_blocks(size), kThreads, 0, stream>>>(keys, words, size, cell_of, starts, cell_keys);
  check_launch(stream);
}

template <class Key>
void launch_clique_starts(const Key* keys, const std::uint32_t* cell_of, std::uint32_t size, std::uint32_t* starts,
                          Key* cell_keys, cudaStream_t stream) {
  starts_kernel<<<direct_blocks(size), kThreads, 0, stream>>>(keys, cell_of, size, starts, cell_keys);
  check_launch(stream);
}

#define EPSFLOW_INSTANTIATE(Key)                                                                                     \
  template void launch_gather_cliques<Key>(PointsOnDevice, const std::uint32_t*, const Key*, void*, RankWord*,       \
                                           cudaStream_t);                                                            \
  template void launch_clique_cells<Key>(const Key*, const RankWord*, std::uint32_t, std::uint32_t*, std::uint32_t*, \
                                         Key*, cudaStream_t);                                                        \
  template void launch_clique_starts<Key>(const Key*, const std::uint32_t*, std::uint32_t, std::uint32_t*, Key*,     \
                                          cudaStream_t)
EPSFLOW_INSTANTIATE(std::uint32_t);
EPSFLOW_INSTANTIATE(std::uint64_t);
#undef EPSFLOW_INSTANTIATE

}  // namespace epsflow::gpu
