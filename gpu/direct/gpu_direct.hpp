// Clustering on the device, with labels that go to host memory or stay on the device.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/direct_clustering.hpp>
#include <epsflow/gpu/base/label_memory.hpp>
#include <epsflow/gpu/direct/device_clustering.hpp>
#include <epsflow/gpu/tables/gpu_table_search.hpp>

namespace epsflow::gpu {

/// Memory of labels, which they keep alive.
struct LabelHomes {
  std::shared_ptr<LabelMemory> host;
  std::shared_ptr<DeviceMemory> device;
};

/// `points` and what `resources` refers to must outlive it. Throws DeviceOutOfMemory.
[[nodiscard]] std::unique_ptr<DirectClustering> make_gpu_direct(std::unique_ptr<DeviceClustering> clustering,
                                                                const DevicePoints& points, double eps,
                                                                const DirectOptions& options,
                                                                const GpuResources& resources, LabelHomes homes);

}  // namespace epsflow::gpu
