// Makes the Clusters (core/labels.hpp) of a level that is clustered on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

/// A level whose clusters are numbered.
struct LabelledLevel {
  Nodes nodes;
  Numbering numbering;
  const std::uint32_t* node_of = nullptr;  ///< [size] the node of each position; null if nodes are positions
  std::uint32_t size = 0;                  ///< number of positions
  std::uint32_t labelled = 0;              ///< number of points that get labels; these have the smallest ids
};

/// Call take() for each level of one clustering, from its largest minpts down.
class DeviceClusterSets {
 public:
  /// labels: host memory for core_since. borders: border points are distinguished from noise; else clusters lack sizes.
  DeviceClusterSets(DeviceMemory& memory, PinnedPool& pinned, std::shared_ptr<LabelMemory> labels, bool borders)
      : memory_(memory), pinned_(pinned), labels_(std::move(labels)), borders_(borders) {}

  /// Returns the clusters of a level. clusters: their number. last: true for the smallest minpts, whose result includes
  /// core_since. Waits for the stream. O(nodes + size). Throws ResourceError.
  [[nodiscard]] Clusters take(const LabelledLevel& level, std::uint32_t clusters, bool last, cudaStream_t stream);

 private:
  DeviceMemory& memory_;
  PinnedPool& pinned_;
  std::shared_ptr<LabelMemory> labels_;
  bool borders_;
  DeviceBuffer<std::int32_t> core_since_;  ///< [size] by position
  DeviceBuffer<std::uint32_t> roots_;      ///< [clusters of the level before] one node of each
  std::uint32_t before_ = 0;               ///< number of clusters of the level before
  std::uint64_t all_before_ = 0;           ///< number of clusters of all levels so far
};

/// The properties of each cluster. [device] [clusters]
struct ClusterArrays {
  std::uint32_t* first_core;  ///< smallest id of a core point
  std::uint32_t* core;        ///< number of core points that get labels; null if `size` counts only core points
  std::uint32_t* size;        ///< number of points, as Numbering::sizes
  std::uint32_t* root;        ///< the node that is the root of its set
};

/// Writes the properties of each cluster. ClusterArrays::core must be null, or all zero before the call.
void launch_list_clusters(const LabelledLevel& level, const ClusterArrays& clusters, cudaStream_t stream);
/// Writes joined[k] = the number of the cluster that contains the node roots[k] at this level.
void launch_join_clusters(const Numbering& numbering, const std::uint32_t* roots, std::uint32_t count,
                          std::uint32_t* joined, cudaStream_t stream);
/// Writes core_since[p] = offset + the number of the cluster of position p, if p is core and core_since[p] is
/// kNeverCore.
void launch_core_since(const LabelledLevel& level, std::uint32_t offset, std::int32_t* core_since, cudaStream_t stream);
/// Copies core_since from positions to ids, for points that get labels.
void launch_core_since_by_id(const LabelledLevel& level, const std::int32_t* core_since, std::int32_t* by_id,
                             cudaStream_t stream);

}  // namespace epsflow::gpu
