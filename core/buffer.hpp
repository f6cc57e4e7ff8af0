// An owning, uninitialised, 64-byte aligned array: the storage of points, indexes and tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <epsflow/core/checked.hpp>

namespace epsflow {

namespace detail {
struct AlignedFree {
  std::uint64_t mapped = 0;  ///< bytes of the anonymous mapping (mmap) that holds the block; 0: it is from the heap
  void operator()(void* p) const noexcept;
};
using AlignedMemory = std::unique_ptr<void, AlignedFree>;
/// Allocates a block of at least `bytes` + `padding` bytes, 64-byte aligned. On Linux a block of 1 MiB or more is an
/// anonymous mapping (mmap) unless the system refuses it. Freeing a mapping returns its memory to the system at once;
/// the heap might hold back tens of megabytes, which no memory budget would count. A mapping of 2 MiB or more is
/// aligned to huge pages and requests them (madvise): with pages of 4 KiB, the page faults of a large result would take
/// longer than the neighbour search that writes it. Throws ResourceError that names the bytes.
[[nodiscard]] AlignedMemory aligned_allocate(std::uint64_t bytes, std::uint64_t padding);
}  // namespace detail

/// Move-only array of `size` trivially copyable elements, not initialised. The kPadding bytes after the last element
/// may be read (never written), so that vector code may load whole vectors up to the end, without a scalar loop.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  /// Bytes that are readable after the last element.
  static constexpr std::size_t kPadding = 128;

  Buffer() = default;
  /// O(1). Throws ResourceError if memory does not suffice.
  explicit Buffer(std::uint64_t size)
      : memory_(detail::aligned_allocate(checked_multiply(size, sizeof(T), "buffer"), kPadding)),
        size_(narrow<std::size_t>(size)) {}
  Buffer(Buffer&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] T* data() noexcept { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(memory_.get()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_ * sizeof(T); }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data(), size_}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size_}; }

 private:
  detail::AlignedMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace epsflow
