// Parallel stable radix sort by an integer key, such as the keys of cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow::index {

/// The id of a point and the key that it is sorted by.
struct KeyedId {
  std::uint64_t key;
  std::uint32_t id;
};

/// Sorts items by the low bits of key(item), at least `bits` of them, stably, least significant digit first. `spare`
/// (of the same size) is the other half of the double buffer. Returns the half that holds the result. O(n · bits / 11).
/// Throws Cancelled.
template <class Item, class Key>
[[nodiscard]] std::span<Item> radix_sort(std::span<Item> items, std::span<Item> spare, unsigned bits, Key key,
                                         const CancelToken& cancel) {
  constexpr unsigned kMostDigitBits = 11;  // 2^11 counters and write streams still fit the first-level caches
  constexpr std::size_t kBlockItems = 128 * 1024;
  const std::size_t n = items.size();
  if (n < 2 || bits == 0) return items;
  const unsigned passes = (bits + kMostDigitBits - 1) / kMostDigitBits;
  const unsigned digit_bits = (bits + passes - 1) / passes;
  const std::size_t digits = std::size_t{1} << digit_bits;
  const std::size_t blocks = std::clamp<std::size_t>(n / kBlockItems, 1, 256);
  std::vector<std::size_t> offsets(blocks * digits);

  const auto for_each_block = [&](auto&& f) {
    parallel_for(blocks, [&](std::size_t b) { f(b, n * b / blocks, n * (b + 1) / blocks); });
  };
  for (unsigned pass = 0; pass < passes; ++pass) {
    cancel.check();
    const unsigned shift = pass * digit_bits;
    const auto digit_of = [&](const Item& item) { return static_cast<std::size_t>(key(item) >> shift) & (digits - 1); };
    for_each_block([&](std::size_t b, std::size_t first, std::size_t last) {
      std::size_t* count = offsets.data() + b * digits;
      std::fill_n(count, digits, 0);
      for (std::size_t i = first; i < last; ++i) ++count[digit_of(items[i])];
    });
    std::size_t sum = 0;
    for (std::size_t d = 0; d < digits; ++d) {
      for (std::size_t b = 0; b < blocks; ++b) {
        const std::size_t count = offsets[b * digits + d];
        offsets[b * digits + d] = sum;
        sum += count;
      }
    }
    for_each_block([&](std::size_t b, std::size_t first, std::size_t last) {
      std::size_t* next = offsets.data() + b * digits;
      for (std::size_t i = first; i < last; ++i) spare[next[digit_of(items[i])]++] = items[i];
    });
    std::swap(items, spare);
  }
  return items;
}

}  // namespace epsflow::index
