// The points that a part shares with other parts, if it is clustered on a device (core/phases.hpp, SharedPoints).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <epsflow/core/phases.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/direct/device_cluster_sets.hpp>

namespace epsflow::gpu {

/// For one clustering. Its functions wait for the stream, except those for ghosts.
class DeviceShared {
 public:
  /// Replaces ids by positions. [device] [count]
  using FindPositions = std::function<void(std::uint32_t* ids, std::uint32_t count)>;
  /// size: number of points of the index. find: must work on the same stream.
  DeviceShared(const SharedPoints& shared, std::uint32_t size, const FindPositions& find, DeviceMemory& memory,
               cudaStream_t stream);

  /// Sets the counts of ghosts without labels to 0, so that none is core. counts: [device] [size] by position.
  void exclude_outer_ghosts(std::uint32_t* counts, cudaStream_t stream) const;
  /// Implements UnitedPart::shared_clusters().
  [[nodiscard]] std::vector<std::uint32_t> clusters(const LabelledLevel& level, cudaStream_t stream) const;
  /// Renumbers the clusters of a level, and adds up the sizes of clusters that get the same number.
  void renumber(const LabelledLevel& level, const ClusterNumbers& numbers, cudaStream_t stream) const;
  /// Subtracts core ghosts without labels from the sizes of clusters.
  void forget_ghosts(const LabelledLevel& level, cudaStream_t stream) const;

 private:
  [[nodiscard]] std::uint32_t asked() const noexcept { return static_cast<std::uint32_t>(positions_.size()) - ghosts_; }

  DeviceMemory& memory_;
  std::uint32_t ghosts_;                   ///< number of ghosts without labels
  DeviceBuffer<std::uint32_t> positions_;  ///< [asked + ghosts]
};

/// Implements DeviceShared::FindPositions by the id of each position. order: [size]
void launch_positions_of(const std::uint32_t* order, std::uint32_t size, std::uint32_t* ids, std::uint32_t count,
                         Scratch scratch);

}  // namespace epsflow::gpu
