#include <epsflow/gpu/base/device_arrays.hpp>

#include <cuda_runtime_api.h>

#include <string>

#include <epsflow/core/error.hpp>

namespace epsflow::gpu {

std::optional<int> gpu_of(const void* data, int current) noexcept {
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, data) == cudaSuccess;
  (void)cudaGetLastError();
  if (known && attributes.type == cudaMemoryTypeDevice) return attributes.device;
  if (known && attributes.type == cudaMemoryTypeManaged) return current;
  return std::nullopt;
}

void require_beside_points(const void* data, const char* what, int device) {
  const std::optional<int> found = gpu_of(data, device);
  if (found == device) return;
  const std::string where = found ? "on GPU " + std::to_string(*found) : "not in the memory of a GPU";
  throw UsageError(std::string(what) + " are " + where + ", and the points are on GPU " + std::to_string(device) +
                   ": bring them there, or copy the points to the host");
}

}  // namespace epsflow::gpu
