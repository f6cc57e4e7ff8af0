// A window in the memory of one GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <epsflow/clustering/device_window.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/windows/window_kernels.hpp>

namespace epsflow::gpu {

/// The resources of a window. All must outlive it.
struct GpuWindowResources {
  int device;
  unsigned threads;  ///< the largest number of threads that copy
  DeviceMemory& memory;
  PinnedPool& pinned;
  std::shared_ptr<LabelMemory> labels;
};

/// During a change it holds the rows twice, and the arriving points.
class GpuWindow final : public DeviceWindow {
 public:
  /// The GPU must be the current one.
  GpuWindow(std::size_t dims, GpuWindowResources home);

  DevicePointsView change(std::span<const std::uint32_t> leaving, PointsView arriving,
                          std::span<const std::uint32_t> entering) override;
  [[nodiscard]] CountedClusters count(const DeviceLabelling& before, const DeviceLabelling& after) override;
  [[nodiscard]] CountedClusters count(const DeviceLabelling& before, const DeviceLabelling& after,
                                      const HostLabelling& host) override;
  void commit() noexcept override;

 private:
  GpuWindowResources home_;
  std::uint32_t dims_;
  Stream stream_;
  DeviceBuffer<double> points_;  ///< [rows_ × dims] of the last commit
  DeviceBuffer<double> next_;    ///< [next_rows_ × dims] after the change
  std::uint32_t rows_ = 0;
  std::uint32_t next_rows_ = 0;
  DeviceBuffer<std::uint32_t> leaving_;
  StayingRows staying_;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
