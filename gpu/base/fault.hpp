// Injects faults, so that tests can run with a failing GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace epsflow::gpu {

enum class FaultPoint : std::uint8_t {
  allocation,  ///< an allocation of device memory
  launch,      ///< a kernel launch
  completion,  ///< the completion of the work of a lane
};

/// Makes `times` calls at `point` fail with `code`, after `skip` calls. times = 0 ends the faults. Process-wide,
/// thread-safe.
void inject_fault(FaultPoint point, std::uint64_t skip, std::uint64_t times, cudaError_t code) noexcept;

/// Returns the error with which the call at `point` must fail, or cudaSuccess. Costs one load without injection.
[[nodiscard]] cudaError_t injected_fault(FaultPoint point) noexcept;

}  // namespace epsflow::gpu
