#include <cuda_runtime.h>

#include <cstring>

#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/catalog/catalog_kernels.hpp>
#include <epsflow/gpu/catalog/catalog_tuning.hpp>

namespace epsflow::gpu {
namespace {

/// Returns the number of blocks for this many warps.
std::uint32_t blocks_of_warps(std::uint64_t warps) {
  constexpr unsigned kWarps = tuning::kCatalogThreads / 32;
  return static_cast<std::uint32_t>((warps + kWarps - 1) / kWarps);
}

__device__ std::uint64_t warp_number() {
  return (std::uint64_t{blockIdx.x} * tuning::kCatalogThreads + threadIdx.x) / 32;
}

/// Returns the row of the lane that is `distance` lanes higher.
template <class Row>
__device__ Row from_lane(const Row& row, unsigned distance) {
  static_assert(sizeof(Row) % sizeof(unsigned long long) == 0);
  constexpr unsigned kWords = sizeof(Row) / sizeof(unsigned long long);
  unsigned long long words[kWords];
  memcpy(words, &row, sizeof(Row));
#pragma unroll
  for (unsigned long long& word : words) word = __shfl_down_sync(tuning::kWholeWarp, word, distance);
  Row other;
  memcpy(&other, words, sizeof(Row));
  return other;
}

/// Combines the rows of all lanes in the row of the first lane.
template <class Sums>
__device__ void combine_lanes(const Sums& sums, typename Sums::Row& row) {
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) sums.combine(row, from_lane(row, distance));
}

__device__ std::uint32_t id_at(const ClusterView& clusters, std::uint32_t at) {
  return clusters.order == nullptr ? at : clusters.order[at];
}

__device__ sums::Cluster cluster_at(const ClusterView& clusters, std::uint32_t c) {
  const std::uint32_t start = clusters.starts[c];
  return {c, clusters.starts[c + 1] - start, id_at(clusters, start)};
}

/// Sums up the points [first, last) of the order. All lanes of a warp call it.
template <class Sums>
__device__ typename Sums::Row sum_up(const Sums& sums, const ClusterView& clusters, const sums::Cluster& cluster,
                                     std::uint32_t first, std::uint32_t last) {
  typename Sums::Row row = sums.empty();
  for (std::uint32_t at = first + threadIdx.x % 32; at < last; at += 32) {
    sums.add(row, cluster, id_at(clusters, at));
  }
  combine_lanes(sums, row);
  return row;
}

/// Sums up small clusters, of at most one piece: one warp for each.
template <class Sums>
__global__ void __launch_bounds__(tuning::kCatalogThreads)
    small_clusters_kernel(const __grid_constant__ Sums sums, const __grid_constant__ ClusterView clusters) {
  const std::uint64_t c = warp_number();
  if (c >= clusters.count) return;
  const std::uint32_t first = clusters.starts[c];
  const std::uint32_t last = clusters.starts[c + 1];
  if (last - first > tuning::kCatalogPiece) return;
  const sums::Cluster cluster = cluster_at(clusters, static_cast<std::uint32_t>(c));
  const typename Sums::Row row = sum_up(sums, clusters, cluster, first, last);
  if (threadIdx.x % 32 == 0) sums.finish(cluster, row);
}

/// Sums up the pieces of large clusters: one warp for each piece.
template <class Sums>
__global__ void __launch_bounds__(tuning::kCatalogThreads)
    pieces_kernel(const __grid_constant__ Sums sums, const __grid_constant__ ClusterView clusters,
                  typename Sums::Row* rows) {
  const std::uint64_t p = warp_number();
  if (p >= clusters.counts[0]) return;
  const ClusterPiece piece = clusters.pieces[p];
  const std::uint32_t last = min(piece.first + tuning::kCatalogPiece, clusters.starts[piece.cluster + 1]);
  const typename Sums::Row row = sum_up(sums, clusters, cluster_at(clusters, piece.cluster), piece.first, last);
  if (threadIdx.x % 32 == 0) rows[p] = row;
}

/// Combines the pieces of large clusters: one warp for each cluster.
template <class Sums>
__global__ void __launch_bounds__(tuning::kCatalogThreads)
    large_clusters_kernel(const __grid_constant__ Sums sums, const __grid_constant__ ClusterView clusters,
                          const typename Sums::Row* rows) {
  const std::uint64_t l = warp_number();
  if (l >= clusters.counts[1]) return;
  const auto [c, first] = clusters.large[l];
  const sums::Cluster cluster = cluster_at(clusters, c);
  const auto pieces = static_cast<std::uint32_t>((cluster.size - 1) / tuning::kCatalogPiece + 1);
  typename Sums::Row row = sums.empty();
  for (std::uint32_t p = threadIdx.x % 32; p < pieces; p += 32) sums.combine(row, rows[first + p]);
  combine_lanes(sums, row);
  if (threadIdx.x % 32 == 0) sums.finish(cluster, row);
}

}  // namespace

template <class Sums>
void launch_sums(const Sums& sums, const ClusterView& clusters, Scratch scratch) {
  if (clusters.count == 0) return;
  small_clusters_kernel<<<blocks_of_warps(clusters.count), tuning::kCatalogThreads, 0, scratch.stream>>>(sums,
                                                                                                         clusters);
  check_launch(scratch.stream);
  if (clusters.most_large == 0) return;
  const DeviceBuffer<typename Sums::Row> rows(scratch.memory, scratch.stream, clusters.most_pieces);
  pieces_kernel<<<blocks_of_warps(clusters.most_pieces), tuning::kCatalogThreads, 0, scratch.stream>>>(sums, clusters,
                                                                                                       rows.data());
  check_launch(scratch.stream);
  large_clusters_kernel<<<blocks_of_warps(clusters.most_large), tuning::kCatalogThreads, 0, scratch.stream>>>(
      sums, clusters, rows.data());
  check_launch(scratch.stream);
}

#define EPSFLOW_INSTANTIATE(...) template void launch_sums(const __VA_ARGS__&, const ClusterView&, Scratch)
#define EPSFLOW_INSTANTIATE_AXES(T, G)         \
  EPSFLOW_INSTANTIATE(sums::Directions<T, G>); \
  EPSFLOW_INSTANTIATE(sums::Means<T, G>);      \
  EPSFLOW_INSTANTIATE(sums::Spreads<T, G>)
#define EPSFLOW_INSTANTIATE_TYPE(T)         \
  EPSFLOW_INSTANTIATE(sums::SkyMeans<T>);   \
  EPSFLOW_INSTANTIATE(sums::SkySpreads<T>); \
  EPSFLOW_INSTANTIATE_AXES(T, 2);           \
  EPSFLOW_INSTANTIATE_AXES(T, 3);           \
  EPSFLOW_INSTANTIATE_AXES(T, 4)
EPSFLOW_INSTANTIATE(sums::Counts);
EPSFLOW_INSTANTIATE(sums::ColumnSums);
EPSFLOW_INSTANTIATE_TYPE(float);
EPSFLOW_INSTANTIATE_TYPE(double);
#undef EPSFLOW_INSTANTIATE_TYPE
#undef EPSFLOW_INSTANTIATE_AXES
#undef EPSFLOW_INSTANTIATE

}  // namespace epsflow::gpu
