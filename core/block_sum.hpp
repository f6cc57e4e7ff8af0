// Sums of floating-point numbers whose rounding does not depend on how many threads add.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace epsflow {

/// The sum of up to 2^32 numbers, with a fixed order of additions: the numbers of a block of kBlock are added from left
/// to right, then the sums of kBlock blocks in the same way, until one sum is left. Code that sums the blocks in
/// parallel, without this class, can get the same bits. Not thread-safe.
class BlockSum {
 public:
  static constexpr std::uint32_t kBlock = 256;

  void add(double value) noexcept { add(value, 0); }
  /// Returns the sum of the numbers that were added so far.
  [[nodiscard]] double sum() const noexcept {
    double sum = 0;
    for (const Level& level : levels_) sum = level.sum + sum;
    return sum;
  }

 private:
  struct Level {
    double sum = 0;
    std::uint32_t count = 0;
  };

  void add(double value, std::size_t at) noexcept {
    Level& level = levels_[at];
    level.sum += value;
    if (++level.count < kBlock || at + 1 == levels_.size()) return;
    const double full = level.sum;
    level = {};
    add(full, at + 1);
  }

  std::array<Level, 4> levels_;  ///< enough for 2^32 numbers
};

}  // namespace epsflow
