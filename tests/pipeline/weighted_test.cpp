#include <epsflow/pipeline/weighted.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {
namespace {

using test::DataSet;
using test::OracleLabels;
using test::OracleTable;
using test::Random;

/// Halves and quarters, whose sums are exact in any order, less than 0 among them.
std::vector<double> exact_weights(std::size_t n, Random& random) {
  std::vector<double> weights(n);
  for (double& w : weights) w = static_cast<double>(random.below(25)) / 4 - 1;
  return weights;
}

TEST_CASE("weighted: a point is core where the weights of its neighbours sum to minpts") {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    const DataSet data = test::random_data(seed, 250);
    Random random(seed);
    const double eps = test::searchable(test::make_eps(data, random));
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    const std::vector<double> weights = exact_weights(data.size(), random);
    const OracleTable table = data.oracle(eps);
    const Engine engine({.threads = 2});
    for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table, StrategyChoice::direct}) {
      const Dataset loaded = engine.load(data.view());
      const auto results =
          run_weighted(loaded, weights, grid({eps}, {1, 3, 9, 40}), {.strategy = strategy, .core_mask = true});
      REQUIRE(results.size() == 4);
      for (const VariantResult& r : results) {
        std::vector<std::uint8_t> core(data.size());
        for (std::size_t i = 0; i < data.size(); ++i) {
          double sum = 0;
          for (const std::uint32_t y : table.rows[i]) sum += weights[y];
          core[i] = sum >= r.variant.minpts ? 1 : 0;
        }
        REQUIRE(r.core == core);
        REQUIRE(r.labels == test::oracle_labels(table, core).labels);
        REQUIRE(r.summary.core + r.summary.border + r.summary.noise == data.size());
      }
    }
  }
}

TEST_CASE("weighted: weights of 1 are no weights") {
  for (const std::size_t dims : {1U, 2U, 3U, 5U, 9U}) {
    const DataSet data = test::make_data("clustered", 400, dims, Precision::float64, dims);
    const Sweep sweep = grid({data.scale, data.scale / 3}, {2, 5, 20});
    const Dataset loaded = Engine({.threads = 2}).load(data.view());
    const RunOptions masked{.core_mask = true};
    const auto expected = run(loaded, sweep, masked);
    const auto found = run_weighted(loaded, std::vector<double>(data.size(), 1.0), sweep, masked);
    REQUIRE(found.size() == expected.size());
    for (std::size_t v = 0; v < found.size(); ++v) {
      INFO(dims << "-D, variant " << v);
      CHECK(found[v].variant == expected[v].variant);
      CHECK(found[v].labels == expected[v].labels);
      CHECK(found[v].core == expected[v].core);
      CHECK(found[v].summary == expected[v].summary);
    }
  }
}

TEST_CASE("weighted: of any magnitude, and by a metric") {
  const std::vector<double> places{0, 1, 2, 10, 11, 50};
  const PointsView view(std::span<const double>(places), 1);
  const auto labels = [&](const std::vector<double>& weights, std::uint32_t minpts, const Metric& metric = {},
                          double eps = 1) {
    return run_weighted(Engine({.threads = 1}).load(view, metric), weights, grid({eps}, {minpts})).front().labels;
  };
  CHECK(labels({1e300, 0, 0, 1, 1, 1}, 5) == Labels{0, 0, 0, -1, -1, -1});
  CHECK(labels({1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300}, 1) == Labels{-1, -1, -1, -1, -1, -1});
  CHECK(labels({0, 0, 0, 0, 0, 0}, 1) == Labels{-1, -1, -1, -1, -1, -1});
  CHECK(labels({5, -4, 5, 2.5, 2.5, 5}, 5) == Labels{0, 0, 0, 1, 1, 2});
  CHECK(labels({5, 5, 5, 2.5, 2.5, 4.999}, 5) == Labels{0, 0, 0, 1, 1, -1});
  CHECK(labels({5, 5, 5, 2.5, 2.5, 4.999}, 5, {.scale = {10}}, 10) == Labels{0, 0, 0, 1, 1, -1});
}

TEST_CASE("weighted: fractions sum as they read, however many points there are") {
  for (const std::size_t n : {20U, 100U, 255U, 256U, 1000U, 5000U}) {
    INFO("n " << n);
    // Ten points at 0 and five at 5, all others far from everything.
    std::vector<double> places(n), weights(n, 0.2);
    for (std::size_t i = 0; i < n; ++i) places[i] = i < 10 ? 0 : i < 15 ? 5 : 100 * static_cast<double>(i);
    std::fill_n(weights.begin(), 10, 0.1);
    const Dataset data = Engine({.threads = 1}).load(PointsView(std::span<const double>(places), 1));
    const auto results = run_weighted(data, weights, grid({1}, {1, 2}));
    CHECK(results[0].summary.core == 15);
    CHECK(results[1].summary.core == 0);
    weights[0] = 0.7;
    weights[1] = 0.2;
    for (std::size_t i = 3; i < 10; ++i) weights[i] = 0;
    CHECK(run_weighted(data, weights, grid({1}, {1}))[0].summary.core == 15);
  }
}

TEST_CASE("weighted: what cannot be is refused") {
  const std::vector<double> places{0, 1};
  const Dataset data = Engine({.threads = 1}).load(PointsView(std::span<const double>(places), 1));
  const auto refusal = [&](const std::vector<double>& weights) {
    return test::error_of<UsageError>([&] { (void)run_weighted(data, weights, grid({1}, {2})); });
  };
  test::check_mentions(refusal({1}), {"2 points", "1 weight"});
  test::check_mentions(refusal({1, NAN}), {"point 1", "nan", "finite"});
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS((void)run_weighted(data, std::vector<double>{1, 1}, grid({1}, {2}), {}, {.cancel = &cancel}),
                  Cancelled);
  CHECK(run_weighted(data, std::vector<double>{1, 1}, Sweep()).empty());
}

}  // namespace
}  // namespace epsflow
