// A catalogue, made in device memory.
#pragma once

#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// Where it is made. All must outlive the call.
struct CatalogPlace {
  int device;        ///< the current GPU, where the points are
  unsigned threads;  ///< that copy arrays of the host
  DeviceMemory& memory;
  PinnedPool& pinned;
};

/// As catalog() of the host: counts and ids equal, and ends on open sides; sums over points in another order, the same from run to run. Takes some 20·n bytes of device
/// memory, a copy of points and weights, and what the catalogue takes. Waits. Throws as that does, UsageError where arrays are on another GPU, DeviceError.
[[nodiscard]] Catalog make_catalog(const DeviceCatalogInput& input, const CatalogPlace& place,
                                   const CancelToken& cancel);

}  // namespace epsflow::gpu
