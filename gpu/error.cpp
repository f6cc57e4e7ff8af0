#include <epsflow/gpu/error.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

#include <epsflow/gpu/fault.hpp>

namespace epsflow::gpu {

void check(cudaError_t code, const std::source_location& where) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // the same error again; it must not surface at the next launch
  const std::string file = where.file_name();
  const std::string text = std::string("the GPU reports ") + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) +
                           ") at " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line()) + ": ";
  if (code == cudaErrorMemoryAllocation) {
    throw DeviceOutOfMemory(text + "free its memory, lower --gpu-memory or --batch-pairs, or use --backend cpu");
  }
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorUnsupportedPtxVersion) {
    throw DeviceError(text + "this build has no code for it; build with EPSFLOW_CUDA_ARCHITECTURES for its compute "
                             "capability, update its driver, or use --backend cpu");
  }
  throw DeviceError(text + "variants handed out before this are valid; try again, or use --backend cpu");
}

void check_launch(cudaStream_t stream, const std::source_location& where) {
  static const bool synchronise = [] {
    const char* value = std::getenv("EPSFLOW_CUDA_SYNC");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  check(injected_fault(FaultPoint::launch), where);
  check(cudaGetLastError(), where);
  if (synchronise) check(cudaStreamSynchronize(stream), where);
}

}  // namespace epsflow::gpu
