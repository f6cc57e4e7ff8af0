// A hash table from the keys of blocks to their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epsflow::windows {

/// The number of no block, cell or group.
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A hash table with open addressing and linear probing, in which at most half of the entries are in use. Several
/// threads may call find() at once.
class BlockMap {
 public:
  BlockMap() : entries_(kFewest) {}

  /// Returns the number of the block with this key, or kNone.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const noexcept {
    for (std::size_t at = home(key);; at = next(at)) {
      const Entry& entry = entries_[at];
      if (entry.block == kNone || entry.key == key) return entry.block;
    }
  }

  /// Prefetches the memory that find() will read.
  void fetch(std::uint64_t key) const noexcept { __builtin_prefetch(&entries_[home(key)]); }

  /// Inserts a block whose key is not in the table. Amortised O(1).
  void insert(std::uint64_t key, std::uint32_t block) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    put({key, block});
    ++size_;
  }

  /// Removes a block that is in the table. Entries after it move up, so that no probing ends early.
  void erase(std::uint64_t key) noexcept {
    std::size_t hole = home(key);
    while (entries_[hole].key != key || entries_[hole].block == kNone) hole = next(hole);
    for (std::size_t at = next(hole); entries_[at].block != kNone; at = next(at)) {
      const std::size_t from = home(entries_[at].key);
      // Whether the probing of this entry passes the hole: its home is not in (hole, at].
      if (((at - from) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].block = kNone;
    --size_;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t block = kNone;
  };
  static constexpr std::size_t kFewest = 64;

  [[nodiscard]] std::size_t mask() const noexcept { return entries_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }
  [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
    // Two rounds, so that each bit of the key moves the lowest bits.
    std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93ULL;
    return static_cast<std::size_t>(hash ^ (hash >> 32)) & mask();
  }
  void put(const Entry& entry) noexcept {
    std::size_t at = home(entry.key);
    while (entries_[at].block != kNone) at = next(at);
    entries_[at] = entry;
  }
  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.block != kNone) put(entry);
    }
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace epsflow::windows
