#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/catalog/catalog_kernels.hpp>
#include <epsflow/gpu/catalog/catalog_tuning.hpp>

namespace epsflow::gpu {
namespace {

std::uint32_t blocks_of(std::uint64_t threads) {
  return static_cast<std::uint32_t>((threads + tuning::kCatalogThreads - 1) / tuning::kCatalogThreads);
}

__device__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * tuning::kCatalogThreads + threadIdx.x; }

__device__ void note_first(std::uint64_t* first, std::uint64_t i) {
  atomicMin(reinterpret_cast<unsigned long long*>(first), static_cast<unsigned long long>(i));
}

template <class T>
__global__ void __launch_bounds__(tuning::kCatalogThreads)
    scan_input_kernel(PointsOnDevice points, const std::int32_t* labels, const double* weights, bool on_sphere,
                      sums::Sky sky, InputFacts* found) {
  constexpr unsigned kWarpPoints = 32 * tuning::kScannedPoints;
  const T* const coordinates = static_cast<const T*>(points.data);
  const std::uint64_t first = thread_number() / 32 * kWarpPoints + threadIdx.x % 32;
  std::int32_t highest = -1;
  bool below = false;
  bool beyond = false;
  for (unsigned step = 0; step < tuning::kScannedPoints; ++step) {
    const std::uint64_t i = first + 32 * step;
    if (i >= points.size) break;
    const std::int32_t label = labels[i];
    highest = max(highest, label);
    if (label < -1) note_first(&found->bad_label, i);
    if (weights != nullptr && !(weights[i] >= 0 && isfinite(weights[i]))) note_first(&found->bad_weight, i);
    if (!on_sphere) continue;
    const auto longitude = static_cast<double>(coordinates[i * points.dims + sky.longitude]);
    below |= longitude < 0;
    beyond |= longitude > sky.half_turn();
  }
  highest = __reduce_max_sync(tuning::kWholeWarp, highest);
  below = __any_sync(tuning::kWholeWarp, below ? 1 : 0) != 0;
  beyond = __any_sync(tuning::kWholeWarp, beyond ? 1 : 0) != 0;
  if (threadIdx.x % 32 != 0) return;
  // Reads first, because most warps have nothing to add.
  const volatile InputFacts* const so_far = found;
  const std::uint32_t clusters = static_cast<std::uint32_t>(highest) + 1;
  if (clusters > so_far->clusters) atomicMax(&found->clusters, clusters);
  if (below && so_far->ways[0] == 0) atomicOr(&found->ways[0], 1U);
  if (beyond && so_far->ways[1] == 0) atomicOr(&found->ways[1], 1U);
}

__global__ void __launch_bounds__(tuning::kCatalogThreads)
    label_keys_kernel(const std::int32_t* labels, std::uint32_t size, std::uint32_t clusters, std::uint32_t* keys,
                      std::uint32_t* ids) {
  const std::uint64_t i = thread_number();
  if (i >= size) return;
  keys[i] = labels[i] < 0 ? clusters : static_cast<std::uint32_t>(labels[i]);
  ids[i] = static_cast<std::uint32_t>(i);
}

template <class T>
__global__ void __launch_bounds__(tuning::kCatalogThreads)
    gather_rows_kernel(const T* from, std::uint32_t dims, ClusterView clusters, T* to) {
  const std::uint64_t values = std::uint64_t{clusters.starts[clusters.count]} * dims;
  for (std::uint64_t j = thread_number(); j < values; j += std::uint64_t{gridDim.x} * tuning::kCatalogThreads) {
    to[j] = from[std::uint64_t{clusters.order[j / dims]} * dims + j % dims];
  }
}

__device__ std::uint32_t pieces_of(std::uint32_t size) { return (size - 1) / tuning::kCatalogPiece + 1; }

/// The position of pieces in the list depends on the order of threads. The order of the sums does not.
__global__ void __launch_bounds__(tuning::kCatalogThreads) cut_clusters_kernel(ClusterView clusters) {
  const std::uint64_t c = thread_number();
  const std::uint32_t start = c < clusters.count ? clusters.starts[c] : 0;
  const std::uint32_t size = c < clusters.count ? clusters.starts[c + 1] - start : 0;
  std::uint32_t first = 0;
  if (size > tuning::kCatalogPiece) {
    first = atomicAdd(clusters.counts, pieces_of(size));
    clusters.large[atomicAdd(clusters.counts + 1, 1U)] = {static_cast<std::uint32_t>(c), first};
  }
  for (unsigned todo = __ballot_sync(tuning::kWholeWarp, size > tuning::kCatalogPiece ? 1 : 0); todo != 0;
       todo &= todo - 1) {
    const int lane = __ffs(static_cast<int>(todo)) - 1;
    const auto cluster =
        static_cast<std::uint32_t>(__shfl_sync(tuning::kWholeWarp, static_cast<std::uint32_t>(c), lane));
    const std::uint32_t from = __shfl_sync(tuning::kWholeWarp, start, lane);
    const std::uint32_t pieces = pieces_of(__shfl_sync(tuning::kWholeWarp, size, lane));
    const std::uint32_t to = __shfl_sync(tuning::kWholeWarp, first, lane);
    for (std::uint32_t p = threadIdx.x % 32; p < pieces; p += 32)
      clusters.pieces[to + p] = {cluster, from + p * tuning::kCatalogPiece};
  }
}

}  // namespace

void launch_scan_input(PointsOnDevice points, const std::int32_t* labels, const double* weights, const sums::Sky* sky,
                       InputFacts* found, cudaStream_t stream) {
  constexpr std::size_t kFirsts = 2 * sizeof(std::uint64_t);
  check(cudaMemsetAsync(found, 0xFF, kFirsts, stream));
  check(cudaMemsetAsync(&found->clusters, 0, sizeof(InputFacts) - kFirsts, stream));
  constexpr std::uint64_t kWarpPoints = 32 * tuning::kScannedPoints;
  const std::uint32_t blocks = blocks_of((points.size + kWarpPoints - 1) / kWarpPoints * 32);
  const sums::Sky on = sky != nullptr ? *sky : sums::Sky{};
  if (points.precision == Precision::float32) {
    scan_input_kernel<float>
        <<<blocks, tuning::kCatalogThreads, 0, stream>>>(points, labels, weights, sky != nullptr, on, found);
  } else {
    scan_input_kernel<double>
        <<<blocks, tuning::kCatalogThreads, 0, stream>>>(points, labels, weights, sky != nullptr, on, found);
  }
  check_launch(stream);
}

void launch_label_keys(const std::int32_t* labels, std::uint32_t size, std::uint32_t clusters, std::uint32_t* keys,
                       std::uint32_t* ids, cudaStream_t stream) {
  label_keys_kernel<<<blocks_of(size), tuning::kCatalogThreads, 0, stream>>>(labels, size, clusters, keys, ids);
  check_launch(stream);
}

template <class T>
void launch_gather_rows(const T* from, std::uint32_t size, std::uint32_t dims, const ClusterView& clusters, T* to,
                        cudaStream_t stream) {
  constexpr std::uint64_t kMostThreads = std::uint64_t{tuning::kCatalogThreads} << 20;
  const std::uint32_t blocks = blocks_of(std::min(std::uint64_t{size} * dims, kMostThreads));
  gather_rows_kernel<<<blocks, tuning::kCatalogThreads, 0, stream>>>(from, dims, clusters, to);
  check_launch(stream);
}
template void launch_gather_rows(const float*, std::uint32_t, std::uint32_t, const ClusterView&, float*, cudaStream_t);
template void launch_gather_rows(const double*, std::uint32_t, std::uint32_t, const ClusterView&, double*,
                                 cudaStream_t);

void launch_cut_clusters(const ClusterView& clusters, cudaStream_t stream) {
  check(cudaMemsetAsync(clusters.counts, 0, 2 * sizeof(std::uint32_t), stream));
  cut_clusters_kernel<<<blocks_of(clusters.count), tuning::kCatalogThreads, 0, stream>>>(clusters);
  check_launch(stream);
}

}  // namespace epsflow::gpu
