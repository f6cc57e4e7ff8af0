// Computes distances in any space, in plain loops over all pairs. It shares no code with the library.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "support/oracle.hpp"

#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::test {

/// Recomputes the sums of differences that core/space.hpp computes.
class SpaceOracle {
 public:
  SpaceOracle(const Space& space, PointsView points)
      : dims_(points.dims()), norm_(space.norm), power_(space.power), sums_(points.size()) {
    for (std::size_t k = 0; k < dims_; ++k) periods_.push_back(space.period(k));
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t k = 0; k < dims_; ++k) values_.push_back(points.at(i, k));
    }
  }

  /// Returns the sums between point i and every point. They are valid until the next call.
  std::span<const double> sums(std::size_t i) {
    fill(i, values_.data(), periods_.data(), sums_.data());
    return sums_;
  }

 private:
  EPSFLOW_PLAIN_LOOP void fill(std::size_t i, const double* values, const double* periods, double* sums) const {
    const std::size_t n = sums_.size();
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < dims_; ++k) {
        double t = __builtin_fabs(values[i * dims_ + k] - values[j * dims_ + k]);
        if (periods[k] > 0 && periods[k] - t < t) t = periods[k] - t;
        if (norm_ == Norm::euclidean) t = t * t;
        if (norm_ == Norm::minkowski) t = __builtin_pow(t, power_);
        if (norm_ != Norm::chebyshev) {
          sum = sum + t;
        } else if (t > sum) {
          sum = t;
        }
      }
      sums[j] = sum;
    }
  }

  std::size_t dims_;
  Norm norm_;
  double power_;
  std::vector<double> periods_;
  std::vector<double> values_;
  std::vector<double> sums_;
};

}  // namespace epsflow::test
