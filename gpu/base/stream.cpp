#include <epsflow/gpu/base/stream.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>

#include <epsflow/gpu/base/fault.hpp>

namespace epsflow::gpu {
namespace {

/// The cached streams. It has no destructor, because labels that stay on the device may outlive all static objects.
class IdleStreams {
 public:
  /// Returns a stream of this GPU, or null if there is none.
  cudaStream_t take(int device) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = count_; i-- > 0;) {
      if (idle_[i].device != device) continue;
      const cudaStream_t stream = idle_[i].stream;
      idle_[i] = idle_[--count_];
      return stream;
    }
    return nullptr;
  }
  void put(cudaStream_t stream, int device) noexcept {
    {
      const std::scoped_lock lock(mutex_);
      if (keepers_ > 0 && count_ < idle_.size()) {
        idle_[count_++] = {stream, device};
        return;
      }
    }
    (void)cudaStreamDestroy(stream);
  }
  void keep() noexcept {
    const std::scoped_lock lock(mutex_);
    ++keepers_;
  }
  void keep_no_longer() noexcept {
    const std::scoped_lock lock(mutex_);
    if (--keepers_ > 0) return;
    while (count_ > 0) (void)cudaStreamDestroy(idle_[--count_].stream);
  }

 private:
  struct Idle {
    cudaStream_t stream = nullptr;
    int device = 0;
  };
  std::mutex mutex_;
  std::array<Idle, 64> idle_{};
  std::size_t count_ = 0;
  std::size_t keepers_ = 0;
};
static_assert(std::is_trivially_destructible_v<IdleStreams>);
constinit IdleStreams idle_streams;

std::exception_ptr error_of(cudaError_t code) noexcept {
  if (code == cudaSuccess) return nullptr;
  try {
    throw_error(code);
  } catch (...) {
    return std::current_exception();
  }
}

void CUDART_CB call_completion(cudaStream_t, cudaError_t code, void* context) {
  const std::unique_ptr<Stream::StreamCallback> done(static_cast<Stream::StreamCallback*>(context));
  if (code == cudaSuccess) code = injected_fault(FaultPoint::completion);
  (*done)(error_of(code));
}

}  // namespace

Stream::Stream() {
  check(cudaGetDevice(&device_));
  stream_ = idle_streams.take(device_);
  if (stream_ == nullptr) check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

Stream::~Stream() {
  if (stream_ != nullptr) idle_streams.put(stream_, device_);
}

StreamCache::StreamCache() noexcept { idle_streams.keep(); }
StreamCache::~StreamCache() { idle_streams.keep_no_longer(); }

void Stream::on_complete(StreamCallback done) const {
  auto context = std::make_unique<StreamCallback>(std::move(done));
  // cudaLaunchHostFunc() would not call the function after the device has failed, and a run would wait for ever.
  check(cudaStreamAddCallback(stream_, call_completion, context.get(), 0));
  (void)context.release();
}

}  // namespace epsflow::gpu
