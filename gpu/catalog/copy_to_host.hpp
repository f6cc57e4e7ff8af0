// Many short arrays that lie side by side in device memory, brought to the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/catalog/catalog_tuning.hpp>

namespace epsflow::gpu {

/// Hands out one array after the other. Copies through pinned memory, up to kCatalogCopy bytes at a time.
class CopyToHost {
 public:
  /// bytes: of all arrays, a multiple of the size of their elements. The memory must outlive it.
  CopyToHost(const void* from, std::uint64_t bytes, PinnedPool& pinned, cudaStream_t stream)
      : from_(static_cast<const std::byte*>(from)),
        left_(bytes),
        stream_(stream),
        room_(std::min(bytes, tuning::kCatalogCopy)),
        buffer_(pinned.acquire(std::max<std::uint64_t>(room_, 1))) {}

  /// The next `count` values. Waits where they are not on the host yet.
  template <class T>
  [[nodiscard]] std::vector<T> next(std::uint64_t count) {
    static_assert(tuning::kCatalogCopy % sizeof(T) == 0);
    std::vector<T> values;
    values.reserve(count);
    while (values.size() < count) {
      if (at_ == end_) fill();
      const std::uint64_t taken = std::min(count - values.size(), (end_ - at_) / sizeof(T));
      const T* const first = reinterpret_cast<const T*>(buffer_.as<std::byte>() + at_);
      values.insert(values.end(), first, first + taken);
      at_ += taken * sizeof(T);
    }
    return values;
  }

 private:
  void fill() {
    end_ = std::min(left_, room_);
    at_ = 0;
    check(cudaMemcpyAsync(buffer_.as<std::byte>(), from_, end_, cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
    from_ += end_;
    left_ -= end_;
  }

  const std::byte* from_;
  std::uint64_t left_;
  cudaStream_t stream_;
  std::uint64_t room_;
  PinnedBytes buffer_;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace epsflow::gpu
