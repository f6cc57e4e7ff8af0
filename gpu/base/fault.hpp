// Faults on demand: how tests see what a failing GPU does to a run.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace epsflow::gpu {

enum class FaultPoint : std::uint8_t {
  allocation,  ///< of device memory
  launch,      ///< of a kernel
  completion,  ///< of the work of a lane
};

/// From the (skip + 1)-th call at `point` on, `times` calls fail with `code`; 0 times ends it. Process-wide,
/// thread-safe.
void inject_fault(FaultPoint point, std::uint64_t skip, std::uint64_t times, cudaError_t code) noexcept;

/// What the call at `point` must fail with; cudaSuccess unless a test asked for more. Costs one load.
[[nodiscard]] cudaError_t injected_fault(FaultPoint point) noexcept;

}  // namespace epsflow::gpu
