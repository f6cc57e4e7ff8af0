// A hash table from the slots of a cell to its number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace epsflow::windows {

/// No cell, and no other index.
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The slots of a cell, one on each axis.
template <std::size_t D>
using Slots = std::array<std::int32_t, D>;

/// Open addressing with linear probing; at most half of the entries are in use. Several threads may call find() at once.
template <std::size_t D>
class CellMap {
 public:
  CellMap() : entries_(kFewest) {}

  /// Returns the number of the cell, or kNone.
  [[nodiscard]] std::uint32_t find(const Slots<D>& slots) const noexcept {
    for (std::size_t at = home(slots);; at = next(at)) {
      const Entry& entry = entries_[at];
      if (entry.cell == kNone || entry.slots == slots) return entry.cell;
    }
  }

  /// Inserts a cell whose slots are not in the table. Amortised O(1).
  void insert(const Slots<D>& slots, std::uint32_t cell) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    put({slots, cell});
    ++size_;
  }

  /// Removes a cell that is in the table. The entries after it move up, so that no probing ends early.
  void erase(const Slots<D>& slots) noexcept {
    std::size_t hole = home(slots);
    while (entries_[hole].slots != slots || entries_[hole].cell == kNone) hole = next(hole);
    for (std::size_t at = next(hole); entries_[at].cell != kNone; at = next(at)) {
      const std::size_t from = home(entries_[at].slots);
      // Whether the probing of this entry passes the hole: its home is not in (hole, at].
      if (((at - from) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].cell = kNone;
    --size_;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    Slots<D> slots = {};
    std::uint32_t cell = kNone;
  };
  static constexpr std::size_t kFewest = 64;

  [[nodiscard]] std::size_t mask() const noexcept { return entries_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }
  [[nodiscard]] std::size_t home(const Slots<D>& slots) const noexcept {
    std::uint64_t hash = 0;
    for (const std::int32_t slot : slots) {
      hash = (hash ^ static_cast<std::uint32_t>(slot)) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash) & mask();
  }
  void put(const Entry& entry) noexcept {
    std::size_t at = home(entry.slots);
    while (entries_[at].cell != kNone) at = next(at);
    entries_[at] = entry;
  }
  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.cell != kNone) put(entry);
    }
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace epsflow::windows
