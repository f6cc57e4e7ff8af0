// Clustering on the device, labels into host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <epsflow/core/direct_clustering.hpp>
#include <epsflow/gpu/direct/device_clustering.hpp>
#include <epsflow/gpu/gpu_table_search.hpp>
#include <epsflow/gpu/label_memory.hpp>

namespace epsflow::gpu {

/// While the labels of one variant cross the bus the next is clustered. `grid`: of the points for eps, where cells are no
/// cliques; else null. `points` and what `resources` refers to must outlive it; labels keep `memory` alive. Throws
/// DeviceOutOfMemory, Cancelled.
[[nodiscard]] std::unique_ptr<DirectClustering> make_gpu_direct(const DevicePoints& points, double eps,
                                                                std::shared_ptr<const DeviceGrid> grid,
                                                                std::span<const std::uint32_t> minpts, bool core_mask,
                                                                const GpuResources& resources,
                                                                std::shared_ptr<LabelMemory> memory);

}  // namespace epsflow::gpu
