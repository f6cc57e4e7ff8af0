// The resources that all products of one index share.
#pragma once

#include <epsflow/core/cancel.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// All members must outlive every copy of this.
struct GpuResources {
  int device;
  DeviceMemory& memory;
  PinnedPool& pinned;
  const CancelToken& cancel;
};

}  // namespace epsflow::gpu
