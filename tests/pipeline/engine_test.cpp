// Tests what lasts over many runs: data sets that serve any options, runs that take turns, jobs that end on request.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/job.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

using namespace std::chrono_literals;

constexpr BackendChoice kCpu = BackendChoice::cpu;

DataSet clustered(std::size_t n, std::size_t dims = 2, std::uint64_t seed = 42) {
  return make_data("clustered", n, dims, Precision::float64, seed);
}

/// Holds a run at its first stage until open() is called.
class Gate {
 public:
  [[nodiscard]] Observer observer() {
    Observer watched;
    watched.before_stage = [this](Stage stage) {
      if (stage != Stage::build_index) return;
      reached_.store(true);
      while (closed_.load()) std::this_thread::sleep_for(1ms);
    };
    return watched;
  }
  void wait_until_reached() const {
    while (!reached_.load()) std::this_thread::sleep_for(1ms);
  }
  void open() { closed_.store(false); }

 private:
  std::atomic<bool> reached_{false};
  std::atomic<bool> closed_{true};
};

TEST_CASE("engine: one data set, many runs, whatever their options") {
  const DataSet data = clustered(600);
  const Sweep sweep = grid({0.3, 0.5}, {4, 2, 12});
  const Engine engine({.threads = 3, .backend = kCpu});
  CHECK(engine.backend() == "cpu");
  const Dataset loaded = engine.load(data.view());
  CHECK(loaded.size() == 600);
  CHECK(loaded.dims() == 2);
  CHECK(engine.options().threads == 3);
  for (int round = 0; round < 3; ++round) {
    CHECK(wrong(run(loaded, sweep), sweep, data) == "");
    const RunOptions by_table{.strategy = StrategyChoice::table, .search = {.format = FormatChoice::csr}};
    CHECK(wrong(run(loaded, sweep, by_table), sweep, data) == "");
    const auto masked = run(loaded, sweep, {.verify = true, .core_mask = true});
    CHECK(wrong(masked, sweep, data) == "");
    CHECK(masked.front().core.size() == 600);
    CHECK(run(loaded, sweep).front().core.empty());
  }
  const Neighbors found = neighbors(loaded, 0.3, Distances::include);
  const Neighbors expected = neighbors(data.view(), 0.3, Distances::include);
  CHECK(std::ranges::equal(found.ids.span(), expected.ids.span()));
  CHECK(std::ranges::equal(found.distances.span(), expected.distances.span()));
  CHECK(plan(loaded, sweep).size() == 2);
  CHECK(run(loaded, Sweep(std::vector<Variant>{})).empty());
}

TEST_CASE("engine: what was left open has come to something; options that cannot be are refused by name") {
  const DataSet data = clustered(50);
  const Engine engine({.memory = 1_GiB, .threads = 2, .backend = kCpu});
  CHECK(engine.options() == EngineOptions{.memory = 1_GiB, .threads = 2, .backend = kCpu});
  const Engine open({.threads = 1});
  const bool on_gpu = open.backend() == "gpu";
  CHECK(open.options().memory > 0);
  CHECK(open.options().backend == (on_gpu ? BackendChoice::gpu : kCpu));
  CHECK(on_gpu == open.options().gpu.has_value());
  const Dataset loaded = engine.load(data.view());
  const Sweep sweep = grid({0.3}, {4});
  const RunOptions lanes{.search = {.lanes = 5000}};
  const RunOptions factor{.search = {.estimate_factor = -1}};
  check_error<UsageError>({"SearchOptions::lanes is 5000"}, [&] { (void)run(loaded, sweep, lanes); });
  check_error<UsageError>({"SearchOptions::estimate_factor"}, [&] { (void)plan(loaded, sweep, {}, factor); });
  check_error<UsageError>({"SearchOptions::lanes is 5000"},
                          [&] { (void)neighbors(loaded, 1, Distances::omit, {}, lanes.search); });
  check_error<UsageError>({"EngineOptions::threads is 5000"}, [] { const Engine bad({.threads = 5000}); });
}

TEST_CASE("engine: what it cannot load is named, and leaves its memory") {
  const Engine engine({.memory = 1_MiB, .threads = 1, .backend = kCpu});
  std::vector<double> values(40'000, 1.0);
  values[2 * 7 + 1] = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 3; ++i) {
    check_error<InputError>({"row 7", "column 1"}, [&] { (void)engine.load(PointsView{values, 2}); });
  }
  values[2 * 7 + 1] = 0;
  std::vector<Dataset> held;
  for (int i = 0; i < 3; ++i) held.push_back(engine.load(PointsView{values, 2}));
  check_error<ResourceError>({"the data set", "EngineOptions::memory"}, [&] {
    (void)engine.load(PointsView{values, 2});
  });
  std::optional<Dataset> copy = held.back();
  held.pop_back();
  CHECK_THROWS_AS(engine.load(PointsView{values, 2}), ResourceError);
  copy.reset();
  CHECK_NOTHROW(engine.load(PointsView{values, 2}));
}

TEST_CASE("engine: points on a GPU, and labels on one, are refused where the engine runs on the CPU") {
  const DataSet data = clustered(50);
  const Engine engine({.backend = kCpu});
  const double somewhere = 0;
  check_error<UsageError>({"GPU", "copy them to the host"},
                          [&] { (void)engine.load(DevicePointsView(&somewhere, 1, 1)); });
  check_error<UsageError>({"RunOptions::labels", "CPU"}, [&] {
    (void)run(engine.load(data.view()), grid({1}, {2}), {.labels = MemorySpace::device});
  });
  check_error<UsageError>({"null"}, [&] { (void)DevicePointsView(static_cast<const float*>(nullptr), 3, 2); });
  check_error<UsageError>({"0 dimensions"}, [&] { (void)DevicePointsView(&somewhere, 3, 0); });
  for (const RunOptions& options : {RunOptions{.strategy = StrategyChoice::table, .labels = MemorySpace::device},
                                    RunOptions{.method = VariantMethod::each, .labels = MemorySpace::device},
                                    RunOptions{.verify = true, .labels = MemorySpace::device}}) {
    check_error<UsageError>({"MemorySpace::device", "table"}, [&] { check_options(options); });
  }
}

TEST_CASE("engine: runs from many threads take turns, and all are right") {
  const Watchdog watchdog("engine from many threads", 120s);
  const DataSet one = clustered(400, 2, 1);
  const DataSet two = clustered(300, 4, 2);
  const Sweep sweep = grid({0.3, 0.6}, {4, 2});
  const Engine engine({.threads = 2, .backend = kCpu});
  const Dataset first = engine.load(one.view());
  const Dataset second = engine.load(two.view());
  std::vector<std::string> findings(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < findings.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < 3 && findings[t].empty(); ++round) {
          const bool odd = (t + static_cast<std::size_t>(round)) % 2 == 1;
          findings[t] = wrong(run(odd ? first : second, sweep), sweep, odd ? one : two);
        }
      });
    }
  }
  for (const std::string& finding : findings) CHECK(finding.empty());
}

TEST_CASE("engine: first come, first served") {
  const Watchdog watchdog("order of jobs", 60s);
  const DataSet data = clustered(300);
  const Dataset loaded = Engine({.backend = kCpu}).load(data.view());
  Gate gate;
  std::vector<Job> jobs;
  jobs.push_back(start(loaded, grid({0.3}, {4}), {}, gate.observer()));
  gate.wait_until_reached();
  std::mutex mutex;
  std::vector<int> order;
  for (int k = 0; k < 6; ++k) {
    jobs.push_back(start(loaded, grid({0.3}, {4}), {}, {}, [&, k](VariantResult&&) {
      const std::scoped_lock lock(mutex);
      order.push_back(k);
    }));
    std::this_thread::sleep_for(30ms);  // the run waits for its turn by now
  }
  gate.open();
  for (Job& job : jobs) (void)job.results();
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("engine: what a run may take is what other data sets leave") {
  const DataSet data = clustered(20'000, 4);
  const Engine engine({.memory = 17_MiB, .threads = 1, .backend = kCpu});
  const Sweep sweep = grid({0.3}, {10, 8, 6, 4, 2});
  const Dataset loaded = engine.load(data.view());
  const GroupPlan alone = plan(loaded, sweep).front();
  CHECK(alone.fits);
  std::vector<double> values(2'100'000, 0.0);
  const Dataset other = engine.load(PointsView{values, 2});
  const GroupPlan beside = plan(loaded, sweep).front();
  CHECK(beside.bytes <= 17_MiB);
  CHECK_FALSE(beside.fits);
  CHECK_THROWS_AS(run(loaded, sweep), ResourceError);
}

TEST_CASE("job: it runs in the background, can be waited for with a limit, and gives the sweep's results once") {
  const Watchdog watchdog("job", 60s);
  const DataSet data = clustered(400);
  const Sweep sweep = grid({0.3, 0.5}, {4, 2});
  Gate gate;
  std::optional<Job> job;
  {
    // The job keeps the data set and the engine alive.
    const Engine engine({.backend = kCpu});
    job = start(engine.load(data.view()), sweep, {}, gate.observer());
  }
  gate.wait_until_reached();
  CHECK_FALSE(job->wait_for(0ms));
  CHECK_FALSE(job->wait_for(30ms));
  gate.open();
  CHECK(job->wait_for(60s));
  CHECK(job->wait_for(0ms));
  Job moved = std::move(*job);
  CHECK(wrong(moved.results(), sweep, data) == "");
  check_error<Error>({"taken already"}, [&] { (void)moved.results(); });
  CHECK(moved.wait_for(std::chrono::nanoseconds::max()));
  CHECK(moved.wait_for(0ms));
}

TEST_CASE("job: with its results it lets go of its data set") {
  const Watchdog watchdog("jobs and memory", 60s);
  const Engine engine({.memory = 1_MiB, .threads = 1, .backend = kCpu});
  const std::vector<double> values(80'000, 1.0);
  for (int i = 0; i < 50; ++i) {
    Job job = start(engine.load(PointsView{values, 1}), grid({1}, {200'000}), {}, {}, [](VariantResult&&) {});
    try {
      (void)job.results();
    } catch (const ResourceError&) {  // NOLINT(bugprone-empty-catch): both outcomes are valid
    }
  }
}

TEST_CASE("job: results may go to a callback, and what that throws is thrown from results()") {
  const Watchdog watchdog("job with a callback", 60s);
  const DataSet data = clustered(300);
  const Dataset loaded = Engine({.backend = kCpu}).load(data.view());
  std::atomic<int> seen{0};
  Job job = start(loaded, grid({0.3}, {4, 2}), {}, {}, [&](VariantResult&&) { ++seen; });
  CHECK(job.results().empty());
  CHECK(seen == 2);
  Job failing = start(loaded, grid({0.3}, {4, 2}), {}, {}, [&](VariantResult&&) { throw InputError("no more"); });
  CHECK(error_of<InputError>([&] { (void)failing.results(); }) == "no more");
}

TEST_CASE("job: cancelled by itself, by the observer's token, before its turn, and by going away") {
  const Watchdog watchdog("cancelled jobs", 60s);
  const DataSet data = clustered(400);
  const Sweep sweep = grid({0.3, 0.5}, {4, 2});
  const Dataset loaded = Engine({.backend = kCpu}).load(data.view());

  Gate gate;
  Job running = start(loaded, sweep, {}, gate.observer());
  gate.wait_until_reached();
  // Other jobs wait for their turn.
  CancelToken token;
  Job waiting = start(loaded, sweep, {}, {.cancel = &token});
  std::optional<Job> dropped = start(loaded, sweep);
  Job patient = start(loaded, sweep);
  CHECK_FALSE(waiting.wait_for(30ms));
  token.cancel();
  CHECK(waiting.wait_for(10s));
  CHECK_THROWS_AS(waiting.results(), Cancelled);
  CHECK_THROWS_AS(loaded.engine().load(data.view(), {}, &token), Cancelled);
  dropped.reset();
  running.cancel();
  gate.open();
  CHECK(running.wait_for(10s));
  CHECK_THROWS_AS(running.results(), Cancelled);
  CHECK(wrong(patient.results(), sweep, data) == "");
  CHECK(wrong(run(loaded, sweep), sweep, data) == "");
}

}  // namespace
}  // namespace epsflow::test
