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

/// The shared points of one clustering. clusters() and renumber() wait for the stream; exclude_outer_ghosts() and
/// forget_ghosts() do not. All functions throw DeviceError if a call of CUDA fails, and DeviceOutOfMemory if the memory
/// of the device does not suffice.
class DeviceShared {
 public:
  /// Replaces each point id by the position of that point in the index. ids: [device] [count].
  using FindPositions = std::function<void(std::uint32_t* ids, std::uint32_t count)>;
  /// size: number of points of the index. find: must work on `stream`.
  DeviceShared(const SharedPoints& shared, std::uint32_t size, const FindPositions& find, DeviceMemory& memory,
               cudaStream_t stream);

  /// Sets the counts of outer ghosts to 0, so that none is core. counts: [device] [size], by position.
  void exclude_outer_ghosts(std::uint32_t* counts, cudaStream_t stream) const;
  /// Implements UnitedPart::shared_clusters(): returns the cluster of each requested point, or kNoSet if the point is
  /// not core.
  [[nodiscard]] std::vector<std::uint32_t> clusters(const LabelledLevel& level, cudaStream_t stream) const;
  /// Gives the clusters of a level other numbers, and adds up the sizes of clusters that get the same number.
  void renumber(const LabelledLevel& level, const ClusterNumbers& numbers, cudaStream_t stream) const;
  /// Subtracts the outer ghosts that are core from the sizes of their clusters.
  void forget_ghosts(const LabelledLevel& level, cudaStream_t stream) const;

 private:
  [[nodiscard]] std::uint32_t asked() const noexcept { return static_cast<std::uint32_t>(positions_.size()) - ghosts_; }

  DeviceMemory& memory_;
  std::uint32_t ghosts_;                   ///< number of outer ghosts
  DeviceBuffer<std::uint32_t> positions_;  ///< [asked + ghosts] the requested points, then the outer ghosts
};

/// Replaces point ids by positions, for DeviceShared::FindPositions. order: [device] [size] the id of the point at each
/// position. ids: [device] [count]. Does not wait. Throws DeviceError, DeviceOutOfMemory.
void launch_positions_of(const std::uint32_t* order, std::uint32_t size, std::uint32_t* ids, std::uint32_t count,
                         Scratch scratch);

}  // namespace epsflow::gpu
