#include <epsflow/core/weights.hpp>

#include <algorithm>
#include <cmath>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

WholeWeights::WholeWeights(std::span<const double> weights) : units_(weights.size()) {
  std::size_t heaviest = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i])) {
      throw UsageError("the weight of point " + format_count(i) + " is " + format_number(weights[i]) +
                       "; weights are finite numbers");
    }
    if (std::abs(weights[i]) > std::abs(weights[heaviest])) heaviest = i;
    negative_ |= weights[i] < 0;
  }
  // Where none is below 0, a weight of that much makes its neighbours core at any minpts, and more of it changes nothing.
  constexpr double kEnough = 0x1p32;
  double largest = weights.empty() ? 0 : std::abs(weights[heaviest]);
  if (!negative_) largest = std::min(largest, kEnough);
  if (largest > 0) exponent_ = 61 - std::ilogb(largest);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    units_[i] = std::llrint(std::ldexp(std::min(weights[i], largest), exponent_));
    total_ += units_[i];
    if (largest > kEnough && units_[i] == 0 && weights[i] != 0) {
      throw UsageError(
          "the weight of point " + format_count(i) + ", " + format_number(weights[i]) +
          ", would be lost beside that of point " + format_count(heaviest) + ", " + format_number(weights[heaviest]) +
          ", as some weights are below 0: leave out weights that are no measurements, or bring them closer");
    }
  }
}

double WholeWeights::weight_of(Sum sum) const noexcept { return std::ldexp(static_cast<double>(sum), -exponent_); }

WholeWeights::Sum WholeWeights::least_sum(std::uint32_t minpts) const noexcept {
  Sum below = 0;
  Sum reaches = kBeyond;
  while (reaches - below > 1) {
    const Sum middle = below + (reaches - below) / 2;
    (weight_of(middle) >= minpts ? reaches : below) = middle;
  }
  return reaches;
}

WeightLevels::WeightLevels(const WholeWeights& weights, std::span<const std::uint32_t> minpts)
    : minpts_(minpts.begin(), minpts.end()), negative_(weights.negative()) {
  std::sort(minpts_.begin(), minpts_.end());
  least_sums_.reserve(minpts_.size() + 1);
  for (const std::uint32_t level : minpts_) least_sums_.push_back(weights.least_sum(level));
  least_sums_.push_back(WholeWeights::kBeyond);
}

WholeWeights::Sum WeightLevels::enough() const noexcept {
  return negative_ ? WholeWeights::kBeyond : least_sums_[minpts_.size() - 1];
}

std::uint32_t WeightLevels::count(WholeWeights::Sum sum) const noexcept {
  const auto above = std::upper_bound(least_sums_.begin(), least_sums_.end(), sum);
  return above == least_sums_.begin() ? 0 : minpts_[static_cast<std::size_t>(above - least_sums_.begin()) - 1];
}

}  // namespace epsflow
