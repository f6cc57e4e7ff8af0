// Errors of CUDA calls.
#pragma once

#include <cuda_runtime_api.h>

#include <epsflow/core/error.hpp>

namespace epsflow::gpu {

/// A CUDA call failed: the text names the error, the call's place and the remedy.
class DeviceError : public ResourceError {
 public:
  using ResourceError::ResourceError;
};

/// The GPU's memory, or the share of it that the run may hold, is exhausted.
class DeviceOutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Throws DeviceError, or DeviceOutOfMemory, for a code that is not cudaSuccess. Calls no CUDA function that may wait.
[[noreturn]] void throw_error(cudaError_t code, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Throws as throw_error() unless the code is cudaSuccess; clears the error where it can be cleared.
/// Every CUDA call sits in it.
void check(cudaError_t code, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Follows every kernel launch. With EPSFLOW_CUDA_SYNC=1 in the environment it waits for the kernel, so that an error
/// is reported where it was made.
void check_launch(cudaStream_t stream, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace epsflow::gpu
