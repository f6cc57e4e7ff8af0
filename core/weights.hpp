// Weights of points, whose sums do not depend on the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace epsflow {

/// A sum of weights in units of their WeightScale.
__extension__ typedef __int128 WeightSum;  // NOLINT(modernize-use-using): nvcc takes __extension__ before typedef only

/// The unit of the weights of a data set: a power of two, to whole multiples of which they are rounded. All parts of
/// the data set have the same unit.
class WeightScale {
 public:
  static constexpr WeightSum kBeyond = WeightSum{1} << 100;  ///< larger than any sum of weights

  WeightScale() = default;
  /// largest: the largest absolute weight, finite. negative: true if any weight is below 0.
  WeightScale(double largest, bool negative);

  /// Returns a weight of the data set in units, rounded.
  [[nodiscard]] std::int64_t units_of(double weight) const noexcept;
  /// Returns true if WholeWeights refuses a weight because it is not 0 and would round to 0 units.
  [[nodiscard]] bool loses(double weight) const noexcept;
  [[nodiscard]] bool negative() const noexcept { return negative_; }
  /// Returns a sum of up to 2^34 weights as a weight, rounded once.
  [[nodiscard]] double weight_of(WeightSum sum) const noexcept;
  /// Returns the smallest sum whose weight is minpts or more.
  [[nodiscard]] WeightSum least_sum(std::uint32_t minpts) const noexcept;

 private:
  double largest_ = 0;
  int exponent_ = 0;
  bool negative_ = false;
};

/// The weight that an error reports.
struct NamedWeight {
  std::uint64_t point = 0;
  double weight = 0;
};
/// Throw the errors of WholeWeights.
[[noreturn]] void throw_not_finite(const NamedWeight& weight);
[[noreturn]] void throw_lost(const NamedWeight& lost, const NamedWeight& heaviest);

/// Weights as whole multiples of one power of two, so that sums of them are exact.
class WholeWeights {
 public:
  static constexpr WeightSum kBeyond = WeightScale::kBeyond;

  /// If no weight is below 0, weights over 2^32 are first set to 2^32: either makes a point core at every minpts. Then
  /// rounding changes a weight by at most 2^-62 of the largest absolute one. Throws UsageError for a weight that is not
  /// finite. If some are below 0, also if an absolute weight is over 2^32 and another, not 0 itself, would round to 0.
  explicit WholeWeights(std::span<const double> weights);
  /// Holds the weights of some points of a data set. units: [n] by the scale of all its weights.
  WholeWeights(const WeightScale& scale, std::vector<std::int64_t> units);

  [[nodiscard]] std::size_t size() const noexcept { return units_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return units_.size() * sizeof(std::int64_t); }
  [[nodiscard]] std::int64_t operator[](std::size_t id) const noexcept { return units_[id]; }
  /// Returns [n] multiples of the power of two.
  [[nodiscard]] std::span<const std::int64_t> units() const noexcept { return units_; }
  [[nodiscard]] const WeightScale& scale() const noexcept { return scale_; }
  /// Returns the sum of all. O(1).
  [[nodiscard]] WeightSum total() const noexcept { return total_; }
  /// Returns true if any weight is below 0. Otherwise a sum never falls as neighbours are added.
  [[nodiscard]] bool negative() const noexcept { return scale_.negative(); }
  /// The next two call the functions of WeightScale.
  [[nodiscard]] double weight_of(WeightSum sum) const noexcept { return scale_.weight_of(sum); }
  [[nodiscard]] WeightSum least_sum(std::uint32_t minpts) const noexcept { return scale_.least_sum(minpts); }

 private:
  WeightScale scale_;
  WeightSum total_ = 0;
  std::vector<std::int64_t> units_;
};

/// The weights of a data set, in the memory that its backend works on.
struct LoadedWeights {
  WholeWeights whole;
  std::shared_ptr<const void> memory = nullptr;  ///< holds `units`
  const std::int64_t* units = nullptr;           ///< [n] on the device; null if the backend works on the host
};

/// Returns the whole weights, or null for null.
[[nodiscard]] inline const WholeWeights* whole_of(const LoadedWeights* weights) noexcept {
  return weights != nullptr ? &weights->whole : nullptr;
}

/// The smallest sums of weights at which a point is core, for each of some minpts. count() replaces a sum by a number
/// that can be compared with these minpts as a number of neighbours can.
class WeightLevels {
 public:
  /// minpts: at least one.
  WeightLevels(const WholeWeights& weights, std::span<const std::uint32_t> minpts);

  /// Returns the largest minpts that the sum reaches, or 0. O(log levels).
  [[nodiscard]] std::uint32_t count(WeightSum sum) const noexcept;
  /// Returns a sum that reaches the largest minpts, so that counting may stop; kBeyond (never) if weights are below 0.
  [[nodiscard]] WeightSum enough() const noexcept;
  /// [levels] ascending
  [[nodiscard]] std::span<const std::uint32_t> minpts() const noexcept { return minpts_; }
  /// [levels + 1] the smallest sum that reaches each minpts, and kBeyond
  [[nodiscard]] std::span<const WeightSum> least_sums() const noexcept { return least_sums_; }

 private:
  std::vector<std::uint32_t> minpts_;
  std::vector<WeightSum> least_sums_;
  bool negative_;
};

}  // namespace epsflow
