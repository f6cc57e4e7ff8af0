#include <epsflow/gpu/nearest/device_nearest.hpp>

#include <algorithm>

#include <epsflow/gpu/nearest/device_leaves.hpp>
#include <epsflow/gpu/nearest/nearest_kernels.hpp>

namespace epsflow::gpu {

bool serves_nearest(const DevicePoints& points, std::span<const std::uint32_t> ks) {
  return can_order(points) && !ks.empty() && *std::max_element(ks.begin(), ks.end()) <= kMostDeviceK;
}

bool find_nearest(const DevicePoints& points, std::span<const std::uint32_t> ks, NearestForm form, double* found,
                  DeviceMemory& memory, const Stream& stream) {
  const auto leaves = DeviceLeaves::of(points, memory, stream);
  if (!leaves) return false;
  const cudaStream_t on = stream.get();
  const DeviceBuffer<std::uint32_t> wanted = copy_of(ks, memory, on);
  launch_nearest(leaves->view(),
                 {.ks = wanted.data(),
                  .count = static_cast<std::uint32_t>(ks.size()),
                  .most = *std::max_element(ks.begin(), ks.end()),
                  .roots = form == NearestForm::distances,
                  .found = found},
                 on);
  return true;
}

}  // namespace epsflow::gpu
