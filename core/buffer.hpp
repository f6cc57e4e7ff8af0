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
  void operator()(void* p) const noexcept;
};
/// At least `bytes` + `padding` bytes, 64-byte aligned; large blocks are aligned to and advised as huge pages, because
/// the first touch of 4 KiB pages costs more than the search that fills them. Throws ResourceError naming the bytes.
[[nodiscard]] void* aligned_allocate(std::uint64_t bytes, std::uint64_t padding);
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
      : data_(static_cast<T*>(detail::aligned_allocate(checked_multiply(size, sizeof(T), "buffer"), kPadding))),
        size_(narrow<std::size_t>(size)) {}
  Buffer(Buffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_ * sizeof(T); }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data(), size_}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size_}; }

 private:
  std::unique_ptr<T[], detail::AlignedFree> data_;
  std::size_t size_ = 0;
};

}  // namespace epsflow
