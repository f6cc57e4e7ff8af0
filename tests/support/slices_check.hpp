#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/slices.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {

/// Returns the offsets of up to 12 slices of n points. Some slices are empty.
inline std::vector<std::uint64_t> random_slices(std::uint64_t n, Random& random) {
  std::vector<std::uint64_t> offsets{0, n};
  for (std::uint64_t more = random.below(12); more > 0; --more) offsets.push_back(random.below(n + 1));
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

/// Checks that a sweep over all slices gives the results of sweeps over each slice. weights: [n], or empty.
inline void check_slices(const Engine& engine, PointsView points, const std::vector<std::uint64_t>& offsets,
                         const Metric& metric, const Sweep& sweep, const RunOptions& options,
                         std::span<const double> weights = {}) {
  Dataset all = engine.load(points, offsets, metric);
  if (!weights.empty()) all = all.weighted(weights);
  REQUIRE(all.slices() == offsets.size() - 1);
  const std::vector<VariantResult> together = run(all, sweep, options);
  REQUIRE(together.size() == sweep.size());
  for (const VariantResult& r : together) {
    REQUIRE(r.slices.size() == all.slices());
    REQUIRE(r.labels.size() == (options.keep == Keep::labels ? points.size() : 0));
    REQUIRE(r.core.size() == (options.core_mask ? points.size() : 0));
  }
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    const std::size_t first = offsets[s];
    const std::size_t size = offsets[s + 1] - first;
    Dataset one = engine.load(points.rows(first, first + size), metric);
    if (!weights.empty()) one = one.weighted(weights.subspan(first, size));
    const std::vector<VariantResult> alone = run(one, sweep, options);
    for (std::size_t v = 0; v < sweep.size(); ++v) {
      INFO("slice " << s << " of " << size << " points, eps " << together[v].variant.eps << ", minpts "
                    << together[v].variant.minpts);
      REQUIRE(together[v].slices[s] == alone[v].summary);
      if (options.keep == Keep::labels) {
        REQUIRE(std::equal(alone[v].labels.begin(), alone[v].labels.end(), together[v].labels.begin() + first));
      }
      if (options.core_mask) {
        REQUIRE(std::equal(alone[v].core.begin(), alone[v].core.end(),
                           together[v].core.begin() + static_cast<std::ptrdiff_t>(first)));
      }
    }
  }
}

/// Runs check_slices() on random data sets, sweeps, weights and metrics, with each of the options in `ways`.
inline void check_random_slices(const Engine& engine, const std::vector<RunOptions>& ways, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const DataSet data = random_data(seed, 400);
    Random random(seed);
    const double eps = searchable(make_eps(data, random));
    const std::vector<std::uint64_t> offsets = random_slices(data.size(), random);
    const Sweep sweep = grid({eps, searchable(eps / 2)}, {1, 2, 3, 5});
    const RunOptions& options = random.pick(ways);
    std::vector<double> weights;
    if (random.chance(0.2)) {
      for (std::size_t i = 0; i < data.size(); ++i) weights.push_back(static_cast<double>(random.below(9)) / 4);
    }
    check_slices(engine, data.view(), offsets, {}, sweep, options, weights);
  }
}

/// Runs check_slices() with metrics that transform points, have periodic axes or measure other distances.
inline void check_slices_by_metrics(const Engine& engine, const RunOptions& options) {
  Random random(7);
  std::vector<double> x(2 * 600);
  for (double& value : x) value = random.uniform(0, 10);
  const PointsView points(std::span<const double>(x), 2);
  const std::vector<std::uint64_t> offsets = random_slices(600, random);
  const std::vector<Metric> metrics{{.box = {{0, 10}, {0, 10}}},
                                    {.kind = MetricKind::manhattan},
                                    {.kind = MetricKind::chebyshev, .box = {{0, 10}, {0, 0}}},
                                    {.kind = MetricKind::greatcircle, .unit = ArcUnit::degree},
                                    {.scale = {1, 2}}};
  for (const Metric& metric : metrics) {
    INFO(describe_in_full(metric));
    check_slices(engine, points, offsets, metric, grid({0.3, 0.8, 20}, {1, 3, 5}), options);
  }
}

}  // namespace epsflow::test
