// Core points that stay on the device, for places that are brought to them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <epsflow/core/kept_core.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/direct/clique_grid.hpp>

namespace epsflow::gpu {

/// What it works with, all of which must outlive it.
struct DeviceCoreHome {
  int device;
  unsigned threads;
  DeviceMemory& memory;
  PinnedPool& pinned;
  std::shared_ptr<LabelMemory> labels;
};

/// assign() sorts core points and places together into clique cells. Each place then takes the lowest cluster among cells that have
/// core points within the radius, as border points do. Returns nothing if the cells are no cliques, if a cell has core points of
/// different labels (no clustering makes these), or if there are more than kMostGpuPoints together.
class DeviceCore final : public KeptCore {
 public:
  /// The GPU must be the current one. Throws DeviceOutOfMemory.
  DeviceCore(const CoreInput& core, const DeviceCoreHome& home);

  /// Whether this class can keep them: at most three dimensions, at most kMostGpuPoints points, and no label equal to kNoNumber.
  [[nodiscard]] static bool serves(const CoreInput& core) noexcept;

  [[nodiscard]] std::uint64_t bytes() const override { return 0; }
  /// Where an axis has gaps all points are brought to the host, sorted coordinates and stretches are made of them.
  [[nodiscard]] std::uint64_t bytes_for(std::uint64_t n) const override {
    return (size_ + n) * (dims_ * sizeof(double) + 8 + 16);
  }
  [[nodiscard]] std::optional<Labels> assign(std::span<const double> places, const CancelToken& cancel) const override;

 private:
  DeviceCoreHome home_;
  double radius_;
  std::uint32_t size_;
  std::uint32_t dims_;
  Stream stream_;
  DeviceBuffer<double> points_;
  DeviceBuffer<std::int32_t> labels_;
  StreamDrain drain_{stream_};  // before the memory above goes
};

/// Gives each cell the label of its core points, or kNoNumber; the positions of ids below `count`, which are the core points, get a bit
/// of core_bits. *differ = 1 where core points of a cell have different labels. labels: [count] by id; numbers: [cells].
void launch_place_core(const CliqueView& view, const std::int32_t* labels, std::uint32_t count,
                       std::uint32_t* core_bits, std::uint32_t* numbers, std::uint32_t* differ, cudaStream_t stream);

}  // namespace epsflow::gpu
