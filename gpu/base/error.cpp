#include <epsflow/gpu/base/error.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

#include <epsflow/gpu/base/fault.hpp>

namespace epsflow::gpu {

void throw_error(cudaError_t code, const char* file, int line) {
  const std::string path = file;
  int device = 0;
  const std::string which = cudaGetDevice(&device) == cudaSuccess ? "GPU " + std::to_string(device) : "the GPU";
  const std::string text = which + " reports " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ") at " +
                           path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) + ": ";
  if (code == cudaErrorMemoryAllocation) {
    throw DeviceOutOfMemory(text +
                            "free its memory, lower EngineOptions::gpu_memory or SearchOptions::lane_pairs, or use "
                            "EngineOptions::backend = "
                            "BackendChoice::cpu");
  }
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorUnsupportedPtxVersion) {
    throw DeviceError(text +
                      "this build has no code for it; build with EPSFLOW_CUDA_ARCHITECTURES for its compute "
                      "capability, update its driver, or use EngineOptions::backend = BackendChoice::cpu");
  }
  throw DeviceError(text +
                    "variants handed out before this are valid; try again, or use "
                    "EngineOptions::backend = BackendChoice::cpu");
}

void check(cudaError_t code, const char* file, int line) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // clears the error, which the next launch would report again
  throw_error(code, file, line);
}

void check_launch(cudaStream_t stream, const char* file, int line) {
  static const bool synchronise = [] {
    const char* value = std::getenv("EPSFLOW_CUDA_SYNC");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  check(injected_fault(FaultPoint::launch), file, line);
  check(cudaGetLastError(), file, line);
  if (synchronise) check(cudaStreamSynchronize(stream), file, line);
}

}  // namespace epsflow::gpu
