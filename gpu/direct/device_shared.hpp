// What a part shares with others, where it is clustered on a device (core/phases.hpp, SharedPoints).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <epsflow/core/phases.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/direct/device_cluster_sets.hpp>

namespace epsflow::gpu {

/// For one clustering. Its functions wait for the stream, but for those of ghosts.
class DeviceShared {
 public:
  /// Puts positions in place of ids. [device] [count]
  using FindPositions = std::function<void(std::uint32_t* ids, std::uint32_t count)>;
  /// size: points of the index. find: work on the same stream.
  DeviceShared(const SharedPoints& shared, std::uint32_t size, const FindPositions& find, DeviceMemory& memory,
               cudaStream_t stream);

  /// Makes no ghost without labels core. counts: [device] [size] by position.
  void deny_ghosts(std::uint32_t* counts, cudaStream_t stream) const;
  /// As UnitedPart::shared_clusters() says.
  [[nodiscard]] std::vector<std::uint32_t> clusters(const LabelledLevel& level, cudaStream_t stream) const;
  /// Gives the clusters of a level other numbers, and adds up their sizes.
  void renumber(const LabelledLevel& level, const ClusterNumbers& numbers, cudaStream_t stream) const;
  /// Takes ghosts without labels that are core out of the sizes of clusters.
  void forget_ghosts(const LabelledLevel& level, cudaStream_t stream) const;

 private:
  [[nodiscard]] std::uint32_t asked() const noexcept { return static_cast<std::uint32_t>(positions_.size()) - ghosts_; }

  DeviceMemory& memory_;
  std::uint32_t ghosts_;                   ///< without labels
  DeviceBuffer<std::uint32_t> positions_;  ///< [asked + ghosts]
};

/// DeviceShared::FindPositions by the id of each position. order: [size]
void launch_positions_of(const std::uint32_t* order, std::uint32_t size, std::uint32_t* ids, std::uint32_t count,
                         Scratch scratch);

}  // namespace epsflow::gpu
