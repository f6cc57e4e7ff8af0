// The steps of a catalogue on the GPU. Those that take a Scratch allocate temporary memory on its stream; none waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/catalog/cluster_sums.hpp>
#include <epsflow/catalog/sky_sums.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// What is known before points are sorted. Ids are of the first such point, or kAllFine.
struct LookedAt {
  std::uint64_t bad_label;   ///< whose label is below −1
  std::uint64_t bad_weight;  ///< whose weight is below 0 or not finite
  std::uint32_t clusters;    ///< one more than the highest label
  std::uint32_t ways[2];     ///< sums::Sky::ways
};
inline constexpr std::uint64_t kAllFine = ~std::uint64_t{0};

/// weights: null where there are none. sky: null where points are on no sphere. [device] *found
void launch_look(PointsOnDevice points, const std::int32_t* labels, const double* weights, const sums::Sky* sky,
                 LookedAt* found, cudaStream_t stream);

/// keys[i]: the label of point i, of noise `clusters`; ids[i] = i. [size]
void launch_label_keys(const std::int32_t* labels, std::uint32_t size, std::uint32_t clusters, std::uint32_t* keys,
                       std::uint32_t* ids, cudaStream_t stream);

/// Part of a large cluster.
struct ClusterPiece {
  std::uint32_t cluster;
  std::uint32_t first;  ///< its first point, in the order of the clusters
};

/// Where the points of each cluster are. All arrays are in device memory.
struct ClusterView {
  std::uint32_t count = 0;                ///< of clusters
  const std::uint32_t* starts = nullptr;  ///< [count + 1]
  const std::uint32_t* order = nullptr;   ///< [points in clusters] ids, ascending in each cluster; null: 0, 1, 2, …
  // Of clusters of more points than a piece has.
  std::uint32_t most_pieces = 0;  ///< there is room for so many
  std::uint32_t most_large = 0;
  std::uint32_t* counts = nullptr;  ///< [2] pieces, and such clusters
  ClusterPiece* pieces = nullptr;   ///< [pieces]
  ClusterPiece* large = nullptr;    ///< [large] cluster, and its first piece
};

/// to[p]: the row order[p] of `from`, for each point p of the order that is in a cluster. from, to: [size × dims]. T: float or double.
template <class T>
void launch_gather_rows(const T* from, std::uint32_t size, std::uint32_t dims, const ClusterView& clusters, T* to,
                        cudaStream_t stream);

/// Cuts large clusters into pieces: fills counts, pieces and large.
void launch_cut_clusters(const ClusterView& clusters, cudaStream_t stream);

/// Sums up each cluster: points of a piece by lane of a warp, lanes in a fixed order, then pieces likewise. So sums are the same from run to
/// run. Sums: one of catalog/cluster_sums.hpp or sky_sums.hpp, with up to four axes.
template <class Sums>
void launch_sums(const Sums& sums, const ClusterView& clusters, Scratch scratch);

}  // namespace epsflow::gpu
