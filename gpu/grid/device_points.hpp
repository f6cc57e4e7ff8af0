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
#include <epsflow/core/moving_points.hpp>
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

/// Scans and sorts of some CUDA versions count in 32 bits with a sign.
inline constexpr std::uint64_t kMostGpuPoints = std::numeric_limits<std::int32_t>::max() - 1;

/// The data set as the caller gave it, and what all its indexes share. Thread-safe.
class DevicePoints {
 public:
  /// Copies the points to the device, on so many threads, and finds their extents. `points` and `memory` must outlive it.
  /// Waits. Throws InputError for a coordinate that is NaN or infinite, DeviceError.
  DevicePoints(PointsView points, int device, DeviceMemory& memory, PinnedPool& pinned, unsigned threads,
               const Space& space = {});

  /// The same of points that are put together as they are brought. The source need not outlive it.
  DevicePoints(const PointsSource& points, int device, DeviceMemory& memory, PinnedPool& pinned, unsigned threads,
               Space space = {});

  /// Of points of a space without periodic axes that are on the current GPU already, and stay where they are unless kernels need them aligned.
  /// `points` and `memory` must outlive it. Waits. Throws InputError for a coordinate that is NaN or infinite, DeviceError.
  DevicePoints(const DevicePointsView& points, DeviceMemory& memory, Space space = {});

  /// Of one data set under many velocities: uploads it once, and moves it on the device, in float64. `memory` must outlive it. Waits. Throws
  /// InputError for a coordinate that is NaN or infinite once it has moved, DeviceError.
  DevicePoints(const MovingPoints& moving, int device, DeviceMemory& memory, PinnedPool& pinned, unsigned threads,
               Space space);

  /// Points of a periodic box, and their images behind them (index/images.hpp), in a plain space; null where images are more
  /// than points, or too many. The GPU must be the current one; `memory` must outlive it. Waits. Throws DeviceOutOfMemory.
  [[nodiscard]] static std::shared_ptr<const DevicePoints> with_images(const DevicePoints& points,
                                                                       const index::Imaging& imaging,
                                                                       DeviceMemory& memory);

  /// The points in host memory: brought there when first asked for, where they are on the device alone. May wait.
  [[nodiscard]] PointsView host() const;
  /// The points as index::choose_axes() needs them for this eps: without coordinates, where their extents tell it all and
  /// they are on the device alone. May wait.
  [[nodiscard]] PointsView host_for(double eps) const;
  [[nodiscard]] PointsOnDevice device() const noexcept { return device_; }
  [[nodiscard]] const Space& space() const noexcept { return space_; }
  /// The same for kernels.
  [[nodiscard]] index::SpaceView space_view() const noexcept {
    return {space_.norm, space_.power, periods_.size() > 0 ? periods_.data() : nullptr};
  }
  /// The slices, in device memory.
  [[nodiscard]] SlicesView slices() const noexcept {
    if (space_.slices == nullptr) return {};
    return {slice_starts_.data(), static_cast<std::uint32_t>(space_.slices->count())};
  }
  /// The images, with their origins in device memory.
  [[nodiscard]] Ghosts ghosts() const noexcept { return {device_.size - images_, images_, origins_.data()}; }
  /// Of each dimension, or none where there are more than the index looks at.
  [[nodiscard]] std::span<const index::Extent> extents() const noexcept { return extents_; }

 private:
  DevicePoints() = default;
  /// What is found once the points are there.
  void finish_upload(DeviceMemory& memory);
  void upload_slices(DeviceMemory& memory);
  void find_extents(DeviceMemory& memory);
  void require_finite(DeviceMemory& memory) const;

  PointsView host_;
  Space space_;
  mutable std::mutex copying_;
  mutable bool on_host_ = true;
  mutable Points copy_;  ///< where the points are on the device alone: pages that nobody touches take no memory
  PointsOnDevice device_;
  Stream stream_;
  DeviceBuffer<std::byte> data_;
  DeviceBuffer<double> periods_;              ///< [dims] where an axis is closed
  DeviceBuffer<std::uint32_t> slice_starts_;  ///< [slices + 1] where there are some
  DeviceBuffer<std::uint32_t> origins_;
  std::uint32_t images_ = 0;
  std::vector<index::Extent> extents_;
  StreamDrain drain_{stream_};  // before the memory above goes
};

}  // namespace epsflow::gpu
