// Core points that stay on the device, to label other points with their clusters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/stored_core.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/direct/dense_box_grid.hpp>

namespace epsflow::gpu {

/// The resources that DeviceCore uses. All must outlive it.
struct DeviceCoreHome {
  int device;
  unsigned threads;  ///< the largest number of threads that copy
  DeviceMemory& memory;
  PinnedPool& pinned;
  std::shared_ptr<LabelMemory> labels;
};

/// assign() sorts core points and query points together into dense-box cells. Each query point gets the lowest cluster
/// among cells that have core points within the radius, as a border point does, or kNoise. It returns nullopt if the
/// cells are not dense boxes, if core points of one cell have different labels, which no clustering makes, or if core
/// points and query points together are more than kMostGpuPoints.
class DeviceCore final : public StoredCore {
 public:
  /// Copies points for which serves() is true. The GPU must be the current one. Throws DeviceError.
  DeviceCore(const CoreInput& core, const DeviceCoreHome& home);

  /// True if it can hold the points: at most three dimensions and kMostGpuPoints points, no label 2^31 − 1.
  [[nodiscard]] static bool serves(const CoreInput& core) noexcept;

  [[nodiscard]] std::uint64_t bytes() const override { return 0; }
  /// The bytes for an axis with gaps: points are copied to the host, and coordinates sorted and divided into stretches.
  [[nodiscard]] std::uint64_t bytes_for(std::uint64_t n) const override {
    return (size_ + n) * (dims_ * sizeof(double) + 8 + 16);
  }
  [[nodiscard]] std::optional<Labels> assign(std::span<const double> queries, const CancelToken& cancel) const override;

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

/// Prepares the labelling of query points. The points with ids below `count` are core points, the others query points.
/// Writes for each cell the label of its core points to numbers [cells], or kNoNumber if it has none. Writes a bit of
/// core_bits for each position, set for core points. Sets *differ, which must be 0 before, to 1 if core points of a
/// cell have different labels. labels: [count] by id.
void launch_core_numbers(const DenseBoxView& view, const std::int32_t* labels, std::uint32_t count,
                         std::uint32_t* core_bits, std::uint32_t* numbers, std::uint32_t* differ, cudaStream_t stream);

}  // namespace epsflow::gpu
