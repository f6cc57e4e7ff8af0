// What the products of one index share.
#pragma once

#include <epsflow/core/cancel.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// All must outlive whoever has a copy of this.
struct GpuResources {
  int device;
  DeviceMemory& memory;
  PinnedPool& pinned;
  const CancelToken& cancel;
};

}  // namespace epsflow::gpu
