// Weights of points, whose sums do not depend on the order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {

/// Weights as whole multiples of one power of two, so that sums of them are exact.
class WholeWeights {
 public:
  __extension__ using Sum = __int128;

  /// Throws UsageError for a weight that is not finite. A weight changes by at most 2^-62 of the largest absolute one.
  explicit WholeWeights(std::span<const double> weights) : units_(weights.size()) {
    double largest = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!std::isfinite(weights[i])) {
        throw UsageError("the weight of point " + format_count(i) + " is " + format_number(weights[i]) +
                         "; weights are finite numbers");
      }
      largest = std::max(largest, std::abs(weights[i]));
    }
    if (largest > 0) exponent_ = 61 - std::ilogb(largest);
    for (std::size_t i = 0; i < weights.size(); ++i) units_[i] = std::llrint(std::ldexp(weights[i], exponent_));
  }

  [[nodiscard]] std::int64_t operator[](std::size_t id) const noexcept { return units_[id]; }
  /// A sum of up to 2^32 of them as a weight, rounded once.
  [[nodiscard]] double weight_of(Sum sum) const noexcept { return std::ldexp(static_cast<double>(sum), -exponent_); }

 private:
  int exponent_ = 0;
  std::vector<std::int64_t> units_;
};

}  // namespace epsflow
