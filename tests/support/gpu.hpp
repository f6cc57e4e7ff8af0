// The GPU of this machine, or a visible skip.
#pragma once

#include "support/catch.hpp"

#include <epsflow/gpu/base/device.hpp>

namespace epsflow::test {

/// Whether there is a GPU; where there is none the test is skipped, with the reason.
inline bool have_gpu() {
  const gpu::DeviceList list = gpu::list_devices();
  if (!list.devices.empty()) return true;
  WARN("skipped: no GPU (" << list.why_none << ")");
  return false;
}

}  // namespace epsflow::test
