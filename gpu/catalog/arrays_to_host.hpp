// Arrays that lie one behind the other in device memory, brought to the host together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <epsflow/gpu/base/memory.hpp>

namespace epsflow::gpu {

/// First every array is named, then room is made for all, then all are copied: through pinned memory, up to kCatalogCopy bytes at a time. Several threads make and fill
/// the vectors, as the pages of fresh memory take longer than the copy.
class ArraysToHost {
 public:
  /// The next `count` values go to this vector, which must live until copy().
  template <class T>
  void next(std::vector<T>& to, std::uint64_t count) {
    arrays_.push_back({[&to, count] {
                         to.resize(count);
                         return reinterpret_cast<std::byte*>(to.data());
                       },
                       nullptr, bytes_});
    bytes_ += count * sizeof(T);
  }
  /// Makes room in all vectors: while the GPU is at work on what they are to hold. Throws std::bad_alloc.
  void make_room(unsigned threads);
  /// After make_room(). Waits. Throws DeviceError.
  void copy(const void* from, PinnedPool& pinned, cudaStream_t stream, unsigned threads);

 private:
  struct Array {
    std::function<std::byte*()> make;
    std::byte* to;
    std::uint64_t begin;  ///< among the bytes of all
  };
  [[nodiscard]] std::uint64_t useful(unsigned threads) const noexcept;
  void fill(const std::byte* piece, std::uint64_t first, std::uint64_t last) const;

  std::vector<Array> arrays_;
  std::uint64_t bytes_ = 0;
};

}  // namespace epsflow::gpu
