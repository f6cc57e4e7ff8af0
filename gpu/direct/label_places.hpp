// Where labels go that are made on the device.
#pragma once

#include <cstdint>
#include <memory>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/phases.hpp>
#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// Memory of labels, which they keep alive.
struct LabelHomes {
  std::shared_ptr<LabelMemory> host;
  std::shared_ptr<DeviceMemory> device;
};

/// Into host memory, or to stay on the device, as the options say. device: number of the GPU, which must be the current one. n: points
/// that get labels. For one level at a time. Throws DeviceOutOfMemory.
[[nodiscard]] std::unique_ptr<LabelPlace> make_label_place(int device, std::uint32_t n, const DirectOptions& options,
                                                           LabelHomes homes);

}  // namespace epsflow::gpu
