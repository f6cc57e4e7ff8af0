// The clusters of a level on the device as objects, and how those of the level before lie in them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/direct/tally.hpp>

namespace epsflow::gpu {

/// A level as it has been labelled.
struct LabelledLevel {
  Nodes nodes;
  Numbering numbering;
  const std::uint32_t* node_of = nullptr;  ///< [size] the node of each position; null where nodes are positions
  std::uint32_t size = 0;                  ///< positions
  std::uint32_t labelled = 0;              ///< points that get labels, which have the smallest ids
};

/// For one clustering, from its largest minpts down.
class DeviceClusterSets {
 public:
  /// labels: of the host, for births. borders: whether border points are told from noise; else clusters have no sizes.
  DeviceClusterSets(DeviceMemory& memory, PinnedPool& pinned, std::shared_ptr<LabelMemory> labels, bool borders)
      : memory_(memory), pinned_(pinned), labels_(std::move(labels)), borders_(borders) {}

  /// The clusters of the level, so many as are told. last: of the smallest minpts, with births. Waits for the stream. O(nodes + size).
  [[nodiscard]] Clusters take(const LabelledLevel& level, std::uint32_t clusters, bool last, cudaStream_t stream);

 private:
  DeviceMemory& memory_;
  PinnedPool& pinned_;
  std::shared_ptr<LabelMemory> labels_;
  bool borders_;
  DeviceBuffer<std::int32_t> births_;  ///< [size] by position
  DeviceBuffer<std::uint32_t> roots_;  ///< [clusters of the level before] a node of each
  std::uint32_t before_ = 0;           ///< how many these are
  std::uint64_t all_before_ = 0;       ///< clusters of all levels so far
};

/// What is known of each cluster. [device] [clusters]
struct ClusterArrays {
  std::uint32_t* first_core;
  std::uint32_t* core;  ///< null where `size` has no border points
  std::uint32_t* size;
  std::uint32_t* root;
};

/// core: must be 0 to begin with, or null.
void launch_list_clusters(const LabelledLevel& level, const ClusterArrays& clusters, cudaStream_t stream);
/// joined[k]: the number of the cluster that holds node roots[k] now.
void launch_join_clusters(const Numbering& numbering, const std::uint32_t* roots, std::uint32_t count,
                          std::uint32_t* joined, cudaStream_t stream);
/// births[p] = offset and the number of its cluster, for positions of points that are core and had none.
void launch_births(const LabelledLevel& level, std::uint32_t offset, std::int32_t* births, cudaStream_t stream);
/// From positions to ids, of points that get labels.
void launch_births_by_id(const LabelledLevel& level, const std::int32_t* births, std::int32_t* by_id,
                         cudaStream_t stream);

}  // namespace epsflow::gpu
