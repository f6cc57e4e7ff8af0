#include <epsflow/gpu/base/device.hpp>

#include <exception>
#include <filesystem>
#include <fstream>

#include <epsflow/gpu/base/error.hpp>

namespace epsflow::gpu {
namespace {

/// Returns true if the machine has an NVIDIA GPU, even without a driver: by its device files or the PCI bus.
bool is_present() noexcept {
  try {
    if (std::filesystem::exists("/dev/nvidiactl") || std::filesystem::exists("/dev/dxg")) return true;
    const auto word = [](const std::filesystem::path& file) {
      std::ifstream in(file);
      std::string text;
      in >> text;
      return text;
    };
    for (const auto& device : std::filesystem::directory_iterator("/sys/bus/pci/devices")) {
      // Class 03 contains display controllers, including GPUs for computing.
      if (word(device.path() / "vendor") == "0x10de" && word(device.path() / "class").starts_with("0x03")) return true;
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): counts as absent
  }
  return false;
}

}  // namespace

DeviceList list_devices() {
  DeviceList list;
  list.present = is_present();
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    (void)cudaGetLastError();
    // Without a driver CUDA reports that the driver is too old.
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
