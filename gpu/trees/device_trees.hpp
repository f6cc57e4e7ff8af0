// Trees of HDBSCAN* on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <epsflow/core/backend.hpp>
#include <epsflow/gpu/base/gpu_resources.hpp>
#include <epsflow/gpu/grid/device_points.hpp>

namespace epsflow::gpu {

/// Makes the tree of each minpts and calls take(tree), as LoadedPoints::make_trees(). Returns false for points that
/// DeviceBoruvka does not take, and if the device's memory does not suffice for the first tree. The GPU must be the
/// current one. memory: the owner of gpu.memory, which labels that stay on the device keep alive.
[[nodiscard]] bool make_trees(const DevicePoints& points, std::span<const std::uint32_t> minpts, bool as_eps,
                              const GpuResources& gpu, const std::shared_ptr<DeviceMemory>& memory,
                              const std::function<void(HeldTree&)>& take);

}  // namespace epsflow::gpu
