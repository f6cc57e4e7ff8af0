#include <epsflow/core/weights.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

namespace {

/// If no weight is below 0, a weight of this makes its neighbours core at any minpts, as any larger one does.
constexpr double kEnough = 0x1p32;

}  // namespace

WeightScale::WeightScale(double largest, bool negative)
    : largest_(negative ? largest : std::min(largest, kEnough)), negative_(negative) {
  if (largest_ > 0) exponent_ = 61 - std::ilogb(largest_);
}

std::int64_t WeightScale::units_of(double weight) const noexcept {
  return std::llrint(std::ldexp(std::min(weight, largest_), exponent_));
}

bool WeightScale::loses(double weight) const noexcept {
  return largest_ > kEnough && weight != 0 && units_of(weight) == 0;
}

double WeightScale::weight_of(WeightSum sum) const noexcept { return std::ldexp(static_cast<double>(sum), -exponent_); }

WeightSum WeightScale::least_sum(std::uint32_t minpts) const noexcept {
  WeightSum below = 0;
  WeightSum reaches = kBeyond;
  while (reaches - below > 1) {
    const WeightSum middle = below + (reaches - below) / 2;
    (weight_of(middle) >= minpts ? reaches : below) = middle;
  }
  return reaches;
}

void throw_not_finite(const NamedWeight& weight) {
  throw UsageError("the weight of point " + format_count(weight.point) + " is " + format_number(weight.weight) +
                   "; weights are finite numbers");
}

void throw_lost(const NamedWeight& lost, const NamedWeight& heaviest) {
  throw UsageError("the weight of point " + format_count(lost.point) + ", " + format_number(lost.weight) +
                   ", would be lost beside that of point " + format_count(heaviest.point) + ", " +
                   format_number(heaviest.weight) +
                   ", as some weights are below 0: leave out weights that are no measurements, or bring them closer");
}

WholeWeights::WholeWeights(std::span<const double> weights) : units_(weights.size()) {
  std::size_t heaviest = 0;
  bool negative = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i])) throw_not_finite({i, weights[i]});
    if (std::abs(weights[i]) > std::abs(weights[heaviest])) heaviest = i;
    negative |= weights[i] < 0;
  }
  scale_ = WeightScale(weights.empty() ? 0 : std::abs(weights[heaviest]), negative);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    units_[i] = scale_.units_of(weights[i]);
    total_ += units_[i];
    if (scale_.loses(weights[i])) throw_lost({i, weights[i]}, {heaviest, weights[heaviest]});
  }
}

WholeWeights::WholeWeights(const WeightScale& scale, std::vector<std::int64_t> units)
    : scale_(scale), units_(std::move(units)) {
  for (const std::int64_t unit : units_) total_ += unit;
}

WeightLevels::WeightLevels(const WholeWeights& weights, std::span<const std::uint32_t> minpts)
    : minpts_(minpts.begin(), minpts.end()), negative_(weights.negative()) {
  std::sort(minpts_.begin(), minpts_.end());
  least_sums_.reserve(minpts_.size() + 1);
  for (const std::uint32_t level : minpts_) least_sums_.push_back(weights.least_sum(level));
  least_sums_.push_back(WholeWeights::kBeyond);
}

WeightSum WeightLevels::enough() const noexcept {
  return negative_ ? WholeWeights::kBeyond : least_sums_[minpts_.size() - 1];
}

std::uint32_t WeightLevels::count(WeightSum sum) const noexcept {
  const auto above = std::upper_bound(least_sums_.begin(), least_sums_.end(), sum);
  return above == least_sums_.begin() ? 0 : minpts_[static_cast<std::size_t>(above - least_sums_.begin()) - 1];
}

}  // namespace epsflow
