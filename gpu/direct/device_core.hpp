// Core points that stay on the device and label later places.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <epsflow/core/kept_core.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/direct/dense_box_grid.hpp>

namespace epsflow::gpu {

/// The resources of the core points. All must outlive them.
struct DeviceCoreHome {
  int device;
  unsigned threads;
  DeviceMemory& memory;
  PinnedPool& pinned;
  std::shared_ptr<LabelMemory> labels;
};

/// assign() sorts core points and places into dense-box cells. Each place gets the lowest cluster among cells that have
/// core points within the radius, as a border point does. Returns nothing if the cells are not dense boxes, if core
/// points of a cell have different labels (no clustering makes these), or if there are more than kMostGpuPoints in
/// total.
class DeviceCore final : public KeptCore {
 public:
  /// The GPU must be the current one. Throws DeviceOutOfMemory.
  DeviceCore(const CoreInput& core, const DeviceCoreHome& home);

  /// True if it can hold the points: at most three dimensions and kMostGpuPoints points, no label equal to kNoNumber.
  [[nodiscard]] static bool serves(const CoreInput& core) noexcept;

  [[nodiscard]] std::uint64_t bytes() const override { return 0; }
  /// If an axis has gaps, all points are copied to the host, and coordinates are sorted and divided into stretches.
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
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

/// Writes for each cell the label of its core points, or kNoNumber, and for each id below `count`, a core point, a bit
/// of core_bits. Sets *differ to 1 if labels in a cell differ. labels: [count] by id; numbers: [cells].
void launch_place_core(const DenseBoxView& view, const std::int32_t* labels, std::uint32_t count,
                       std::uint32_t* core_bits, std::uint32_t* numbers, std::uint32_t* differ, cudaStream_t stream);

}  // namespace epsflow::gpu
