// Clustering on the device, labels into host memory or left where they are.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/direct_clustering.hpp>
#include <epsflow/gpu/direct/device_clustering.hpp>
#include <epsflow/gpu/gpu_table_search.hpp>
#include <epsflow/gpu/label_memory.hpp>

namespace epsflow::gpu {

/// Memory of labels, which they keep alive.
struct LabelHomes {
  std::shared_ptr<LabelMemory> host;
  std::shared_ptr<DeviceMemory> device;
};

/// `grid`: of the points for eps, where cells are no cliques; else null. `points` and what `resources` refers to must
/// outlive it. Throws DeviceOutOfMemory, Cancelled.
[[nodiscard]] std::unique_ptr<DirectClustering> make_gpu_direct(const DevicePoints& points, double eps,
                                                                std::shared_ptr<const DeviceGrid> grid,
                                                                const DirectOptions& options,
                                                                const GpuResources& resources, LabelHomes homes);

}  // namespace epsflow::gpu
