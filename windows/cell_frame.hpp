// The cells of a window: boxes of one size around an origin. All points of a cell are neighbours of each other. Blocks
// of 64 cells, which are cubes, squares or (in one dimension) intervals, are stored together in memory.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <epsflow/index/cell_axes.hpp>

namespace epsflow::windows {

/// The number of cells that can hold neighbours of a cell's points, itself included: two slots away on each axis at
/// most. A cell around another has the number Σ (difference of slots on axis k + 2) · 5^k.
template <std::size_t D>
inline constexpr std::uint32_t kAround = 5 * kAround<D - 1>;
template <>
inline constexpr std::uint32_t kAround<1> = 5;

/// The number of the cell itself.
template <std::size_t D>
inline constexpr std::uint32_t kSelf = kAround<D> / 2;

/// The number of blocks around a block, itself included. One of them has the number Σ (difference of blocks on axis k +
/// 1) · 3^k.
template <std::size_t D>
inline constexpr std::uint32_t kBlocksAround = 3 * kBlocksAround<D - 1>;
template <>
inline constexpr std::uint32_t kBlocksAround<1> = 3;

/// The cells of a block; 2^kSideBits on each axis. A cell has the index Σ (its slot on axis k) · 2^(k·kSideBits).
inline constexpr std::uint32_t kBlockCells = 64;
template <std::size_t D>
inline constexpr std::uint32_t kSideBits = 6 / D;

/// If cell b has the number `around` around cell a, opposite() returns the number that a has around b. opposite_block()
/// does so for blocks.
template <std::size_t D>
[[nodiscard]] constexpr std::uint32_t opposite(std::uint32_t around) noexcept {
  return kAround<D> - 1 - around;
}
template <std::size_t D>
[[nodiscard]] constexpr std::uint32_t opposite_block(std::uint32_t around) noexcept {
  return kBlocksAround<D> - 1 - around;
}

/// The difference of slots + 2 on each axis, for each number around a cell.
template <std::size_t D>
inline constexpr auto kSteps = [] {
  std::array<std::array<std::uint8_t, D>, kAround<D>> steps = {};
  for (std::uint32_t around = 0; around < kAround<D>; ++around) {
    std::uint32_t rest = around;
    for (std::size_t k = 0; k < D; ++k) {
      steps[around][k] = static_cast<std::uint8_t>(rest % 5);
      rest /= 5;
    }
  }
  return steps;
}();

/// a, b: the numbers of two cells around a third one. Returns the number of the second cell around the first, or
/// kAround if they are more than two slots apart on an axis.
template <std::size_t D>
[[nodiscard]] inline std::uint32_t number_between(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t number = 0, factor = 1;
  for (std::size_t k = 0; k < D; ++k) {
    const std::uint32_t step = 2U + kSteps<D>[b][k] - kSteps<D>[a][k];
    if (step > 4) return kAround<D>;
    number += step * factor;
    factor *= 5;
  }
  return number;
}

/// A cell in a block around another block.
struct RelativeCell {
  std::uint8_t block;  ///< its number around the other
  std::uint8_t cell;   ///< its index in the block
};

/// The cells around a cell, by the index of the cell in its block and the number of the other cell.
template <std::size_t D>
inline constexpr auto kRelativeCells = [] {
  std::array<std::array<RelativeCell, kAround<D>>, kBlockCells> all = {};
  constexpr std::uint32_t kSide = 1U << kSideBits<D>;
  for (std::uint32_t cell = 0; cell < kBlockCells; ++cell) {
    for (std::uint32_t around = 0; around < kAround<D>; ++around) {
      std::uint32_t block = 0, other = 0, factor = 1;
      for (std::size_t k = 0; k < D; ++k) {
        const std::uint32_t slot = (cell >> (k * kSideBits<D>)) % kSide + kSteps<D>[around][k] + kSide - 2;
        block += slot / kSide * factor;
        other |= slot % kSide << (k * kSideBits<D>);
        factor *= 3;
      }
      all[cell][around] = {static_cast<std::uint8_t>(block), static_cast<std::uint8_t>(other)};
    }
  }
  return all;
}();

/// Cells [begin, end) of one block.
struct CellRun {
  std::uint8_t begin, end;
};

/// The cells around a cell, block by block.
template <std::size_t D>
struct Surroundings {
  struct NeighborBlock {
    std::uint8_t number = 0;      ///< around the block of the cell
    std::uint8_t begin_runs = 0;  ///< its cells are runs[begin_runs, end_runs)
    std::uint8_t end_runs = 0;
    std::uint64_t cells = 0;  ///< the same cells as bits
  };
  std::uint32_t count = 0;  ///< the number of entries in use of `blocks`
  std::array<NeighborBlock, 1U << D> blocks = {};
  std::array<CellRun, 2 * kAround<D> / 5> runs = {};
};

/// The Surroundings of each cell of a block.
template <std::size_t D>
inline constexpr auto kSurroundings = [] {
  std::array<Surroundings<D>, kBlockCells> all = {};
  for (std::uint32_t cell = 0; cell < kBlockCells; ++cell) {
    Surroundings<D>& found = all[cell];
    std::array<std::uint8_t, kBlocksAround<D>> indices = {};  // in found.blocks, + 1
    for (std::uint32_t around = 0; around < kAround<D>; ++around) {
      const RelativeCell other = kRelativeCells<D>[cell][around];
      if (indices[other.block] == 0) {
        found.blocks[found.count++].number = other.block;
        indices[other.block] = static_cast<std::uint8_t>(found.count);
      }
      auto& block = found.blocks[indices[other.block] - 1U];
      block.cells |= std::uint64_t{1} << other.cell;
      // Each row of five cells begins a run in each block that it meets.
      const bool begins = around % 5 == 0 || kRelativeCells<D>[cell][around - 1].block != other.block;
      block.end_runs = static_cast<std::uint8_t>(block.end_runs + (begins ? 1 : 0));
    }
    std::uint8_t next = 0;
    for (std::uint32_t i = 0; i < found.count; ++i) {
      auto& block = found.blocks[i];
      block.begin_runs = next;
      next = static_cast<std::uint8_t>(next + block.end_runs);
      block.end_runs = block.begin_runs;
    }
    for (std::uint32_t around = 0; around < kAround<D>; ++around) {
      const RelativeCell other = kRelativeCells<D>[cell][around];
      auto& block = found.blocks[indices[other.block] - 1U];
      const bool begins = around % 5 == 0 || kRelativeCells<D>[cell][around - 1].block != other.block;
      if (begins) found.runs[block.end_runs++] = {other.cell, other.cell};
      ++found.runs[block.end_runs - 1U].end;
    }
  }
  return all;
}();

/// cell: the index of a cell in its block. other: a cell at most two slots away on each axis. Returns the number of the
/// other cell around the first.
template <std::size_t D>
[[nodiscard]] inline std::uint32_t number_around(std::uint32_t cell, const RelativeCell& other) noexcept {
  constexpr std::uint32_t kSide = 1U << kSideBits<D>;
  std::uint32_t number = 0, factor = 1, block = other.block;
  for (std::size_t k = 0; k < D; ++k) {
    const std::uint32_t slot = block % 3 * kSide + (std::uint32_t{other.cell} >> (k * kSideBits<D>)) % kSide;
    number += (slot + 2 - kSide - (cell >> (k * kSideBits<D>)) % kSide) * factor;
    factor *= 5;
    block /= 3;
  }
  return number;
}

/// Calls f(cell) for the cells in a set, ascending.
template <class F>
inline void for_each_in(std::uint64_t cells, F&& f) {
  for (; cells != 0; cells &= cells - 1) f(static_cast<std::uint32_t>(std::countr_zero(cells)));
}

/// Divides space into the dense-box cells of index/cell_axes.hpp. By the proof at SlotWidth, points of a cell are
/// neighbours, and neighbours are at most two slots apart on each axis: the proof holds up to 2^33 slots from the
/// origin, more than kMostSlots. The key of a block has its number on each axis, from 0 on, in fields of kBits bits
/// each.
template <std::size_t D>
class CellFrame {
 public:
  static constexpr unsigned kBits = 63 / D < 31 ? 63 / D : 31;
  /// The most slots on either side of the origin; blocks around these have keys too.
  static constexpr double kMostSlots = static_cast<double>((std::uint64_t{1} << (kBits - 1)) - 2 * kBlockCells);

  struct Address {
    std::uint64_t block;  ///< its key
    std::uint32_t cell;   ///< the index in it
  };

  /// radius: of neighbourhoods, at least 2^-500. origin: near the points, so that slots are few.
  CellFrame(double radius, const std::array<double, D>& origin) noexcept
      : origin_(origin), inverse_side_(1 / index::SlotWidth::of_dense_box(radius, D).side) {}

  /// Returns true if a point is near enough to the origin to be in a cell. x: [D].
  [[nodiscard]] bool holds(const double* x) const noexcept {
    for (std::size_t k = 0; k < D; ++k) {
      if (!(std::fabs(in_slots(x, k)) < kMostSlots)) return false;
    }
    return true;
  }

  /// Returns the cell of a point for which holds() is true. x: [D].
  [[nodiscard]] Address address_of(const double* x) const noexcept {
    Address address = {0, 0};
    for (std::size_t k = 0; k < D; ++k) {
      const auto slot = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(in_slots(x, k))) +
                                                   (std::int64_t{1} << (kBits - 1)));
      address.block |= slot >> kSideBits<D> << (k * kBits);
      address.cell |= static_cast<std::uint32_t>(slot % (1U << kSideBits<D>)) << (k * kSideBits<D>);
    }
    return address;
  }

  /// Returns the key of the block that has a number around the block with the key `key`.
  [[nodiscard]] static constexpr std::uint64_t key_around(std::uint64_t key, std::uint32_t around) noexcept {
    for (std::size_t k = 0; k < D; ++k) {
      key += static_cast<std::uint64_t>(std::int64_t{around % 3} - 1) << (k * kBits);
      around /= 3;
    }
    return key;
  }

  /// The squared distances, along each axis, of a point to the slots around its own, in squared slots.
  class SquaredDistances {
   public:
    SquaredDistances(const CellFrame& frame, const double* x) noexcept {
      for (std::size_t k = 0; k < D; ++k) {
        const double slots = frame.in_slots(x, k);
        const double below = slots - std::floor(slots), above = 1 - below;
        squared_[k] = {(1 + below) * (1 + below), below * below, 0, above * above, (1 + above) * (1 + above)};
      }
    }
    /// Returns false only if no point in the cell with the number `around` is a neighbour. A radius is √D·(1 + 2^-13)
    /// sides at most, and each position is off by less than 2^-17 slots, so the limit has a margin.
    [[nodiscard]] bool reaches(std::uint32_t around) const noexcept {
      double sum = 0;
      for (std::size_t k = 0; k < D; ++k) sum += squared_[k][kSteps<D>[around][k]];
      return sum <= static_cast<double>(D) * (1 + 0x1p-10);
    }

   private:
    std::array<std::array<double, 5>, D> squared_;
  };

 private:
  [[nodiscard]] double in_slots(const double* x, std::size_t k) const noexcept {
    return (x[k] - origin_[k]) * inverse_side_;
  }

  std::array<double, D> origin_;
  double inverse_side_;
};

}  // namespace epsflow::windows
