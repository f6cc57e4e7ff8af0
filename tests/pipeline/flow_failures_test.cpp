// If a stage of the task graph fails, no result is lost, the run does not hang, and the first exception is rethrown.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/flow_scene.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

using namespace std::chrono_literals;

struct Injected : std::runtime_error {
  Injected(Stage s, int c) : std::runtime_error("injected"), stage(s), call(c) {}
  Stage stage;
  int call;
};

constexpr std::array kStages{Stage::group_by_eps,     Stage::build_index,      Stage::plan_batches,
                             Stage::find_neighbors,   Stage::sort_pairs,       Stage::build_table,
                             Stage::cluster_directly, Stage::cluster_variants, Stage::emit_results};

TEST_CASE("flow: a failure in any stage is thrown from run, and what came before is right") {
  std::map<Stage, int> fired;
  for (const Settings& options : flows()) {
    for (const Stage stage : kStages) {
      for (const int call : {1, 2, 3, 5, 9}) {
        const std::string what = std::string(stage_name(stage)) + ", call " + std::to_string(call);
        const Watchdog watchdog(what);
        INFO(what << ", " << describe(options));
        std::atomic<int> calls{0};
        Observer observer;
        observer.before_stage = [&](Stage s) {
          if (s == stage && ++calls == call) throw Injected(s, call);
        };
        Collector results;
        bool thrown = false;
        try {
          collect(results, options, observer);
        } catch (const Injected& error) {
          thrown = true;
          CHECK(error.stage == stage);
          CHECK(error.call == call);
        }
        CHECK(results.right());
        // The exception is thrown if and only if the stage made that many calls. Only a complete run gives all results.
        CHECK(thrown == (calls >= call));
        CHECK(results.complete() == !thrown);
        if (thrown) ++fired[stage];
      }
    }
  }
  for (const Stage stage : kStages) {
    INFO(stage_name(stage));
    CHECK(fired[stage] >= 4);
  }
}

TEST_CASE("flow: of several failures at once one is thrown") {
  const Watchdog watchdog("several failures");
  for (int round = 0; round < 50; ++round) {
    const Settings options{.engine = {.threads = 8},
                           .run = {.search = {.format = FormatChoice::csr, .lane_pairs = 200}}};
    Observer observer;
    observer.before_stage = [&](Stage s) {
      if (s == Stage::find_neighbors || s == Stage::build_table) throw Injected(s, 0);
    };
    CHECK_THROWS_AS(run_scene(options, observer), Injected);
  }
}

TEST_CASE("flow: the failure of one variant leaves no wrong labels of another") {
  const DataSet data = make_data("clustered", 30'000, 2, Precision::float64, 8);
  std::vector<std::uint32_t> minpts;
  for (std::uint32_t m = 1; m <= 24; ++m) minpts.push_back(m * 4);
  const Sweep sweep = grid({0.05}, minpts);
  const auto expected = run(data.view(), sweep);
  const Settings options{.engine = {.threads = 8}, .run = {.method = VariantMethod::each}};
  for (int round = 0; round < 12; ++round) {
    const Watchdog watchdog("one variant fails");
    const int call = 1 + round % 3;
    INFO("round " << round);
    int calls = 0;
    int wrong = 0;
    const auto take = [&](VariantResult&& r) {
      const auto& all = sweep.variants();
      const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), r.variant) - all.begin());
      wrong += r.labels == expected[at].labels && r.summary == expected[at].summary ? 0 : 1;
      if (++calls == call) throw std::domain_error("no more");
    };
    CHECK_THROWS_AS(run_each(data.view(), sweep, options, take), std::domain_error);
    CHECK(wrong == 0);
    CHECK(calls == call);
  }
}

TEST_CASE("flow: a callback that throws ends the run, and is not called again") {
  for (const Settings& options : flows()) {
    for (const std::size_t call : {1U, 2U, 4U, 9U}) {
      const Watchdog watchdog("callback throws");
      INFO("call " << call << ", " << describe(options));
      std::size_t calls = 0;
      Collector results;
      const auto take = [&](VariantResult&& r) {
        results.take(r);
        if (++calls >= call) throw std::domain_error("no more");
      };
      CHECK(error_of<std::domain_error>([&] { run_each(scene().data.view(), scene().sweep, options, take); }) ==
            "no more");
      CHECK(results.right());
      CHECK(calls == call);
    }
  }
}

TEST_CASE("flow: what a callback throws comes out, though others wait to report at that moment") {
  const Watchdog watchdog("callbacks queue up");
  std::vector<std::uint32_t> minpts(16);
  for (std::uint32_t m = 0; m < 16; ++m) minpts[m] = m + 1;
  const Settings options{.engine = {.threads = 8}, .run = {.method = VariantMethod::each, .tables = 3}};
  const Observer observer{.on_progress = [](const Progress&) {}};
  const auto take = [](VariantResult&&) {
    // The delay is long enough for the other variants to be ready and waiting.
    std::this_thread::sleep_for(500us);
    throw std::domain_error("no more");
  };
  for (int round = 0; round < 200; ++round) {
    CHECK_THROWS_AS(run_each(scene().data.view(), grid({0.3, 0.29, 0.28, 0.27}, minpts), options, take, observer),
                    std::domain_error);
  }
}

TEST_CASE("flow: a progress callback that throws ends the run") {
  for (const Settings& options : flows()) {
    const Watchdog watchdog("progress throws");
    const Observer observer{.on_progress = [](const Progress&) { throw std::domain_error("enough"); }};
    CHECK_THROWS_AS(run_scene(options, observer), std::domain_error);
    if (options.run.strategy == StrategyChoice::direct) continue;  // neighbors() needs a table
    CHECK_THROWS_AS(neighbors(scene().data.view(), 0.3, Distances::omit, options, observer), std::domain_error);
  }
}

}  // namespace
}  // namespace epsflow::test
