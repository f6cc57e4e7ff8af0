// Copies of pageable host memory to the device, as fast as the bus.
#pragma once

#include <cstdint>

#include <epsflow/core/points_source.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// Copies to device memory that is usable, and waits. The driver copies pageable memory on one thread at a quarter of
/// the bus's speed, so larger copies go through pinned memory of `pinned`, on up to `threads` threads. The GPU must be the
/// current one. Throws DeviceError.
void upload(void* to, const void* from, std::uint64_t bytes, int device, PinnedPool& pinned, unsigned threads);

/// The same of points that are put together: in pinned memory, whose rows cross the bus from there.
void upload(void* to, const PointsSource& from, int device, PinnedPool& pinned, unsigned threads);

}  // namespace epsflow::gpu
