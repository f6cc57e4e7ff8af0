// The destination of labels that are made on the device.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// The owners of the memory of labels. Labels refer to their owner, so that it lives as long as they do.
struct LabelHomes {
  std::shared_ptr<LabelMemory> host;
  std::shared_ptr<DeviceMemory> device;
};

/// Returns a store in host memory or on the device, as options.labels requests, or a store without memory if
/// options.keep keeps no labels. device: number of the GPU, which must be the current one. n: number of points that get
/// labels. At most one target of LabelStore::next() at a time may wait for take(). Throws DeviceError.
[[nodiscard]] std::unique_ptr<LabelStore> make_label_store(int device, std::uint32_t n, const DirectOptions& options,
                                                           LabelHomes homes);

}  // namespace epsflow::gpu
