// Weights of points, whose sums do not depend on the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace epsflow {

/// The power of two that weights are made whole multiples of: one for all of a data set, wherever they are.
class WeightScale {
 public:
  __extension__ typedef __int128 Sum;  // NOLINT(modernize-use-using): nvcc takes __extension__ before typedef only

  static constexpr Sum kBeyond = Sum{1} << 100;  ///< larger than any sum of weights

  WeightScale() = default;
  /// largest: absolute weight of all, finite. negative: whether any is below 0.
  WeightScale(double largest, bool negative);

  /// weight: one of these.
  [[nodiscard]] std::int64_t units_of(double weight) const noexcept;
  /// Whether it would be rounded to 0 where that may not be.
  [[nodiscard]] bool loses(double weight) const noexcept;
  [[nodiscard]] bool negative() const noexcept { return negative_; }
  /// A sum of up to 2^34 of them as a weight, rounded once.
  [[nodiscard]] double weight_of(Sum sum) const noexcept;
  /// The smallest sum whose weight is minpts or more.
  [[nodiscard]] Sum least_sum(std::uint32_t minpts) const noexcept;

 private:
  double largest_ = 0;
  int exponent_ = 0;
  bool negative_ = false;
};

/// A weight that an error is about.
struct NamedWeight {
  std::uint64_t point = 0;
  double weight = 0;
};
/// What WholeWeights throws.
[[noreturn]] void throw_not_finite(const NamedWeight& weight);
[[noreturn]] void throw_lost(const NamedWeight& lost, const NamedWeight& heaviest);

/// Weights as whole multiples of one power of two, so that sums of them are exact.
class WholeWeights {
 public:
  using Sum = WeightScale::Sum;

  static constexpr Sum kBeyond = WeightScale::kBeyond;

  /// If no weight is below 0, weights over 2^32 are first set to 2^32: either makes a point core at every minpts. Then rounding
  /// changes a weight by at most 2^-62 of the largest absolute one. Throws UsageError for a weight that is not finite. If some are
  /// below 0, throws it also where an absolute weight is over 2^32 and another weight, not 0 itself, would be rounded to 0.
  explicit WholeWeights(std::span<const double> weights);
  /// Those of some points of a data set. units: [n] as the scale of all its weights gives them.
  WholeWeights(const WeightScale& scale, std::vector<std::int64_t> units);

  [[nodiscard]] std::size_t size() const noexcept { return units_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return units_.size() * sizeof(std::int64_t); }
  [[nodiscard]] std::int64_t operator[](std::size_t id) const noexcept { return units_[id]; }
  /// [n] multiples of the power of two
  [[nodiscard]] std::span<const std::int64_t> units() const noexcept { return units_; }
  [[nodiscard]] const WeightScale& scale() const noexcept { return scale_; }
  /// Of all. O(1).
  [[nodiscard]] Sum total() const noexcept { return total_; }
  /// Whether any is below 0. Where none is, a sum never falls as neighbours are added.
  [[nodiscard]] bool negative() const noexcept { return scale_.negative(); }
  /// As WeightScale has them.
  [[nodiscard]] double weight_of(Sum sum) const noexcept { return scale_.weight_of(sum); }
  [[nodiscard]] Sum least_sum(std::uint32_t minpts) const noexcept { return scale_.least_sum(minpts); }

 private:
  WeightScale scale_;
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
