// The distances of all points to their k-th nearest other points, on a GPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/grid/device_points.hpp>

namespace epsflow::gpu {

/// Whether find_nearest() may be called: a plain space of up to three dimensions, coordinates far from the ends of float64's range, and
/// k up to kMostDeviceK.
[[nodiscard]] bool serves_nearest(const DevicePoints& points, std::span<const std::uint32_t> ks);

enum class NearestForm : std::uint8_t { sums, distances };

/// found[i · ks.size() + j]: as index::nearest_sums() says, or its root. [device]. False where the curve does not tell points apart:
/// then nothing is found. Each k is at least 1 and less than the number of points. Waits, but not for the search itself. The GPU must
/// be the current one. Throws DeviceError.
[[nodiscard]] bool find_nearest(const DevicePoints& points, std::span<const std::uint32_t> ks, NearestForm form,
                                double* found, DeviceMemory& memory, const Stream& stream);

}  // namespace epsflow::gpu
