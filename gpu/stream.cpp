#include <epsflow/gpu/stream.hpp>

#include <memory>

#include <epsflow/gpu/fault.hpp>

namespace epsflow::gpu {
namespace {

std::exception_ptr error_of(cudaError_t code) noexcept {
  if (code == cudaSuccess) return nullptr;
  try {
    throw_error(code);
  } catch (...) {
    return std::current_exception();
  }
}

void CUDART_CB call_completion(cudaStream_t, cudaError_t code, void* context) {
  const std::unique_ptr<Stream::Completion> done(static_cast<Stream::Completion*>(context));
  if (code == cudaSuccess) code = injected_fault(FaultPoint::completion);
  (*done)(error_of(code));
}

}  // namespace

void Stream::on_complete(Completion done) const {
  auto context = std::make_unique<Completion>(std::move(done));
  // Not cudaLaunchHostFunc, whose function is never called once the device has failed: a run would wait for ever.
  check(cudaStreamAddCallback(stream_, call_completion, context.get(), 0));
  (void)context.release();
}

}  // namespace epsflow::gpu
