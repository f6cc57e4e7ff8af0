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

/// For one clustering. Its functions wait for the stream, but for forget_ghosts().
class DeviceShared {
 public:
  /// Puts positions in place of ids. [device] [count]
  using FindPositions = std::function<void(std::uint32_t* ids, std::uint32_t count)>;
  /// minpts: all of the clustering, descending. size: points of the index. find: work on the same stream.
  DeviceShared(const SharedPoints& shared, std::span<const std::uint32_t> minpts, std::uint32_t size,
               const FindPositions& find, DeviceMemory& memory, cudaStream_t stream);

  /// counts: [device] [size] by position.
  [[nodiscard]] std::vector<std::uint16_t> lent_levels(const std::uint32_t* counts, cudaStream_t stream) const;
  void borrow_levels(std::span<const std::uint16_t> levels, std::uint32_t* counts, cudaStream_t stream) const;
  /// As United::shared_clusters() says.
  [[nodiscard]] std::vector<std::uint32_t> clusters(const LabelledLevel& level, cudaStream_t stream) const;
  /// Gives the clusters of a level other numbers, and adds up their sizes.
  void renumber(const LabelledLevel& level, const ClusterNumbers& numbers, cudaStream_t stream) const;
  /// Takes ghosts that are core out of the sizes of clusters.
  void forget_ghosts(const LabelledLevel& level, cudaStream_t stream) const;

 private:
  [[nodiscard]] std::uint32_t lent() const noexcept { return size() - borrowed_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(positions_.size()); }

  DeviceMemory& memory_;
  std::uint32_t borrowed_;
  std::uint32_t levels_;
  DeviceBuffer<std::uint32_t> minpts_;     ///< [levels]
  DeviceBuffer<std::uint32_t> positions_;  ///< [lent + borrowed]
};

/// DeviceShared::FindPositions by the id of each position. order: [size]
void launch_positions_of(const std::uint32_t* order, std::uint32_t size, std::uint32_t* ids, std::uint32_t count,
                         Scratch scratch);

}  // namespace epsflow::gpu
