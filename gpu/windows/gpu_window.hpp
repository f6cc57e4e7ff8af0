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

/// From change() to commit() it holds the rows twice; during change(), also the arriving points. From count() to
/// commit() it holds the labels of the variant twice.
class GpuWindow final : public DeviceWindow {
 public:
  /// The GPU must be the current one.
  GpuWindow(std::size_t dims, std::size_t variants, GpuWindowResources home);

  DevicePointsView change(std::span<const std::uint32_t> leaving, PointsView arriving,
                          std::span<const std::uint32_t> entering) override;
  [[nodiscard]] CountedClusters count(std::size_t variant, const DeviceLabelling& labelling) override;
  [[nodiscard]] CountedClusters count(std::size_t variant, const DeviceLabelling& labelling,
                                      const HostLabelling& host) override;
  void commit() noexcept override;

 private:
  /// The labels of a step, which no caller can change.
  struct LastLabels {
    DeviceBuffer<std::int32_t> labels;
    DeviceBuffer<std::uint8_t> core;
    std::size_t clusters = 0;
    [[nodiscard]] LabelledRows rows() const noexcept { return {labels.data(), core.data()}; }
  };

  GpuWindowResources home_;
  std::uint32_t dims_;
  Stream stream_;
  DeviceBuffer<double> points_;  ///< [rows_ × dims] of the last commit
  DeviceBuffer<double> next_;    ///< [next_rows_ × dims] after the change
  std::uint32_t rows_ = 0;
  std::uint32_t next_rows_ = 0;
  DeviceBuffer<std::uint32_t> leaving_;
  StayingRows staying_;
  std::vector<LastLabels> last_;  ///< [variants] of the last commit
  std::vector<LastLabels> next_labels_;
  StreamDrain drain_{stream_};  // waits before the memory above is freed
};

}  // namespace epsflow::gpu
