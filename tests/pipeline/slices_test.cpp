#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/slices_check.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/explore.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

/// Options for every way to label slices on a CPU.
const std::vector<RunOptions> kWays{
    {.core_mask = true},
    {.verify = true},
    {.strategy = StrategyChoice::table, .core_mask = true},
    {.strategy = StrategyChoice::table, .search = {.format = FormatChoice::csr}, .verify = true},
    {.strategy = StrategyChoice::table, .search = {.kernel = Kernel::global}},
    {.strategy = StrategyChoice::direct, .core_mask = true},
    {.keep = Keep::summary},
    {.method = VariantMethod::each, .keep = Keep::summary},
};

TEST_CASE("slices: labels and counts are those of a run of each alone") {
  check_random_slices(Engine({.threads = 2}), kWays, 200);
}

TEST_CASE("slices: by every metric") {
  for (const RunOptions& options : kWays) check_slices_by_metrics(Engine({.threads = 2}), options);
}

TEST_CASE("slices: thousands of them, whose points lie at the same positions") {
  constexpr std::size_t kSlices = 3000;
  std::vector<double> x;
  std::vector<std::uint64_t> offsets{0};
  for (std::size_t s = 0; s < kSlices; ++s) {
    for (std::size_t i = 0; i < s % 5; ++i) x.insert(x.end(), {static_cast<double>(i), 0});
    offsets.push_back(x.size() / 2);
  }
  const Dataset data = Engine({.threads = 2}).load(PointsView(x, 2), offsets);
  for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
    const auto results = run(data, grid({1}, {3}), {.strategy = strategy});
    for (std::size_t s = 0; s < kSlices; ++s) {
      const std::uint64_t n = s % 5;
      REQUIRE(results[0].slices[s] == LabelSummary{.clusters = n >= 3 ? 1U : 0U,
                                                   .noise = n >= 3 ? 0 : n,
                                                   .core = n >= 3 ? n - 2 : 0,
                                                   .border = n >= 3 ? 2U : 0U,
                                                   .largest = n >= 3 ? n : 0});
    }
    REQUIRE(results[0].summary.clusters == kSlices / 5 * 2);
  }
}

TEST_CASE("slices: neighbours are of the same slice; a plan is made of all") {
  const std::vector<double> x{0, 1, 0, 1, 2};
  const Dataset data = Engine({.threads = 1}).load(PointsView(x, 1), std::vector<std::uint64_t>{0, 2, 5});
  const Neighbors found = neighbors(data, 1.0);
  REQUIRE(found.pairs() == 2 * 2 + 2 + 3 + 2);
  REQUIRE(found.row(1).size() == 2);
  REQUIRE(found.row(2)[0] == 2);
  REQUIRE(plan(data, grid({1}, {2})).size() == 1);
}

TEST_CASE("slices: what is wrong is named") {
  const Engine engine({.threads = 1});
  const std::vector<double> x{0, 1, 2, 3};
  const PointsView points(x, 1);
  const auto load = [&](const std::vector<std::uint64_t>& offsets) { return engine.load(points, offsets); };
  using Catch::Contains;
  REQUIRE_THROWS_WITH(load({}), Contains("at least one offset"));
  REQUIRE_THROWS_WITH(load({1, 4}), Contains("begins at 1"));
  REQUIRE_THROWS_WITH(load({0, 3}), Contains("ends at 3") && Contains("4 points"));
  REQUIRE_THROWS_WITH(load({0, 3, 2, 4}), Contains("slice 1 would begin at point 3 and end at 2"));
  const Dataset data = load({0, 2, 4});
  const Sweep sweep = grid({1}, {2});
  REQUIRE_THROWS_WITH(run(data, sweep, {.search = {.index = IndexChoice::tree}}), Contains("keeps slices apart"));
  REQUIRE_THROWS_WITH(run(data, sweep, {.search = {.index = IndexChoice::all}}), Contains("keeps slices apart"));
  REQUIRE_THROWS_WITH(run(data, sweep, {.labels = MemorySpace::device}), Contains("numbered on the host"));
  REQUIRE_THROWS_WITH(k_distances(data, 1), Contains("load each slice by itself"));
  REQUIRE_THROWS_WITH(explore(data), Contains("load each slice by itself"));
}

}  // namespace
}  // namespace epsflow::test
