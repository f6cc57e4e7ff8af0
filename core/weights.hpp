// Weights of points, whose sums do not depend on the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace epsflow {

/// Weights as whole multiples of one power of two, so that sums of them are exact.
class WholeWeights {
 public:
  __extension__ typedef __int128 Sum;  // NOLINT(modernize-use-using): nvcc takes __extension__ before typedef only

  static constexpr Sum kBeyond = Sum{1} << 100;  ///< larger than any sum of weights

  /// If no weight is below 0, weights over 2^32 are first set to 2^32: either makes a point core at every minpts. Then rounding
  /// changes a weight by at most 2^-62 of the largest absolute one. Throws UsageError for a weight that is not finite. If some are
  /// below 0, throws it also where an absolute weight is over 2^32 and another weight, not 0 itself, would be rounded to 0.
  explicit WholeWeights(std::span<const double> weights);

  [[nodiscard]] std::size_t size() const noexcept { return units_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return units_.size() * sizeof(std::int64_t); }
  [[nodiscard]] std::int64_t operator[](std::size_t id) const noexcept { return units_[id]; }
  /// [n] multiples of the power of two
  [[nodiscard]] std::span<const std::int64_t> units() const noexcept { return units_; }
  /// Of all. O(1).
  [[nodiscard]] Sum total() const noexcept { return total_; }
  /// Whether any is below 0. Where none is, a sum never falls as neighbours are added.
  [[nodiscard]] bool negative() const noexcept { return negative_; }
  /// A sum of up to 2^34 of them as a weight, rounded once.
  [[nodiscard]] double weight_of(Sum sum) const noexcept;
  /// The smallest sum whose weight is minpts or more.
  [[nodiscard]] Sum least_sum(std::uint32_t minpts) const noexcept;

 private:
  int exponent_ = 0;
  bool negative_ = false;
  Sum total_ = 0;
  std::vector<std::int64_t> units_;
};

/// The weights of a data set, where its backend works on them.
struct LoadedWeights {
  WholeWeights whole;
  std::shared_ptr<const void> memory = nullptr;  ///< holds `units`
  const std::int64_t* units = nullptr;           ///< [n] on the device; null where the backend works on the host
};

/// Null for null.
[[nodiscard]] inline const WholeWeights* whole_of(const LoadedWeights* weights) noexcept {
  return weights != nullptr ? &weights->whole : nullptr;
}

/// For each of some minpts the smallest sum of weights that reaches it. count() turns a sum into a number that stands in for a count
/// of neighbours.
class WeightLevels {
 public:
  /// minpts: at least one.
  WeightLevels(const WholeWeights& weights, std::span<const std::uint32_t> minpts);

  /// The largest minpts that the sum reaches, or 0. O(log levels).
  [[nodiscard]] std::uint32_t count(WholeWeights::Sum sum) const noexcept;
  /// A sum this large reaches the largest minpts already, so counting may stop. kBeyond (never stop) if some weights are below 0.
  [[nodiscard]] WholeWeights::Sum enough() const noexcept;
  /// [levels] ascending
  [[nodiscard]] std::span<const std::uint32_t> minpts() const noexcept { return minpts_; }
  /// [levels + 1] the smallest sum that reaches each minpts, and kBeyond
  [[nodiscard]] std::span<const WholeWeights::Sum> least_sums() const noexcept { return least_sums_; }

 private:
  std::vector<std::uint32_t> minpts_;
  std::vector<WholeWeights::Sum> least_sums_;
  bool negative_;
};

}  // namespace epsflow
