#include <epsflow/gpu/base/idle_memory.hpp>

#include <chrono>

#include <epsflow/gpu/base/device.hpp>

namespace epsflow::gpu {

IdleMemory::IdleMemory(int device, DeviceMemory& memory)
    : device_(device), memory_(memory), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

IdleMemory::~IdleMemory() {
  thread_.request_stop();
  memory_.wake();
}

void IdleMemory::watch(const std::stop_token& stop) {
  constexpr std::chrono::seconds kIdle{1};
  // If another thread records a graph, as PyTorch does, calls of this thread need not end it.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  std::uint32_t seen = 0;
  while (!stop.stop_requested()) {
    memory_.wait_for_use(seen);
    std::uint32_t before = 0;
    do {
      before = memory_.uses();
      std::unique_lock lock(mutex_);
      stopped_.wait_for(lock, stop, kIdle, [] { return false; });
      if (stop.stop_requested()) return;
    } while (memory_.uses() != before);
    seen = before;
    try {
      const DeviceScope scope(device_);
      memory_.give_back();
    } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): the device has failed, and its memory is gone
    }
  }
}

}  // namespace epsflow::gpu
