// Errors of CUDA calls.
#pragma once

#include <cuda_runtime_api.h>

#include <epsflow/core/error.hpp>

namespace epsflow::gpu {

/// A CUDA call failed, or a GPU cannot do the work. The text names the error and a remedy.
class DeviceError : public ResourceError {
 public:
  using ResourceError::ResourceError;
};

/// The memory of the GPU, or the share of it that an engine may hold, is exhausted.
class DeviceOutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Throws DeviceOutOfMemory for cudaErrorMemoryAllocation, else DeviceError, with the source line in the text. Calls no
/// CUDA function that may wait.
[[noreturn]] void throw_error(cudaError_t code, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Clears CUDA's last error, if possible, and throws as throw_error(), unless the code is cudaSuccess.
void check(cudaError_t code, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Checks the kernel launch before it, and throws as throw_error(). With EPSFLOW_CUDA_SYNC=1 in the environment it
/// waits for the kernel, so that an error is reported at the launch that caused it.
void check_launch(cudaStream_t stream, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace epsflow::gpu
