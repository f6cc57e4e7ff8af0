// The GPU and the resources that the searches and clusterings of one data set share.
#pragma once

#include <epsflow/core/cancel.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// The objects that it refers to must outlive every copy.
struct GpuResources {
  int device;
  DeviceMemory& memory;
  PinnedPool& pinned;
  const CancelToken& cancel;
};

}  // namespace epsflow::gpu
