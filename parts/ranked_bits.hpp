// A set of integers that returns the rank of each of its members.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::parts {

/// A set of integers below `size`, in one bit each. It has at most 2^32 − 1 members. Use: put() from any number of
/// threads, count() once, then rank() and list().
class RankedBits {
 public:
  explicit RankedBits(std::uint64_t size)
      : words_((size + kBits - 1) / kBits * kWords), below_(words_.size() / kWords) {
    for_groups([&](std::size_t g) { std::fill_n(words_.data() + g * kWords, kWords, std::uint64_t{0}); });
  }

  void put(std::uint64_t number) noexcept {
    std::atomic_ref(words_[number / 64]).fetch_or(std::uint64_t{1} << (number % 64), std::memory_order_relaxed);
  }

  /// Returns the size of the set. O(size / 64), in parallel.
  std::uint32_t count() {
    for_groups([&](std::size_t g) {
      std::uint32_t found = 0;
      for (std::size_t w = 0; w < kWords; ++w) found += ones(words_[g * kWords + w]);
      below_[g] = found;
    });
    std::uint32_t all = 0;
    for (std::uint32_t& below : below_) all += std::exchange(below, all);
    return count_ = all;
  }

  /// Returns how many members are smaller than a member. O(1).
  [[nodiscard]] std::uint32_t rank(std::uint64_t number) const noexcept {
    const std::uint64_t word = number / 64;
    std::uint32_t found = below_[word / kWords];
    for (std::uint64_t w = word / kWords * kWords; w < word; ++w) found += ones(words_[w]);
    return found + ones(words_[word] & ((std::uint64_t{1} << (number % 64)) - 1));
  }

  /// Returns all members, which must be below 2^32, ascending.
  [[nodiscard]] std::vector<std::uint32_t> list() const {
    std::vector<std::uint32_t> numbers(count_);
    for_groups([&](std::size_t g) {
      std::uint32_t* to = numbers.data() + below_[g];
      for (std::size_t w = g * kWords; w < (g + 1) * kWords; ++w) {
        for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
          *to++ = static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
        }
      }
    });
    return numbers;
  }

 private:
  static constexpr std::size_t kWords = 8;
  static constexpr std::size_t kBits = kWords * 64;

  static std::uint32_t ones(std::uint64_t bits) noexcept { return static_cast<std::uint32_t>(std::popcount(bits)); }
  template <class F>
  void for_groups(F&& f) const {
    parallel_ranges(below_.size(), 1 << 10, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) f(g);
    });
  }

  Buffer<std::uint64_t> words_;
  Buffer<std::uint32_t> below_;  ///< [words / kWords] number of members in the words before
  std::uint32_t count_ = 0;
};

}  // namespace epsflow::parts
