#include <epsflow/gpu/base/device_arrays.hpp>

#include <cuda_runtime_api.h>

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

void require_not_elsewhere(const void* data, const std::string& what, int device) {
  const std::optional<int> found = gpu_of(data, device);
  if (!found || *found == device) return;
  throw UsageError(what + " are on GPU " + std::to_string(*found) + ", and the points are on GPU " +
                   std::to_string(device) + ": bring both to one of them, or to the host");
}

}  // namespace epsflow::gpu
