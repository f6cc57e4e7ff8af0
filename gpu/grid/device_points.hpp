// The data set in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <epsflow/core/device_array.hpp>
#include <epsflow/core/ghosts.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/points_source.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/index/distance.hpp>
#include <epsflow/index/images.hpp>

namespace epsflow::gpu {

/// The most points, images included: scans and sorts of some CUDA versions use signed 32-bit counts.
inline constexpr std::uint64_t kMostGpuPoints = std::numeric_limits<std::int32_t>::max() - 1;

/// The points of a data set on the device, in input order, shared by all its indexes. Thread-safe. In all constructors
/// the GPU must be the current one, and there are at most kMostGpuPoints points.
class DevicePoints {
 public:
  /// Copies the points to the device on up to `threads` threads, or on the threads of the calling task arena, and finds
  /// their extents. points and memory must outlive the object. Waits. Throws InputError for a coordinate that is NaN or
  /// infinite, DeviceError.
  DevicePoints(PointsView points, int device, DeviceMemory& memory, PinnedPool& pinned, unsigned threads,
               const Space& space = {});

  /// Loads points that a source writes. The source need not outlive the object.
  DevicePoints(const PointsSource& points, int device, DeviceMemory& memory, PinnedPool& pinned, unsigned threads,
               Space space = {});

  /// Uses points on the current GPU, in a space without periodic axes. Copies them only if kernels need them aligned.
  /// points.data() and memory must outlive the object. Waits, also for the stream of the points. Throws InputError for
  /// NaN or infinite coordinates, DeviceError.
  DevicePoints(const DevicePointsView& points, DeviceMemory& memory, Space space = {});

  /// Returns points of a periodic box as float64, followed by their images (index/images.hpp), in a plain space.
  /// Returns null if images outnumber points, or if both together are more than kMostGpuPoints. The GPU must be the
  /// current one; `memory` must outlive the result. Waits. Throws DeviceOutOfMemory, DeviceError.
  [[nodiscard]] static std::shared_ptr<const DevicePoints> with_images(const DevicePoints& points,
                                                                       const index::Imaging& imaging,
                                                                       DeviceMemory& memory);

  /// Returns the points in host memory. The first call copies them if they are only on the device. May wait.
  [[nodiscard]] PointsView host() const;
  /// Returns the points as index::choose_axes() needs them for this eps: without valid coordinates if their extents
  /// suffice and they are only on the device. May wait.
  [[nodiscard]] PointsView host_for(double eps) const;
  [[nodiscard]] PointsOnDevice device() const noexcept { return device_; }
  [[nodiscard]] const Space& space() const noexcept { return space_; }
  /// The space in the form that kernels use.
  [[nodiscard]] index::SpaceView space_view() const noexcept {
    return {space_.norm, space_.power, periods_.size() > 0 ? periods_.data() : nullptr};
  }
  /// The slices, in device memory.
  [[nodiscard]] SlicesView slices() const noexcept {
    if (space_.slices == nullptr) return {};
    return {slice_starts_.data(), static_cast<std::uint32_t>(space_.slices->count())};
  }
  /// The images, with the ids of their origins in device memory.
  [[nodiscard]] Ghosts ghosts() const noexcept { return {device_.size - images_, images_, origins_.data()}; }
  /// The extent of each dimension; empty without points, or with more dimensions than kMostIndexedDims. With images it
  /// may be wider than the points along periodic axes.
  [[nodiscard]] std::span<const index::Extent> extents() const noexcept { return extents_; }

 private:
  DevicePoints() = default;
  /// Uploads and computes everything that needs the points on the device.
  void finish_upload(DeviceMemory& memory);
  void upload_slices(DeviceMemory& memory);
  void find_extents(DeviceMemory& memory);
  void require_finite(DeviceMemory& memory) const;

  PointsView host_;
  Space space_;
  mutable std::mutex copying_;
  mutable bool on_host_ = true;
  mutable Points copy_;  ///< used if the points are only on the device; pages that are not touched take no memory
  PointsOnDevice device_;
  Stream stream_;
  DeviceBuffer<std::byte> data_;
  DeviceBuffer<double> periods_;              ///< [dims] if an axis is periodic
  DeviceBuffer<std::uint32_t> slice_starts_;  ///< [slices + 1] if there are slices
  DeviceBuffer<std::uint32_t> origins_;
  std::uint32_t images_ = 0;
  std::vector<index::Extent> extents_;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
