// Checks runs under any metric against a formula for its distances, which shares no code with the library.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/core_points.hpp"
#include "support/oracle.hpp"
#include "support/settings.hpp"

#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {

using Real = long double;
using PairDistance = std::function<Real(std::size_t, std::size_t)>;  ///< the distance of two rows

/// Finds neighbours by their distances. No pair may be within `doubtful` of eps.
inline OracleTable table_by(std::size_t n, double eps, Real doubtful, const PairDistance& distance) {
  OracleTable table;
  table.rows.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t close = 0;  // checked once per row, because a check takes longer than a distance
    for (std::size_t j = 0; j < n; ++j) {
      const Real d = i == j ? 0 : distance(i, j);
      close += std::abs(d - eps) > doubtful ? 0 : 1;
      if (d <= eps) table.rows[i].push_back(static_cast<std::uint32_t>(j));
    }
    REQUIRE(close == 0);
  }
  return table;
}

inline Engine engine_for(const Metric& metric) {
  const bool powers = transformed_space(metric).norm == Norm::minkowski;
  return Engine({.threads = 2, .backend = powers ? BackendChoice::cpu : BackendChoice::automatic});
}

/// Returns options for every way to make labels under the metric.
inline std::vector<RunOptions> ways_of_labels(const Metric& metric, std::size_t dims, bool on_gpu) {
  std::vector<RunOptions> ways;
  const bool plain = transformed_space(metric).plain();
  for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table, StrategyChoice::direct}) {
    for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
      if (!plain && (index == IndexChoice::tree || (index == IndexChoice::all && on_gpu))) continue;
      ways.push_back({.strategy = strategy, .search = {.index = index}});
    }
  }
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    if (on_gpu) ways.push_back({.search = {.kernel = kernel}});
  }
  for (const FormatChoice format : {FormatChoice::csr, FormatChoice::packed}) {
    if (format == FormatChoice::csr || dims <= 3) ways.push_back({.search = {.format = format}});
  }
  ways.front().verify = true;  // all give the same labels
  return ways;
}

/// Checks labels, with and without weights, neighbours, plans and predictions. error: the largest possible error of a
/// distance.
inline void check_all_ways(PointsView points, const Metric& metric, double eps, const OracleTable& expected,
                           const PairDistance& distance, Real error) {
  const Sweep sweep = grid({eps}, {1, 2, 3, 5, 9});
  const Engine engine = engine_for(metric);
  const Dataset data = engine.load(points, metric);
  REQUIRE(data.dims() == points.dims());
  std::vector<double> weights(points.size());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i * 7 % 9) / 2 - 0.5;
  const Dataset weighted = data.weighted(weights);
  for (const RunOptions& way : ways_of_labels(metric, points.dims(), engine.backend() == "gpu")) {
    INFO(describe(Settings{.run = way}));
    const auto results = run(data, sweep, way);
    REQUIRE(results.size() == sweep.size());
    for (const VariantResult& r : results) {
      REQUIRE(r.variant.eps == eps);
      REQUIRE(r.labels == oracle_labels(expected, r.variant.minpts).labels);
    }
    for (const VariantResult& r : run(weighted, sweep, way)) {
      REQUIRE(r.labels == oracle_labels(expected, core_by_weight(expected, weights, r.variant.minpts)).labels);
    }
  }
  const Neighbors found = neighbors(data, eps, Distances::include);
  REQUIRE(found.pairs() == expected.pairs());
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::size_t wrong = 0;
    for (std::uint64_t at = found.offsets[i]; at < found.offsets[i + 1]; ++at) {
      const std::uint32_t j = found.ids[at];
      wrong += std::abs(found.distances[at] - (i == j ? 0 : distance(i, j))) <= error ? 0 : 1;
    }
    REQUIRE(wrong == 0);
  }
  REQUIRE(plan(data, grid({eps}, {3})).front().eps == eps);
  // If the points themselves are predicted, they get their labels.
  const VariantResult fitted = std::move(run(data, grid({eps}, {3}), {.core_mask = true}).front());
  const std::vector<double> values = widened(points);
  REQUIRE(predict(CorePoints(PointsView(values, points.dims()), fitted).view(eps, metric), points) == fitted.labels);
}

}  // namespace epsflow::test
