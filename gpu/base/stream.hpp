// Owners of streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include <exception>
#include <functional>
#include <utility>

#include <epsflow/gpu/base/error.hpp>

namespace epsflow::gpu {

/// A stream on the current GPU, not ordered with the default stream. Move-only.
class Stream {
 public:
  Stream();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)), device_(other.device_) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(device_, other.device_);
    return *this;
  }
  /// Does not wait for queued work, which still runs; on a cached stream it runs before later work.
  ~Stream();

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// The number of its GPU.
  [[nodiscard]] int device() const noexcept { return device_; }
  /// Waits until all work of the stream is done. Throws the error of that work.
  void synchronize() const { check(cudaStreamSynchronize(stream_)); }

  using StreamCallback = std::function<void(std::exception_ptr)>;
  /// Calls done(error) once, from a thread of the driver, after all work so far is done (error: null) or has failed
  /// (error: a DeviceError). `done` must neither throw nor call CUDA. If the stream accepts no more work, throws
  /// DeviceError and does not call `done`. Does not wait.
  void on_complete(StreamCallback done) const;

 private:
  cudaStream_t stream_ = nullptr;
  int device_ = 0;
};

/// While an object of this type exists, up to 64 streams that are no longer used are cached and reused: making a stream
/// takes up to 20 us, and memory freed on a stream is available there at once (1 us for an allocation instead of 3).
/// The last object destroys the streams, so that none is left if the process resets the GPU afterwards.
class StreamCache {
 public:
  StreamCache() noexcept;
  StreamCache(const StreamCache&) = delete;
  StreamCache& operator=(const StreamCache&) = delete;
  ~StreamCache();
};

/// Waits at its end for a stream's work. Declared after the memory of the work, it keeps that memory until then.
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
  /// Marks the end of the work that is on the stream so far. Does not wait.
  void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get())); }
  /// Waits until the event has occurred.
  void synchronize() const { check(cudaEventSynchronize(event_)); }
  /// Returns the milliseconds from `earlier` to this event. Both must have occurred.
  [[nodiscard]] float since(const Event& earlier) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace epsflow::gpu
