// Makes random points in the spaces of several norms, many of them with closed axes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::test {

inline Metric random_norm(Random& random) {
  Metric metric;
  metric.kind = random.pick<MetricKind>(
      {MetricKind::euclidean, MetricKind::manhattan, MetricKind::chebyshev, MetricKind::minkowski});
  if (metric.kind == MetricKind::minkowski) metric.power = random.pick<double>({1.5, 3, 7.25});
  return metric;
}

/// Calls check(space, points, random) for 200 sets of points.
template <class Check>
void in_random_spaces(Check&& check) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::size_t dims = 1 + random.below(4);
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates"});
    const DataSet data = make_data(kind, 2 + random.below(300), dims, Precision::float64, seed);
    Metric metric = random_norm(random);
    if (random.chance(0.6)) {
      for (std::size_t k = 0; k < dims; ++k) {
        double lo = 0, hi = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
          lo = std::min(lo, data.doubles[i * dims + k]);
          hi = std::max(hi, data.doubles[i * dims + k]);
        }
        metric.box.push_back(random.chance(0.3) ? BoxSide{} : BoxSide{lo, hi + random.pick<double>({0.25, 3})});
      }
    }
    std::vector<double> moved(data.doubles.size());
    transform_points(metric, data.view(), 0, data.size(), moved.data());
    INFO("seed " << seed << ", " << describe(data) << ", " << epsflow::describe(metric));
    check(transformed_space(metric), PointsView(moved, dims), random);
  }
}

}  // namespace epsflow::test
