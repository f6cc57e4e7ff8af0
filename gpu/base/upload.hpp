// Copies pageable host memory to the device at the speed of the bus.
#pragma once

#include <cstdint>

#include <epsflow/core/points_source.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// The resources of a copy from host memory to a GPU.
struct UploadPath {
  int device;            ///< the current GPU
  PinnedPool& pinned;    ///< memory that copies go through
  unsigned threads;      ///< the largest number of threads that copy
  std::size_t gpus = 1;  ///< number of GPUs that upload at the same time
  /// True if the caller is in a task arena. All its threads then copy pageable arrays of up to 32 MiB.
  bool in_arena = false;
};

/// Copies to device memory that is usable at once, and waits. The driver copies pageable memory on one thread at a
/// quarter of the bus's speed, so larger copies go through pinned memory on several threads. Memory that is pinned
/// already is copied directly. Throws DeviceError.
void upload(void* to, const void* from, std::uint64_t bytes, const UploadPath& path);

/// Copies all rows of a source, which writes them to pinned memory on up to path.threads threads. Waits. Throws
/// DeviceError, and exceptions of from.write().
void upload(void* to, const PointsSource& from, const UploadPath& path);

}  // namespace epsflow::gpu
