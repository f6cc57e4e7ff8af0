#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

/// Returns multiples of 1/4, some below 0. Their sums are exact in any order.
std::vector<double> exact_weights(std::size_t n, Random& random) {
  std::vector<double> weights(n);
  for (double& w : weights) w = static_cast<double>(random.below(25)) / 4 - 1;
  return weights;
}

/// Options for every way to make labels.
const std::vector<RunOptions> kWays{
    {.core_mask = true},
    {.strategy = StrategyChoice::table, .core_mask = true},
    {.strategy = StrategyChoice::table, .search = {.format = FormatChoice::csr}, .verify = true, .core_mask = true},
    {.strategy = StrategyChoice::table, .method = VariantMethod::each, .core_mask = true},
    {.strategy = StrategyChoice::direct, .verify = true, .core_mask = true},
    {.strategy = StrategyChoice::direct, .search = {.index = IndexChoice::all}, .core_mask = true},
    {.strategy = StrategyChoice::direct, .search = {.index = IndexChoice::tree}, .core_mask = true},
};

/// Compares the results with the oracle; the sums of the weights are exact.
void check_against(const OracleTable& table, const std::vector<double>& weights,
                   const std::vector<VariantResult>& results) {
  for (const VariantResult& r : results) {
    const std::vector<std::uint8_t> core = core_by_weight(table, weights, r.variant.minpts);
    INFO("minpts " << r.variant.minpts);
    REQUIRE(r.core == core);
    const OracleLabels expected = oracle_labels(table, core);
    REQUIRE(r.labels == expected.labels);
    REQUIRE(r.summary == expected.summary);
  }
}

TEST_CASE("weighted: a point is core where the weights of its neighbours sum to minpts") {
  const Engine engine({.threads = 2});
  for (std::uint64_t seed = 1; seed <= sets_of(160); ++seed) {
    const DataSet data = random_data(seed, 250);
    Random random(seed);
    const double eps = searchable(make_eps(data, random));
    INFO("seed " << seed << ", " << describe(data) << ", eps " << eps);
    std::vector<double> weights = exact_weights(data.size(), random);
    if (seed % 2 == 0) {  // without weights below 0, sums never fall
      for (double& w : weights) w = std::abs(w);
    }
    const OracleTable table = data.oracle(eps);
    const Dataset loaded = engine.load(data.view()).weighted(weights);
    for (std::size_t w = 0; w < kWays.size(); ++w) {
      INFO("way " << w);
      const auto results = run(loaded, grid({eps}, {1, 3, 9, 40, 41}), kWays[w]);
      REQUIRE(results.size() == 5);
      check_against(table, weights, results);
    }
  }
}

TEST_CASE("weighted: many neighbours, and a large minpts among small ones") {
  const Engine engine({.threads = 2});
  for (const std::size_t dims : {1U, 2U, 3U, 5U}) {
    for (const std::string kind : {"clustered", "uniform", "duplicates"}) {
      const DataSet data = make_data(kind, 3000, dims, Precision::float64, 11);
      Random random(dims);
      std::vector<double> weights = exact_weights(data.size(), random);
      const double eps = searchable(eps_of_share(data, 0.1));
      INFO(describe(data) << ", eps " << eps);
      const OracleTable table = data.oracle(eps);
      for (const bool negative : {true, false}) {
        if (!negative) {
          for (double& w : weights) w = std::abs(w);
        }
        const Dataset loaded = engine.load(data.view()).weighted(weights);
        for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
          check_against(table, weights,
                        run(loaded, grid({eps}, {900, 500, 300, 20, 1}), {.strategy = strategy, .core_mask = true}));
        }
      }
    }
  }
}

TEST_CASE("weighted: neighbours and plans do not mind weights, and runs without weights know none") {
  const DataSet data = make_data("clustered", 300, 2, Precision::float64, 3);
  const Engine engine({.threads = 2});
  const Dataset plain = engine.load(data.view());
  const Dataset weighted = plain.weighted(std::vector<double>(data.size(), 3.0));
  const Sweep sweep = grid({data.scale}, {9});
  const auto pairs = [&](const Dataset& points) { return neighbors(points, data.scale, Distances::omit).ids.size(); };
  CHECK(pairs(weighted) == pairs(plain));
  for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
    const RunOptions options{.strategy = strategy};
    const std::uint64_t more =
        plan(weighted, sweep, {}, options).front().bytes - plan(plain, sweep, {}, options).front().bytes;
    CHECK(more >= data.size() * sizeof(double));
  }
  CHECK(run(weighted, sweep).front().labels == run(plain, grid({data.scale}, {3})).front().labels);
  CHECK(run(plain, sweep).front().labels != run(weighted, sweep).front().labels);
  CHECK(run(weighted.weighted(std::vector<double>(data.size(), 1.0)), sweep).front().labels ==
        run(plain, sweep).front().labels);
}

TEST_CASE("weighted: of any magnitude, and by a metric") {
  const std::vector<double> coordinates{0, 1, 2, 10, 11, 50};
  const PointsView view(coordinates, 1);
  const auto labels = [&](const std::vector<double>& weights, std::uint32_t minpts, const Metric& metric = {},
                          double eps = 1) {
    return run(Engine({.threads = 1}).load(view, metric).weighted(weights), grid({eps}, {minpts})).front().labels;
  };
  CHECK(labels({1e300, 0, 0, 1, 1, 1}, 5) == Labels{0, 0, 0, -1, -1, -1});
  CHECK(labels({1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300}, 1) == Labels{-1, -1, -1, -1, -1, -1});
  // A large weight of one point does not change the labels of the others.
  for (const double fill : {1e9, 1e19, 1e20, 1e300}) {
    CHECK(labels({1, 0.5, 0.25, 1, 0.1, fill}, 1) == Labels{0, 0, 0, 1, 1, 2});
    CHECK(labels({1, 1, 0.25, 1, 0.1, fill}, 4294967295) == Labels{-1, -1, -1, -1, -1, fill > 4e9 ? 0 : -1});
  }
  check_error<UsageError>({"point 0, 1,", "point 5, 1e+20", "below 0"}, [&] {
    (void)labels({1, 1, -1, 1, 1, 1e20}, 1);
  });
  CHECK(labels({1, 1, -1, 1, 1, 1e10}, 2) == Labels{0, 0, -1, 1, 1, 2});
  CHECK(labels({0, 0, 0, 0, 0, 0}, 1) == Labels{-1, -1, -1, -1, -1, -1});
  CHECK(labels({5, -4, 5, 2.5, 2.5, 5}, 5) == Labels{0, 0, 0, 1, 1, 2});
  CHECK(labels({5, 5, 5, 2.5, 2.5, 4.999}, 5) == Labels{0, 0, 0, 1, 1, -1});
  CHECK(labels({5, 5, 5, 2.5, 2.5, 4.999}, 5, {.scale = {10}}, 10) == Labels{0, 0, 0, 1, 1, -1});
}

TEST_CASE("weighted: fractions sum as they read, however many points there are") {
  for (const std::size_t n : {20U, 100U, 255U, 256U, 1000U, 5000U}) {
    INFO("n " << n);
    // Ten points lie at 0 and five at 5. All others are far from every point.
    std::vector<double> coordinates(n), weights(n, 0.2);
    for (std::size_t i = 0; i < n; ++i) coordinates[i] = i < 10 ? 0 : i < 15 ? 5 : 100 * static_cast<double>(i);
    std::fill_n(weights.begin(), 10, 0.1);
    const Dataset data = Engine({.threads = 1}).load(PointsView(coordinates, 1));
    const auto results = run(data.weighted(weights), grid({1}, {1, 2}));
    CHECK(results[0].summary.core == 15);
    CHECK(results[1].summary.core == 0);
    weights[0] = 0.7;
    weights[1] = 0.2;
    for (std::size_t i = 3; i < 10; ++i) weights[i] = 0;
    CHECK(run(data.weighted(weights), grid({1}, {1}))[0].summary.core == 15);
  }
}

TEST_CASE("weighted: what cannot be is refused") {
  const std::vector<double> coordinates{0, 1};
  const Dataset data = Engine({.threads = 1}).load(PointsView(coordinates, 1));
  const auto refusal = [&](const std::vector<double>& weights) {
    return error_of<UsageError>([&] { (void)run(data.weighted(weights), grid({1}, {2})); });
  };
  check_mentions(refusal({1}), {"2 points", "1 weight"});
  check_mentions(refusal({1, NAN}), {"point 1", "nan", "finite"});
  CHECK_THROWS_AS((void)run(data.weighted(std::vector<double>{1, 1}), grid({1}, {2}), {}, cancelled()), Cancelled);
  CHECK(run(data.weighted(std::vector<double>{1, 1}), Sweep()).empty());
}

TEST_CASE("weighted: weights count in the memory of the engine, and are given back") {
  const std::vector<double> coordinates{0, 0.5, 9};
  const PointsView view(coordinates, 1);
  const Engine engine({.memory = 100'000, .threads = 1, .backend = BackendChoice::cpu});
  const std::vector<double> weights{1, 2, 3};
  for (int i = 0; i < 10'000; ++i) {
    const Dataset data = engine.load(view).weighted(weights);
    if (i == 0) CHECK(run(data, grid({1}, {3})).front().labels == Labels{0, 0, 1});
  }
  std::vector<Dataset> held;
  check_error<ResourceError>({"EngineOptions::memory"}, [&] {
    for (int i = 0; i < 10'000; ++i) held.push_back(engine.load(view).weighted(weights));
  });
}

TEST_CASE("weighted: a data set with weights that is assigned another keeps what it needs until then") {
  const std::vector<double> coordinates{0, 0.5, 9}, weights{1, 2, 3};
  const PointsView view(coordinates, 1);
  Dataset data = Engine({.threads = 1}).load(view).weighted(weights);
  data = Engine({.threads = 1}).load(view);
  CHECK(run(data, grid({1}, {3})).front().labels == Labels{-1, -1, -1});
  data = Engine({.threads = 1}).load(view).weighted(weights);
  const Dataset copy = data;
  data = copy.weighted(std::vector<double>{3, 0, 0});
  CHECK(run(data, grid({1}, {3})).front().labels == Labels{0, 0, -1});
  CHECK(run(copy, grid({1}, {3})).front().labels == Labels{0, 0, 1});
}

TEST_CASE("weighted: the largest minpts there is, and no points at all") {
  const std::vector<double> coordinates{0, 0.9, 9}, heavy{3e9, 3e9, 4e9};
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const Dataset data = Engine({.threads = 1}).load(PointsView(coordinates, 1)).weighted(heavy);
  for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
    const auto results = run(data, grid({1}, {kMost, 4'000'000'000}), {.strategy = strategy});
    CHECK(results[0].labels == Labels{0, 0, -1});
    CHECK(results[1].labels == Labels{0, 0, 1});
  }
  const std::vector<double> nothing;
  const Dataset none = Engine({.threads = 1}).load(PointsView(nothing, 2)).weighted(nothing);
  CHECK(run(none, grid({1}, {3})).front().labels.size() == 0);
}

}  // namespace
}  // namespace epsflow::test
