#include <epsflow/pipeline/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "support/blobs.hpp"
#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

constexpr BackendChoice kCpu = BackendChoice::cpu;

/// More points than a sample holds, so that a sample is taken.
constexpr std::size_t kMany = 36'000;

TEST_CASE("plan: it tells a time on the CPU, for each way, metric and weights") {
  const Engine engine({.threads = 2, .backend = kCpu});
  for (const std::size_t n : {std::size_t{1}, std::size_t{500}, kMany}) {
    for (const std::size_t dims : {2, 5}) {
      const DataSet data = uniform_points(n, dims, 7);
      const double eps = dims == 2 ? 0.005 : 0.03;
      const Sweep sweep = grid({eps, 2 * eps}, {3, 9});
      for (const Metric& metric : {Metric{}, Metric{.kind = MetricKind::manhattan},
                                   Metric{.box = std::vector<BoxSide>(dims, BoxSide{0, 1})}}) {
        const Dataset points = engine.load(data.view(), metric);
        for (const Dataset& loaded : {points, points.weighted(std::vector<double>(n, 0.5))}) {
          for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
            INFO(n << " points, " << dims << " dimensions, " << describe(metric));
            const std::vector<GroupPlan> plans = plan(loaded, sweep, {}, {.strategy = strategy});
            REQUIRE(plans.size() == 2);
            for (const GroupPlan& group : plans) {
              REQUIRE(group.seconds.has_value());
              CHECK(*group.seconds > 0);
            }
            CHECK(total_seconds(plans) == *plans[0].seconds + *plans[1].seconds);
          }
        }
      }
    }
  }
}

TEST_CASE("plan: the time grows with the points, as of a sample, too") {
  const Engine engine({.threads = 2, .backend = kCpu});
  double last = 0;
  for (const std::size_t n : {std::size_t{2'000}, std::size_t{80'000}, std::size_t{3'200'000}}) {
    const DataSet data = uniform_points(n, 2, 7);
    const Dataset loaded = engine.load(data.view());
    double seconds = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 5; ++i) {  // a plan measures a part of the run, and other work only makes it longer
      seconds = std::min(seconds, total_seconds(plan(loaded, grid({0.0005}, {4}))).value());
    }
    INFO(n << " points: " << seconds << " s after " << last);
    CHECK(seconds > last);
    last = seconds;
  }
}

TEST_CASE("plan: slices tell a time by whole ones of them, and by a part of the points where they are large") {
  const Engine engine({.threads = 2, .backend = kCpu});
  const std::size_t n = 100'000;
  const DataSet data = uniform_points(n, 2, 7);
  for (const std::size_t each : {std::size_t{1}, std::size_t{7}, std::size_t{30'000}, std::size_t{60'000}, n}) {
    std::vector<std::uint64_t> offsets{0, 0};
    while (offsets.back() < n) offsets.push_back(std::min<std::uint64_t>(n, offsets.back() + each));
    offsets.push_back(n);
    const Dataset loaded = engine.load(data.view(), offsets);
    for (const Dataset& points : {loaded, loaded.weighted(std::vector<double>(n, 2))}) {
      INFO("slices of " << each);
      const std::optional<double> seconds = total_seconds(plan(points, grid({0.003}, {4})));
      REQUIRE(seconds.has_value());
      CHECK(*seconds > 0);
    }
  }
}

TEST_CASE("plan: no time where the memory is too small, and the data set is as good as before") {
  const DataSet data = uniform_points(kMany, 5, 7);
  const std::uint64_t bytes = data.view().bytes();
  const Sweep sweep = grid({0.05}, {5, 3});
  bool without = false, with = false, beside = false;
  for (std::uint64_t memory = 2 * bytes; memory <= 40 * bytes; memory += memory / 4) {
    const Dataset loaded = Engine({.memory = memory, .threads = 2, .backend = kCpu}).load(data.view());
    std::vector<GroupPlan> plans;
    const bool no_index =
        throws<ResourceError>([&] { plans = plan(loaded, sweep, {}, {.strategy = StrategyChoice::table}); });
    if (no_index) continue;
    REQUIRE(plans.size() == 1);
    CHECK((plans[0].fits || !plans[0].seconds));
    CHECK(total_seconds(plans).has_value() == plans[0].seconds.has_value());
    without = without || !plans[0].fits;
    with = with || plans[0].seconds;
    const GroupPlan direct = plan(loaded, sweep, {}, {.strategy = StrategyChoice::direct}).front();
    beside = beside || (direct.fits && direct.seconds);
  }
  CHECK(without);
  CHECK(with);
  CHECK(beside);
}

TEST_CASE("plan: an eps is planned among others as alone, however little memory there is") {
  const DataSet data = uniform_points(kMany, 2, 7);
  const std::uint64_t bytes = data.view().bytes();
  const std::vector<double> eps{0.02, 0.01, 0.005};
  bool fits = false, fails = false;
  for (std::uint64_t memory = 2 * bytes; memory <= 40 * bytes; memory += memory / 8) {
    const Dataset loaded = Engine({.memory = memory, .threads = 2, .backend = kCpu}).load(data.view());
    std::vector<GroupPlan> together;
    const bool no_index = throws<ResourceError>([&] { together = plan(loaded, grid(eps, {4})); });
    if (no_index) continue;
    REQUIRE(together.size() == eps.size());
    for (std::size_t e = 0; e < eps.size(); ++e) {
      const GroupPlan alone = plan(loaded, grid({eps[e]}, {4})).front();
      CHECK(together[e].fits == alone.fits);
      CHECK(together[e].strategy == alone.strategy);
      fits = fits || alone.fits;
      fails = fails || !alone.fits;
    }
  }
  CHECK(fits);
  CHECK(fails);
}

TEST_CASE("plan: candidates of a point are tested once for a table, else once more than there are minpts") {
  const Engine engine({.threads = 2, .backend = kCpu});
  const auto passes = [](const Dataset& loaded, const std::vector<std::uint32_t>& minpts, const RunOptions& options) {
    return plan(loaded, grid({0.05}, minpts), {}, options).front().passes;
  };
  for (const std::size_t dims : {2, 5}) {
    INFO(dims << " dimensions");
    const DataSet data = uniform_points(500, dims, 7);
    const Dataset loaded = engine.load(data.view());
    CHECK(passes(loaded, {3, 9, 27}, {.strategy = StrategyChoice::table}) == 1);
    CHECK(passes(loaded, {3}, {.strategy = StrategyChoice::direct}) == 2);
    CHECK(passes(loaded, {3, 9, 27}, {.strategy = StrategyChoice::direct}) == 4);
    // Two dimensions have dense boxes. Their border points are counted from a search of their own.
    CHECK(passes(loaded, {3, 9, 27}, {.strategy = StrategyChoice::direct, .keep = Keep::summary}) ==
          (dims == 2 ? 5 : 4));
  }
}

TEST_CASE("plan: nothing takes no time, and what is cancelled ends") {
  const Engine engine({.threads = 2, .backend = kCpu});
  const DataSet data = uniform_points(kMany, 2, 7);
  const Dataset loaded = engine.load(data.view());
  CHECK(total_seconds(plan(loaded, Sweep(std::vector<Variant>()))) == 0.0);
  CHECK_THROWS_AS(plan(loaded, grid({0.01}, {3}), {}, {}, cancelled()), Cancelled);
}

}  // namespace
}  // namespace epsflow::test
