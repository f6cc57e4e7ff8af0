// Device memory within a limit, and pinned host memory that is reused.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/gpu/base/error.hpp>

namespace epsflow::gpu {

/// The memory of one GPU that an engine may hold. Ordered by stream; freed memory is reused. Thread-safe.
class DeviceMemory {
 public:
  /// limit: bytes, or 0 for nine tenths of the free memory. The GPU must be the current one in allocations and
  /// retire().
  explicit DeviceMemory(int device, std::uint64_t limit);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;  // buffers hold its address
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Releases the idle memory and keeps none from now on, for memory that outlives its engine. Waits for the device.
  void retire() noexcept;

  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// The largest value of used() so far.
  [[nodiscard]] std::uint64_t most_used() const noexcept { return most_used_.load(std::memory_order_relaxed); }
  /// Returns the bytes that can still be allocated within the limit.
  [[nodiscard]] std::uint64_t available() const noexcept;

  /// Returns memory for later work on `stream`. Throws DeviceOutOfMemory if the limit or the GPU's memory does not
  /// suffice, DeviceError.
  [[nodiscard]] void* allocate(std::uint64_t bytes, cudaStream_t stream);
  /// Frees memory after the work that is on `stream` so far.
  void free(void* memory, std::uint64_t bytes, cudaStream_t stream) noexcept;

  /// Returns memory that other processes can open, usable at once. Throws as allocate(). May wait for the device;
  /// free_open() does.
  [[nodiscard]] void* allocate_open(std::uint64_t bytes);
  void free_open(void* memory, std::uint64_t bytes) noexcept;

  /// Returns true if GPU `device` can access the memory of allocate() directly, and enables this access. Not for memory
  /// of allocate_open().
  [[nodiscard]] bool reachable_from(int device);

  /// Returns idle memory to the driver, if the work before its free() is done.
  void give_back() noexcept;
  /// The number of allocations, frees and calls of wake(), modulo 2^32.
  [[nodiscard]] std::uint32_t uses() const noexcept { return uses_.load(std::memory_order_relaxed); }
  /// Waits until uses() differs from `seen`, or for wake().
  void wait_for_use(std::uint32_t seen) const noexcept { uses_.wait(seen); }
  /// Increases uses() by one, which ends every wait.
  void wake() noexcept;

 private:
  /// Adds the bytes to used() and returns the result of the argument. Throws as the member allocate().
  template <class Allocate>
  void* counted(std::uint64_t bytes, Allocate&& allocate);

  int device_;
  std::uint64_t limit_;
  std::mutex linking_;
  std::map<int, bool> linked_;  ///< by GPU, for those queried so far
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> most_used_{0};
  std::atomic<std::uint32_t> uses_{0};
  cudaMemPool_t pool_ = nullptr;
};

/// An uninitialised array in device memory; data() is null if it is empty. Move-only. Its stream must outlive it.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceMemory& memory, cudaStream_t stream, std::uint64_t size)
      : memory_(&memory),
        stream_(stream),
        size_(size),
        data_(size == 0
                  ? nullptr
                  : static_cast<T*>(memory.allocate(checked_multiply(size, sizeof(T), "device buffer"), stream))) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) memory_->free(data_, bytes(), stream_);
  }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_ * sizeof(T); }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(stream_, other.stream_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

  DeviceMemory* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::uint64_t size_ = 0;
  T* data_ = nullptr;
};

class PinnedPool;

/// Pinned host memory on loan from a pool. Move-only.
class PinnedBytes {
 public:
  PinnedBytes() = default;
  PinnedBytes(PinnedBytes&& other) noexcept { swap(other); }
  PinnedBytes& operator=(PinnedBytes&& other) noexcept {
    PinnedBytes taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~PinnedBytes();

  /// The number of bytes, which may be more than requested.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  friend class PinnedPool;
  PinnedBytes(PinnedPool* pool, void* data, std::uint64_t size) noexcept : pool_(pool), data_(data), size_(size) {}
  void swap(PinnedBytes& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  PinnedPool* pool_ = nullptr;
  void* data_ = nullptr;
  std::uint64_t size_ = 0;
};

/// Keeps returned pinned memory, because pinning costs 0.4 s per GiB (measured on an H200's host). Thread-safe.
class PinnedPool {
 public:
  PinnedPool() = default;
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;  // loans hold its address
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// Returns at least `bytes` bytes. Throws DeviceError if the system refuses them.
  [[nodiscard]] PinnedBytes acquire(std::uint64_t bytes);

 private:
  friend class PinnedBytes;
  void give_back(void* data, std::uint64_t size) noexcept;

  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, void*>> idle_;
};

/// Pins fresh memory of tables piece by piece, and writes to it, on several threads: the first touch of a page is slow.
class TablePinner final : public PagePinner {
 public:
  TablePinner(int device, unsigned threads) noexcept : device_(device), threads_(threads) {}
  void pin(std::byte* begin, std::uint64_t bytes) noexcept override;
  void unpin(std::byte* begin, std::uint64_t bytes) noexcept override;

 private:
  int device_;
  unsigned threads_;
};

/// Writes a zero to each page of fresh memory, on several threads, because the first touch of a page is slow.
void touch_pages(std::byte* begin, std::uint64_t bytes, unsigned threads) noexcept;

/// Copies to host memory that a TablePinner has pinned. No copy crosses the border of a piece. Does not wait.
void copy_to_table(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream);

/// Returns a copy of host values in device memory. Waits, so that the caller may reuse the values at once.
template <class T>
[[nodiscard]] DeviceBuffer<T> copy_of(std::span<const T> values, DeviceMemory& memory, cudaStream_t stream) {
  DeviceBuffer<T> buffer(memory, stream, values.size());
  check(cudaMemcpyAsync(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice, stream));
  check(cudaStreamSynchronize(stream));
  return buffer;
}

/// Copies `count` values to the host after the work on the stream, and waits for them.
template <class T>
[[nodiscard]] std::vector<T> read_values(const T* from, std::uint64_t count, cudaStream_t stream) {
  std::vector<T> values(count);
  check(cudaMemcpyAsync(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return values;
}

/// Does the same through pinned memory, for many values: a copy to pageable memory takes five times as long.
template <class T>
void read_values(const T* from, std::uint64_t count, T* to, cudaStream_t stream, PinnedPool& pinned) {
  if (count == 0) return;
  constexpr std::uint64_t kAtATime = (4 << 20) / sizeof(T);
  const PinnedBytes buffer = pinned.acquire(std::min(count, kAtATime) * sizeof(T));
  for (std::uint64_t at = 0; at < count; at += kAtATime) {
    const std::uint64_t size = std::min(count - at, kAtATime);
    check(cudaMemcpyAsync(buffer.as<T>(), from + at, size * sizeof(T), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    std::copy_n(buffer.as<T>(), size, to + at);
  }
}
template <class T>
[[nodiscard]] std::vector<T> read_values(const T* from, std::uint64_t count, cudaStream_t stream, PinnedPool& pinned) {
  std::vector<T> values(count);
  read_values(from, count, values.data(), stream, pinned);
  return values;
}

}  // namespace epsflow::gpu
