// Injects faults, so that tests can run with a failing GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace epsflow::gpu {

enum class FaultPoint : std::uint8_t {
  allocation,  ///< an allocation of DeviceMemory
  launch,      ///< a kernel launch, in check_launch()
  completion,  ///< the completion that Stream::on_complete() reports
};

/// Makes `times` calls at `point` fail with `code`, after `skip` calls. Replaces the earlier faults at this point only;
/// times = 0 ends them. Process-wide, thread-safe.
void inject_fault(FaultPoint point, std::uint64_t skip, std::uint64_t times, cudaError_t code) noexcept;

/// Counts a call at `point`, and returns the error with which it must fail, or cudaSuccess. Costs one load without
/// faults.
[[nodiscard]] cudaError_t injected_fault(FaultPoint point) noexcept;

}  // namespace epsflow::gpu
