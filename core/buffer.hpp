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
  std::uint64_t mapped = 0;  ///< bytes of a mapping of its own, or 0
  void operator()(void* p) const noexcept;
};
using AlignedMemory = std::unique_ptr<void, AlignedFree>;
/// At least `bytes` + `padding` bytes, 64-byte aligned. From a megabyte on they are a mapping of their own, so that they
/// go back to the system at once: a heap would keep tens of them, which no budget counts. Larger blocks are aligned to and
/// advised as huge pages, because the first touch of 4 KiB pages costs more than the search that fills them. Throws
/// ResourceError naming the bytes.
[[nodiscard]] AlignedMemory aligned_allocate(std::uint64_t bytes, std::uint64_t padding);
}  // namespace detail

/// Move-only array of `size` trivially copyable elements, not initialised. kPadding elements behind the end may be read
/// (never written), so that vector code needs no scalar tail.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  /// Bytes that are readable behind the last element.
  static constexpr std::size_t kPadding = 128;

  Buffer() = default;
  /// O(1). Throws ResourceError when the memory is not there.
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
