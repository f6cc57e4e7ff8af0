// The cells of a window: boxes of one size, without bounds, in which all points are neighbours of each other.
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

/// A set of cells around a cell, as bits.
template <std::size_t D>
using AroundSet = std::array<std::uint64_t, (kAround<D> + 63) / 64>;

template <std::size_t D>
[[nodiscard]] inline bool has(const AroundSet<D>& set, std::uint32_t around) noexcept {
  return (set[around / 64] >> (around % 64) & 1U) != 0;
}

/// Returns the number that a cell has around the one that has the number `around` around it.
template <std::size_t D>
[[nodiscard]] constexpr std::uint32_t opposite(std::uint32_t around) noexcept {
  return kAround<D> - 1 - around;
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

/// Calls f(around) for the numbers in a set, ascending.
template <std::size_t D, class F>
inline void for_each_in(const AroundSet<D>& set, F&& f) {
  for (std::size_t w = 0; w < set.size(); ++w) {
    for (std::uint64_t word = set[w]; word != 0; word &= word - 1) {
      f(static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(word)));
    }
  }
}

/// Divides space into the dense-box cells of index/cell_axes.hpp (SlotWidth), whose proof holds below 2^33 slots. The
/// key of a cell has its slots, from 0 on, in fields of kBits bits each.
template <std::size_t D>
class CellFrame {
 public:
  static constexpr unsigned kBits = 63 / D < 31 ? 63 / D : 31;
  /// The most slots on either side of the origin.
  static constexpr double kMostSlots = static_cast<double>((std::uint64_t{1} << (kBits - 1)) - 4);

  /// radius: at least 2^-500. origin: near the points, so that slots are few.
  CellFrame(double radius, const std::array<double, D>& origin) noexcept
      : origin_(origin), inverse_side_(1 / index::SlotWidth::of_dense_box(radius, D).side) {}

  /// Returns true if a point is in a cell.
  [[nodiscard]] bool holds(const double* x) const noexcept {
    for (std::size_t k = 0; k < D; ++k) {
      if (!(std::fabs(in_slots(x, k)) < kMostSlots)) return false;
    }
    return true;
  }

  [[nodiscard]] std::uint64_t key_of(const double* x) const noexcept {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < D; ++k) {
      const auto slot = static_cast<std::int64_t>(std::floor(in_slots(x, k))) + (std::int64_t{1} << (kBits - 1));
      key |= static_cast<std::uint64_t>(slot) << (k * kBits);
    }
    return key;
  }

  /// Returns the key of the cell that has a number around the cell with the key `key`.
  [[nodiscard]] static constexpr std::uint64_t key_around(std::uint64_t key, std::uint32_t around) noexcept {
    for (std::size_t k = 0; k < D; ++k) {
      key += static_cast<std::uint64_t>(std::int64_t{kSteps<D>[around][k]} - 2) << (k * kBits);
    }
    return key;
  }

  /// The squared distances, along each axis, of a point to the slots around its own, in squared slots.
  class Distances {
   public:
    Distances(const CellFrame& frame, const double* x) noexcept {
      for (std::size_t k = 0; k < D; ++k) {
        const double slots = frame.in_slots(x, k);
        const double below = slots - std::floor(slots), above = 1 - below;
        squared_[k] = {(1 + below) * (1 + below), below * below, 0, above * above, (1 + above) * (1 + above)};
      }
    }
    /// Returns false only if no point of that cell is a neighbour. A radius is √D·(1 + 2^-13) sides at most, and each
    /// position is off by less than 2^-17 slots, so the limit leaves room.
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
