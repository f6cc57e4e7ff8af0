#include <epsflow/gpu/base/fault.hpp>

#include <array>
#include <atomic>
#include <mutex>

namespace epsflow::gpu {
namespace {

struct InjectedFault {
  std::uint64_t skip = 0;
  std::uint64_t times = 0;
  cudaError_t code = cudaSuccess;
};

std::atomic<bool> any{false};
std::mutex mutex;
std::array<InjectedFault, 3> faults;

}  // namespace

void inject_fault(FaultPoint point, std::uint64_t skip, std::uint64_t times, cudaError_t code) noexcept {
  const std::scoped_lock lock(mutex);
  faults[static_cast<std::size_t>(point)] = {skip, times, code};
  bool left = false;
  for (const InjectedFault& f : faults) left = left || f.times > 0;
  any = left;
}

cudaError_t injected_fault(FaultPoint point) noexcept {
  if (!any.load(std::memory_order_relaxed)) return cudaSuccess;
  const std::scoped_lock lock(mutex);
  InjectedFault& fault = faults[static_cast<std::size_t>(point)];
  if (fault.times == 0) return cudaSuccess;
  if (fault.skip > 0) {
    --fault.skip;
    return cudaSuccess;
  }
  --fault.times;
  return fault.code;
}

}  // namespace epsflow::gpu
