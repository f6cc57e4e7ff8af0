// Finds the distances of all points to their k-th nearest other points on a GPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>

namespace epsflow::gpu {

/// Returns true if find_nearest() may be called: can_order() (gpu/nearest/device_leaves.hpp), and there are ks, each at
/// most kMostDeviceK.
[[nodiscard]] bool serves_nearest(const DevicePoints& points, std::span<const std::uint32_t> ks);

enum class NearestForm : std::uint8_t { sums, distances };

/// Writes found[i · ks.size() + j], [device]: the squared distance (NearestForm::sums) or the distance of point i and
/// its ks[j]-th nearest other point. Returns false, and finds nothing, if the curve does not distinguish enough points.
/// Each k is at least 1 and less than the number of points. Waits, but not for the search itself. The GPU must be the
/// current one. Throws DeviceError.
[[nodiscard]] bool find_nearest(const DevicePoints& points, std::span<const std::uint32_t> ks, NearestForm form,
                                double* found, DeviceMemory& memory, const Stream& stream);

}  // namespace epsflow::gpu
