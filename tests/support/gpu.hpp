#pragma once

#include "support/catch.hpp"

#include <epsflow/gpu/base/device.hpp>

namespace epsflow::test {

/// Returns true if there is a GPU. Otherwise prints that the test is skipped, and the reason.
inline bool have_gpu() {
  const gpu::DeviceList list = gpu::list_devices();
  if (!list.devices.empty()) return true;
  WARN("skipped: no GPU (" << list.why_none << ")");
  return false;
}

}  // namespace epsflow::test
