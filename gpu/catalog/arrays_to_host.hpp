// Copies arrays that are adjacent in device memory to vectors on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// Use: next() for every array, then make_buffer(), then copy(). Copies go through pinned memory, up to 32 MiB at a
/// time. Several threads allocate and fill the vectors, because fresh pages take longer than the copy.
class ArraysToHost {
 public:
  /// Adds an array: the next `count` values go to this vector, which must live until copy() returns.
  template <class T>
  void next(std::vector<T>& to, std::uint64_t count) {
    arrays_.push_back({[&to, count] {
                         to.resize(count);
                         return reinterpret_cast<std::byte*>(to.data());
                       },
                       nullptr, bytes_});
    bytes_ += count * sizeof(T);
  }
  /// Resizes all vectors, on up to `threads` threads, while the GPU may still compute their contents. Throws
  /// std::bad_alloc.
  void make_buffer(unsigned threads);
  /// Copies all arrays after make_buffer(). from: device memory of all arrays, in the order of next(), without gaps.
  /// Waits for the stream. Throws DeviceError.
  void copy(const void* from, PinnedPool& pinned, cudaStream_t stream, unsigned threads);

 private:
  struct CopiedArray {
    std::function<std::byte*()> make;
    std::byte* to;
    std::uint64_t begin;  ///< offset in the bytes of all arrays
  };
  [[nodiscard]] std::uint64_t useful(unsigned threads) const noexcept;
  void fill(const std::byte* piece, std::uint64_t first, std::uint64_t last) const;

  std::vector<CopiedArray> arrays_;
  std::uint64_t bytes_ = 0;
};

}  // namespace epsflow::gpu
