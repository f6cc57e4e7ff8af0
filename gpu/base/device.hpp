// The GPUs of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epsflow::gpu {

struct DeviceInfo {
  int number = 0;
  std::string name;
  std::string compute_capability;  ///< for example "9.0"
  std::uint64_t memory = 0;        ///< bytes
};

struct DeviceList {
  std::vector<DeviceInfo> devices;
  bool present = false;  ///< true if the machine has an NVIDIA GPU, usable or not
  std::string why_none;  ///< the reason why `devices` is empty; otherwise empty
};

/// Returns the GPUs that CUDA finds: none without a GPU or a driver. Creates no context.
[[nodiscard]] DeviceList list_devices();

/// Returns the free bytes of a GPU's memory. Creates a context on it.
[[nodiscard]] std::uint64_t free_memory(int device);

/// Makes a GPU the current one of this thread, on which CUDA allocates and launches, until the end of the scope.
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
