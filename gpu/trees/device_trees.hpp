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

/// Makes the tree of each minpts in the given order, and calls take(tree); the tree is valid only during this call.
/// as_eps: true if heights are eps; false if they are sums, and then spanning_tree() is the only function of a tree
/// that may be called. Returns false, and does not call take, if DeviceBoruvka does not accept the points, or if the
/// memory of the GPU does not suffice for the first tree. The GPU must be the current one. memory: the owner of
/// gpu.memory; labels that stay on the GPU keep it alive. Throws Cancelled and DeviceError, also for a lack of memory
/// after the first tree is made; and the exceptions of take().
[[nodiscard]] bool make_trees(const DevicePoints& points, std::span<const std::uint32_t> minpts, bool as_eps,
                              const GpuResources& gpu, const std::shared_ptr<DeviceMemory>& memory,
                              const std::function<void(HeldTree&)>& take);

}  // namespace epsflow::gpu
