// In a run without errors, the task graph gives every variant once, in order, with the right labels, for all options.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "pipeline/flow_scene.hpp"
#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

TEST_CASE("flow: progress only grows, one call at a time, and ends with all variants") {
  for (const Settings& options : flows()) {
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};
    std::vector<Progress> seen;
    Observer observer;
    observer.on_progress = [&](const Progress& p) {
      if (++inside > 1) overlapped = true;
      seen.push_back(p);
      --inside;
    };
    (void)run_scene(options, observer);
    CHECK_FALSE(overlapped);
    REQUIRE(seen.size() >= scene().sweep.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CHECK(seen[i].variants == scene().sweep.size());
      CHECK(seen[i].table_share >= 0);
      CHECK(seen[i].table_share <= 1);
      if (i == 0) continue;
      CHECK(seen[i].variants_done >= seen[i - 1].variants_done);
      CHECK(seen[i].seconds >= seen[i - 1].seconds);
    }
    CHECK(seen.back().variants_done == scene().sweep.size());
  }
}

TEST_CASE("flow: an empty sweep has no results") {
  CHECK(run(scene().data.view(), Sweep()).empty());
  CHECK(run(scene().data.view(), grid({}, {4})).empty());
  run_each(scene().data.view(), Sweep(), {},
           [](VariantResult&&) { throw std::logic_error("no variant was asked for"); });
}

TEST_CASE("flow: extreme options change nothing") {
  const Watchdog watchdog("extreme options");
  for (const RunOptions& extreme :
       {RunOptions{.search = {.lanes = 64}},
        RunOptions{.search = {.format = FormatChoice::csr, .lanes = 1, .lane_pairs = 1}, .tables = 1000}}) {
    Collector results;
    collect(results, {.engine = {.threads = 32}, .run = extreme});
    CHECK((results.right() && results.complete()));
  }
}

TEST_CASE("flow: many eps with few lanes and several tables in flight") {
  const Watchdog watchdog("many eps");
  std::vector<double> eps;
  for (int i = 1; i <= 60; ++i) eps.push_back(0.01 * i);
  const DataSet data = make_data("clustered", 200, 2, Precision::float64, 6);
  for (const unsigned tables : {1U, 2U, 7U}) {
    const Settings options{.engine = {.threads = 4}, .run = {.search = {.lanes = 2}, .tables = tables}};
    const auto results = run(data.view(), grid(eps, {3}), options);
    REQUIRE(wrong(results, grid(eps, {3}), data) == "");
  }
}

TEST_CASE("flow: the way of each eps is chosen where nothing is said") {
  // In five dimensions cells are not dense boxes. Few minpts are clustered without a table, several share one.
  const DataSet data = make_data("clustered", 400, 5, Precision::float64, 3);
  for (const bool several : {false, true}) {
    const Sweep sweep =
        grid({0.5, 1.0}, several ? std::vector<std::uint32_t>{2, 4, 6, 8} : std::vector<std::uint32_t>{4});
    std::atomic<int> direct{0};
    std::atomic<int> tables{0};
    Observer observer;
    observer.before_stage = [&](Stage stage) {
      direct += stage == Stage::cluster_directly ? 1 : 0;
      tables += stage == Stage::cluster_variants ? 1 : 0;
    };
    const auto results = run(data.view(), sweep, {.engine = {.backend = BackendChoice::cpu}}, observer);
    CHECK(wrong(results, sweep, data) == "");
    CHECK(direct == (several ? 0 : 2));
    CHECK(tables == (several ? 2 : 0));
  }
}

}  // namespace
}  // namespace epsflow::test
