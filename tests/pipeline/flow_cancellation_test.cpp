// If a run is cancelled, the task graph must end soon and start nothing new. Earlier results must be right.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "pipeline/flow_scene.hpp"
#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

TEST_CASE("flow: cancellation from within callbacks") {
  std::size_t cancelled = 0;
  for (const Settings& options : flows()) {
    for (const int call : {1, 2, 4, 8}) {
      for (const int from : {0, 1, 2}) {
        const Watchdog watchdog("cancelled from a callback");
        INFO("call " << call << ", from " << from << ", " << describe(options));
        CancelToken token;
        std::atomic<int> calls{0};
        const auto count = [&](int where) {
          if (where == from && ++calls == call) token.cancel();
        };
        const Observer observer{.on_progress = [&](const Progress&) { count(1); },
                                .cancel = &token,
                                .before_stage = [&](Stage) { count(2); }};
        Collector results;
        const auto take = [&](VariantResult&& r) {
          results.take(r);
          count(0);
        };
        const bool thrown =
            throws<Cancelled>([&] { run_each(scene().data.view(), scene().sweep, options, take, observer); });
        CHECK(results.right());
        CHECK(thrown == (calls >= call));
        if (!thrown) CHECK(results.complete());
        if (thrown) ++cancelled;
      }
    }
  }
  CHECK(cancelled > 100);
}

TEST_CASE("flow: cancellation from another thread at any moment") {
  // The n-th start of a stage waits until the other thread has cancelled. Some n lie after the end of the run.
  std::size_t cancelled = 0;
  std::size_t finished = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Watchdog watchdog("cancelled at random");
    INFO("seed " << seed);
    Random random(seed);
    const std::vector<Settings> all = flows();
    const Settings& options = random.pick(all);
    const std::uint64_t moment = seed % 10 == 0 ? 1'000'000 : random.below(20);
    CancelToken token;
    Observer observer{.cancel = &token};
    std::atomic<std::uint64_t> begun{0};
    std::atomic<bool> reached{false};
    std::atomic<bool> over{false};
    observer.before_stage = [&](Stage) {
      if (begun++ != moment) return;
      reached = true;
      while (!token.cancelled()) std::this_thread::yield();
    };
    std::thread canceller([&] {
      while (!reached && !over) std::this_thread::yield();
      if (reached) token.cancel();
    });
    Collector results;
    const bool thrown = throws<Cancelled>([&] { collect(results, options, observer); });
    over = true;
    canceller.join();
    CHECK(results.right());
    CHECK(thrown == (begun > moment));
    if (!thrown) CHECK(results.complete());
    ++(thrown ? cancelled : finished);
  }
  CHECK(cancelled >= 100);
  CHECK(finished >= 15);
}

TEST_CASE("flow: nothing begins once a run is cancelled, whatever the size of a row") {
  // All points are neighbours: 3.6e9 pairs in a few thousand batches, at most four of which are searched at a time.
  const std::vector<float> equal(60'000, 1.0F);
  for (const VariantMethod method : {VariantMethod::nested, VariantMethod::each}) {
    const Watchdog watchdog("cancellation takes long");
    CancelToken token;
    Observer observer{.cancel = &token};
    std::atomic<int> searched{0};
    std::atomic<int> begun_late{0};
    observer.before_stage = [&](Stage stage) {
      if (token.cancelled()) ++begun_late;
      if (stage == Stage::find_neighbors && ++searched == 5) token.cancel();
    };
    const Settings options{.engine = {.threads = 4}, .run = {.strategy = StrategyChoice::table, .method = method}};
    CHECK_THROWS_AS(run(PointsView(equal, 1), grid({1.0}, {5, 9}), options, observer), Cancelled);
    // Threads that checked the token just before may each start one piece.
    CHECK(begun_late <= 4);
    CHECK(searched < 20);
  }
}

TEST_CASE("flow: a clustering without a table ends soon after it is cancelled, and hands out nothing") {
  // All points are neighbours: counting takes 3.6e9 distances in five dimensions, and the other thread cancels it.
  constexpr std::size_t kDims = 5;
  const std::vector<float> equal(60'000 * kDims, 1.0F);
  const Watchdog watchdog("cancellation takes long");
  CancelToken token;
  std::atomic<bool> begun{false};
  Observer observer{.cancel = &token};
  observer.before_stage = [&](Stage stage) {
    if (stage == Stage::cluster_directly) begun = true;
  };
  std::thread canceller([&] {
    while (!begun) std::this_thread::yield();
    token.cancel();
  });
  const Settings options{.engine = {.threads = 4}, .run = {.strategy = StrategyChoice::direct}};
  std::size_t results = 0;
  CHECK_THROWS_AS(
      run_each(
          PointsView(equal, kDims), grid({1.0}, {60'000, 5}), options, [&](VariantResult&&) { ++results; }, observer),
      Cancelled);
  begun = true;
  canceller.join();
  CHECK(results == 0);
}

TEST_CASE("flow: a token that is cancelled already lets nothing begin") {
  std::atomic<int> stages{0};
  Observer observer = cancelled();
  observer.before_stage = [&](Stage) { ++stages; };
  CHECK_THROWS_AS(run_scene({}, observer), Cancelled);
  CHECK(stages == 0);
}

}  // namespace
}  // namespace epsflow::test
