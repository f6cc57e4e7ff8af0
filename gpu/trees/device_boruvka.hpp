// Minimum spanning trees of mutual reachability on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <epsflow/gpu/base/gpu_resources.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>
#include <epsflow/gpu/trees/boruvka_kernels.hpp>
#include <epsflow/gpu/trees/device_dendrogram.hpp>

namespace epsflow::gpu {

/// Finds spanning trees of the same heights as trees::spanning_trees(); which of several minimum trees it finds may
/// differ. Heights are sums (squared distances). Move-only. The GPU must be the current one in all calls. The points
/// and the stream must outlive the object.
class DeviceBoruvka {
 public:
  /// Orders the points, and searches the nearest points of each: in up to three dimensions by boxes (DeviceLeaves), in
  /// more by products (RoundedRowSearch). Returns nothing if this search does not take the points, or if most_minpts
  /// is over tuning::kMostListed + 1. most_minpts: from 1 to the number of points. portable: uses no kernels of one
  /// compute capability. Throws Cancelled, DeviceError.
  [[nodiscard]] static std::optional<DeviceBoruvka> of(const DevicePoints& points, std::uint32_t most_minpts,
                                                       const GpuResources& gpu, const Stream& stream,
                                                       bool portable = false);
  DeviceBoruvka(DeviceBoruvka&& other) noexcept;
  ~DeviceBoruvka();

  /// Finds a tree. minpts: from 1 to most_minpts. Waits. Throws Cancelled, DeviceError.
  void run(std::uint32_t minpts);
  /// Returns the tree of the last run(), on the device. Call it once after each. Does not wait.
  [[nodiscard]] DeviceTree sorted() const;
  /// Returns the id of each position, on the device.
  [[nodiscard]] const std::uint32_t* order() const noexcept { return view_.leaves.order; }

 private:
  struct Memory;

  /// Real is float if products are of half precision, else double.
  template <class Real>
  [[nodiscard]] static std::optional<DeviceBoruvka> by_rows(const DevicePoints& points, std::uint32_t length,
                                                            bool portable, const GpuResources& gpu,
                                                            const Stream& stream);
  DeviceBoruvka(std::unique_ptr<Memory> memory, std::uint32_t length, const GpuResources& gpu, const Stream& stream);

  GpuResources gpu_;
  cudaStream_t stream_;
  std::uint32_t length_;  ///< of the lists
  std::unique_ptr<Memory> memory_;
  BoruvkaView view_;
};

}  // namespace epsflow::gpu
