// The core points of a clustering, as predictions take them, and the labels that they must give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/oracle.hpp"

#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {

/// Copies of the core points of a result, which needs its core mask.
struct CorePoints {
  CorePoints(PointsView all, const VariantResult& result) : points(result.summary.core, all.dims(), all.precision()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (result.core[i] == 0) continue;
      const PointsView row = all.rows(i, i + 1);
      std::memcpy(points.data() + labels.size() * row.bytes(), row.data(), row.bytes());
      labels.push_back(result.labels[i]);
    }
  }
  [[nodiscard]] CoreView view(double eps, const Metric& metric = {}) const { return {points, labels, eps, metric}; }

  Points points;
  std::vector<std::int32_t> labels;
};

inline std::vector<double> widened(PointsView points) {
  return points.visit([](auto values) { return std::vector<double>(values.begin(), values.end()); });
}

/// Returns for each point the lowest label among the core points within eps, or kNoise.
inline std::vector<std::int32_t> oracle_predict(const CoreView& core, PointsView points) {
  const std::size_t dims = points.dims();
  const std::vector<double> coordinates = widened(points), of_core = widened(core.points);
  std::vector<std::int32_t> labels(points.size(), kNoise);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t c = 0; c < core.labels.size(); ++c) {
      const bool lower = labels[i] == kNoise || core.labels[c] < labels[i];
      const double squared = oracle_squared_distance(&coordinates[i * dims], &of_core[c * dims], dims);
      if (lower && squared <= core.eps * core.eps) labels[i] = core.labels[c];
    }
  }
  return labels;
}

}  // namespace epsflow::test
