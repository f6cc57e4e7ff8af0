// The GPUs of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epsflow::gpu {

struct DeviceInfo {
  int number = 0;
  std::string name;
  std::string compute_capability;  ///< as "9.0"
  std::uint64_t memory = 0;        ///< bytes
};

struct DeviceList {
  std::vector<DeviceInfo> devices;
  bool present = false;  ///< the machine has an NVIDIA GPU, though perhaps none that can be used
  std::string why_none;  ///< where there is none: the reason, as the driver gives it
};

/// Never throws for a missing GPU or driver. Makes no context on any GPU.
[[nodiscard]] DeviceList list_devices();

/// Bytes of a GPU's memory that nobody uses. Makes a context on it.
[[nodiscard]] std::uint64_t free_memory(int device);

/// Makes a GPU the current one of this thread, until the end of the scope. Whatever allocates or launches runs in one.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = -1;  // nothing to restore
};

}  // namespace epsflow::gpu
