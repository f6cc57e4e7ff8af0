// Makes a catalogue of points in device memory.
#pragma once

#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// The GPU and its resources. All must outlive the call.
struct CatalogDevice {
  int device;        ///< the current GPU, which has the points
  unsigned threads;  ///< the most threads that copy between host and device
  DeviceMemory& memory;
  PinnedPool& pinned;
};

/// Makes a catalogue as catalog() does on the host. Counts and ids are the same as on the host, and so are the ends on
/// axes that are not periodic, except on a sphere; sums add points in another order, which is the same in each run.
/// Takes about 20·n bytes of device memory, and memory for the catalogue, for copies of the points and weights, and for
/// copies of arrays that are on the host. Waits. Throws as catalog(), UsageError if arrays are on another GPU,
/// DeviceError.
[[nodiscard]] Catalog make_catalog(const DeviceCatalogInput& input, const CatalogDevice& gpu,
                                   const CancelToken& cancel);

}  // namespace epsflow::gpu
