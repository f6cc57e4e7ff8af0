// Streams and events, owned.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>
#include <functional>
#include <utility>

#include <epsflow/gpu/base/error.hpp>

namespace epsflow::gpu {

/// A stream of its own on the current GPU, not ordered with the default stream. Move-only.
class Stream {
 public:
  Stream();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)), device_(other.device_) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(device_, other.device_);
    return *this;
  }
  /// Does not wait for work that is still queued: what comes next on the stream does.
  ~Stream();

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// Number of its GPU.
  [[nodiscard]] int device() const noexcept { return device_; }
  /// Waits until all work of the stream is done. Throws what went wrong in it.
  void synchronize() const { check(cudaStreamSynchronize(stream_)); }

  using Completion = std::function<void(std::exception_ptr)>;
  /// Calls `done`, once, from a thread of the driver, when all work so far is done or has failed. `done` must neither
  /// throw nor call CUDA. Throws, and does not call it, when the stream takes no more work. Does not wait.
  void on_complete(Completion done) const;

 private:
  cudaStream_t stream_ = nullptr;
  int device_ = 0;
};

/// While there is one of these, streams that go are kept for those to come: making one takes up to 20 us, and memory that
/// was freed on it is at hand without a look at what other streams still do (1 us an allocation instead of 3). With the
/// last of them they are destroyed, so that whoever resets the GPU afterwards leaves none behind that is gone.
class KeptStreams {
 public:
  KeptStreams() noexcept;
  KeptStreams(const KeptStreams&) = delete;
  KeptStreams& operator=(const KeptStreams&) = delete;
  ~KeptStreams();
};

/// Waits at the end of its scope for whatever a stream still does: declared after the memory that the work uses, it
/// keeps that memory until then.
class StreamDrain {
 public:
  explicit StreamDrain(const Stream& stream) noexcept : stream_(stream) {}
  ~StreamDrain() { (void)cudaStreamSynchronize(stream_.get()); }
  StreamDrain(const StreamDrain&) = delete;
  StreamDrain& operator=(const StreamDrain&) = delete;

 private:
  const Stream& stream_;
};

/// A point in a stream, with its time. Move-only.
class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }

  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }
  /// Marks the end of the stream's work so far. Does not wait.
  void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get())); }
  /// Waits until the event has come.
  void synchronize() const { check(cudaEventSynchronize(event_)); }
  /// Milliseconds from `earlier` to this one; both must have come.
  [[nodiscard]] float since(const Event& earlier) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace epsflow::gpu
