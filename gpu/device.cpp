#include <epsflow/gpu/device.hpp>

#include <epsflow/gpu/error.hpp>

namespace epsflow::gpu {

DeviceList list_devices() {
  DeviceList list;
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    (void)cudaGetLastError();
    // Without any driver CUDA speaks of one that is too old.
    int driver = 0;
    const bool none = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    list.why_none = none ? "no NVIDIA driver is installed" : cudaGetErrorString(code);
    return list;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) {
      (void)cudaGetLastError();
      continue;
    }
    list.devices.push_back({i, properties.name,
                            std::to_string(properties.major) + "." + std::to_string(properties.minor),
                            properties.totalGlobalMem});
  }
  if (list.devices.empty()) list.why_none = "the driver knows no GPU";
  return list;
}

std::uint64_t free_memory(int device) {
  const DeviceScope scope(device);
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total));
  return free;
}

DeviceScope::DeviceScope(int device) {
  int before = 0;
  check(cudaGetDevice(&before));
  if (before == device) return;
  check(cudaSetDevice(device));
  before_ = before;
}

DeviceScope::~DeviceScope() {
  if (before_ >= 0) (void)cudaSetDevice(before_);
}

}  // namespace epsflow::gpu
