// The cells of a window: boxes of one size, without bounds, in which all points are neighbours of each other.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <epsflow/index/cell_axes.hpp>
#include <epsflow/windows/cell_map.hpp>

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

/// Divides space into the dense-box cells of index/cell_axes.hpp (SlotWidth), whose proof holds below 2^33 slots.
template <std::size_t D>
class CellFrame {
 public:
  /// The most slots on either side of the origin.
  static constexpr double kMostSlots = 0x1p29;

  /// radius: at least 2^-500. origin: near the points, so that slots are few.
  CellFrame(double radius, const std::array<double, D>& origin) noexcept
      : origin_(origin), inverse_side_(1 / index::SlotWidth::of_dense_box(radius, D).side) {}

  /// Returns true if a point has slots.
  [[nodiscard]] bool holds(const double* x) const noexcept {
    for (std::size_t k = 0; k < D; ++k) {
      if (!(std::fabs(in_slots(x, k)) < kMostSlots)) return false;
    }
    return true;
  }

  [[nodiscard]] Slots<D> slots_of(const double* x) const noexcept {
    Slots<D> slots;
    for (std::size_t k = 0; k < D; ++k) slots[k] = static_cast<std::int32_t>(std::floor(in_slots(x, k)));
    return slots;
  }

  /// The squared distances, along each axis, of a point to the slots around its own, in squared slots.
  class Distances {
   public:
    Distances(const CellFrame& frame, const Slots<D>& slots, const double* x) noexcept {
      for (std::size_t k = 0; k < D; ++k) {
        const double t = frame.in_slots(x, k) - slots[k];
        const double below = t < 0 ? 0 : t, above = t > 1 ? 0 : 1 - t;
        squared_[k] = {(1 + below) * (1 + below), below * below, 0, above * above, (1 + above) * (1 + above)};
      }
    }
    /// Returns false only if no point of that cell is a neighbour. A radius is √D·(1 + 2^-13) sides at most, and each
    /// position is off by less than 2^-17 slots, so the limit leaves room.
    [[nodiscard]] bool reaches(std::uint32_t around) const noexcept {
      double sum = 0;
      for (std::size_t k = 0; k < D; ++k) {
        sum += squared_[k][around % 5];
        around /= 5;
      }
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
