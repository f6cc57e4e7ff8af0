// The steps of a catalogue on the GPU. Arrays are in device memory. Steps that take a Scratch allocate temporary memory
// on its stream. None waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <epsflow/catalog/cluster_sums.hpp>
#include <epsflow/catalog/sky_sums.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// Facts about the points before they are sorted. An id is kAllFine if there is no such point.
struct InputFacts {
  std::uint64_t bad_label;   ///< the first id with a label below −1
  std::uint64_t bad_weight;  ///< the first id with a weight below 0 or not finite
  std::uint32_t clusters;    ///< one more than the highest label; 0 if all points are noise
  std::uint32_t ways[2];     ///< [0] 1 if any longitude is below 0, [1] 1 if any is above half a turn; else 0
};
inline constexpr std::uint64_t kAllFine = ~std::uint64_t{0};

/// Scans the points, labels and weights, and writes *found. weights: null if there are none. sky [host]: null if the
/// points are not on a sphere.
void launch_scan_input(PointsOnDevice points, const std::int32_t* labels, const double* weights, const sums::Sky* sky,
                       InputFacts* found, cudaStream_t stream);

/// Writes keys[i] = the label of point i, or `clusters` for noise, and ids[i] = i. keys, ids: [size]
void launch_label_keys(const std::int32_t* labels, std::uint32_t size, std::uint32_t clusters, std::uint32_t* keys,
                       std::uint32_t* ids, cudaStream_t stream);

/// A piece of a large cluster: at most tuning::kCatalogPiece of its points.
struct ClusterPiece {
  std::uint32_t cluster;
  std::uint32_t first;  ///< index of the piece's first point in ClusterView::order
};

/// The points of each cluster, without noise. All arrays are in device memory.
struct ClusterView {
  std::uint32_t count = 0;                ///< number of clusters
  const std::uint32_t* starts = nullptr;  ///< [count + 1] index in `order` of each cluster's first point
  const std::uint32_t* order = nullptr;  ///< [points in clusters] ids, ascending in each cluster; null for 0, 1, 2, …
  // The members below are for large clusters, of more than tuning::kCatalogPiece points.
  std::uint32_t most_pieces = 0;    ///< capacity of pieces
  std::uint32_t most_large = 0;     ///< capacity of large
  std::uint32_t* counts = nullptr;  ///< [2] number of pieces, and of large clusters
  ClusterPiece* pieces = nullptr;   ///< [most_pieces]
  ClusterPiece* large = nullptr;    ///< [most_large] the cluster and the index of its first piece
};

/// Copies row order[p] to to[p], for all p below starts[count]. from, to: [size × dims]. T: float or double.
template <class T>
void launch_gather_rows(const T* from, std::uint32_t size, std::uint32_t dims, const ClusterView& clusters, T* to,
                        cudaStream_t stream);

/// Divides large clusters into pieces: fills counts, pieces and large.
void launch_cut_clusters(const ClusterView& clusters, cudaStream_t stream);

/// Sums up each cluster in a fixed order: points of a piece by the lanes of a warp, then the lanes, then the pieces. So
/// sums are equal in each run. Call it after launch_cut_clusters(), unless most_large is 0. Sums: of
/// catalog/cluster_sums.hpp or sky_sums.hpp; sums along axes take two to four.
template <class Sums>
void launch_sums(const Sums& sums, const ClusterView& clusters, Scratch scratch);

}  // namespace epsflow::gpu
