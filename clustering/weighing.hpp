// If points have weights, the sum of the weights of a point's neighbours is compared with minpts, not their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/ghosts.hpp>
#include <epsflow/core/weights.hpp>

namespace epsflow::clustering {

/// The weights of the points in the order of the index, and the sum that each minpts of one clustering requires. The
/// constructor and sum_up() take O(n), in parallel.
class Weighing {
 public:
  /// order: [n] input id of each position. A ghost whose origin is in the index has the weight of the origin.
  Weighing(const WholeWeights& weights, std::span<const std::uint32_t> minpts, std::span<const std::uint32_t> order,
           const Ghosts& ghosts);

  /// Computes sums().
  void sum_up();

  /// Memory for n positions in bytes; with_sums adds the memory of sum_up().
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t n, bool with_sums = false) noexcept {
    return n * sizeof(std::int64_t) + (with_sums ? (n + 1) * sizeof(WeightSum) : 0);
  }

  /// [n] the weight of each position, in units of the WeightScale of the weights.
  [[nodiscard]] const std::int64_t* units() const noexcept { return units_.data(); }
  /// [n + 1] sum of the weights before each position; null before sum_up().
  [[nodiscard]] const WeightSum* sums() const noexcept { return sums_.data(); }
  /// Returns a number that replaces the number of neighbours: it reaches the same minpts as the sum.
  [[nodiscard]] std::uint32_t count(WeightSum sum) const noexcept { return levels_.count(sum); }
  [[nodiscard]] const WeightLevels& levels() const noexcept { return levels_; }

 private:
  WeightLevels levels_;
  Buffer<std::int64_t> units_;
  Buffer<WeightSum> sums_;
};

}  // namespace epsflow::clustering
