// The task graph under failure, cancellation and concurrency: nothing is lost, nothing hangs, the first exception comes
// out.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
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

/// A sweep of three eps and three minpts over clustered points, and its right answer.
struct Scene {
  DataSet data = make_data("clustered", 700, 2, Precision::float64, 42);
  Sweep sweep = grid({0.3, 0.5, 0.2}, {4, 2, 12});
  std::vector<OracleLabels> expected;

  Scene() {
    for (const Variant& v : sweep.variants()) expected.push_back(oracle_labels(data.oracle(v.eps), v.minpts));
  }
  [[nodiscard]] std::size_t index_of(const Variant& v) const {
    const auto& all = sweep.variants();
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), v) - all.begin());
  }
};

const Scene& scene() {
  static const Scene only;
  return only;
}

/// Collects results and notes whatever is wrong with them. Catch2's assertions are not thread-safe, so these come
/// later.
class Collector {
 public:
  void take(const VariantResult& result) {
    if (++inside_ > 1) overlapped_ = true;
    const std::size_t at = scene().index_of(result.variant);
    if (at == scene().expected.size() || !seen_.insert(at).second || result.labels != scene().expected[at].labels ||
        !(result.summary == scene().expected[at].summary)) {
      wrong_ = true;
    }
    --inside_;
  }
  [[nodiscard]] std::size_t count() const { return seen_.size(); }
  /// Every result that came is right, came once, and alone.
  [[nodiscard]] bool right() const { return !wrong_ && !overlapped_; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> overlapped_{false};
  std::atomic<bool> wrong_{false};
  std::set<std::size_t> seen_;
};

std::vector<Options> flows() {
  std::vector<Options> all;
  for (const unsigned threads : {1U, 4U}) {
    for (const unsigned tables : {1U, 3U}) {
      Options options;
      options.threads = threads;
      options.tables = tables;
      options.format = FormatChoice::packed;
      all.push_back(options);
      options.method = VariantMethod::each;
      options.format = FormatChoice::csr;
      options.lane_pairs = 500;
      all.push_back(options);
      options.method = VariantMethod::nested;
      options.kernel = Kernel::global;
      all.push_back(options);
      // Without a table: as asked for, and as chosen where nothing is said.
      all.push_back({.threads = threads, .strategy = StrategyChoice::direct, .tables = tables});
      all.push_back({.threads = threads, .tables = tables});
    }
  }
  return all;
}

constexpr std::array kStages{Stage::group_by_eps,     Stage::build_index,      Stage::plan_batches,
                             Stage::find_neighbors,   Stage::sort_pairs,       Stage::build_table,
                             Stage::cluster_directly, Stage::cluster_variants, Stage::emit_results};

TEST_CASE("flow: a failure in any stage is thrown from run, and what came before is right") {
  std::map<Stage, int> fired;
  for (const Options& options : flows()) {
    for (const Stage stage : kStages) {
      for (const int call : {1, 2, 3, 5, 9}) {
        const std::string what = std::string(stage_name(stage)) + ", call " + std::to_string(call);
        const Watchdog watchdog(what);
        INFO(what << ", threads " << options.threads << ", tables " << options.tables);
        std::atomic<int> calls{0};
        Observer observer;
        observer.before_stage = [&](Stage s) {
          if (s == stage && ++calls == call) throw Injected(s, call);
        };
        Collector results;
        bool thrown = false;
        try {
          run_each(
              scene().data.view(), scene().sweep, options, [&](VariantResult&& r) { results.take(r); }, observer);
        } catch (const Injected& error) {
          thrown = true;
          CHECK(error.stage == stage);
          CHECK(error.call == call);
        }
        CHECK(results.right());
        // It is thrown exactly when the stage came so far, and only a whole run gives all results.
        CHECK(thrown == (calls >= call));
        CHECK((results.count() == scene().sweep.size()) == !thrown);
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
    Options options;
    options.threads = 8;
    options.format = FormatChoice::csr;
    options.lane_pairs = 200;
    Observer observer;
    observer.before_stage = [&](Stage s) {
      if (s == Stage::find_neighbors || s == Stage::build_table) throw Injected(s, 0);
    };
    CHECK_THROWS_AS(run(scene().data.view(), scene().sweep, options, observer), Injected);
  }
}

TEST_CASE("flow: the failure of one variant leaves no wrong labels of another") {
  const DataSet data = make_data("clustered", 30'000, 2, Precision::float64, 8);
  std::vector<std::uint32_t> minpts;
  for (std::uint32_t m = 1; m <= 24; ++m) minpts.push_back(m * 4);
  const Sweep sweep = grid({0.05}, minpts);
  const auto expected = run(data.view(), sweep);
  Options options;
  options.method = VariantMethod::each;
  options.threads = 8;
  for (int round = 0; round < 12; ++round) {
    const Watchdog watchdog("one variant fails");
    const int call = 1 + round % 3;
    INFO("round " << round);
    int calls = 0;
    int wrong = 0;
    bool thrown = false;
    try {
      run_each(data.view(), sweep, options, [&](VariantResult&& r) {
        const auto& all = sweep.variants();
        const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), r.variant) - all.begin());
        wrong += r.labels == expected[at].labels && r.summary == expected[at].summary ? 0 : 1;
        if (++calls == call) throw std::domain_error("no more");
      });
    } catch (const std::domain_error&) {
      thrown = true;
    }
    CHECK(thrown);
    CHECK(wrong == 0);
    CHECK(calls == call);
  }
}

TEST_CASE("flow: a callback that throws ends the run, and is not called again") {
  for (const Options& options : flows()) {
    for (const std::size_t call : {1U, 2U, 4U, 9U}) {
      const Watchdog watchdog("callback throws");
      INFO("call " << call << ", threads " << options.threads << ", tables " << options.tables);
      std::size_t calls = 0;
      Collector results;
      std::string text;
      try {
        run_each(scene().data.view(), scene().sweep, options, [&](VariantResult&& r) {
          results.take(r);
          if (++calls >= call) throw std::domain_error("no more");
        });
      } catch (const std::domain_error& error) {
        text = error.what();
      }
      CHECK(text == "no more");
      CHECK(results.right());
      CHECK(calls == call);
    }
  }
}

TEST_CASE("flow: what a callback throws comes out, though others wait to report at that moment") {
  const Watchdog watchdog("callbacks queue up");
  std::vector<std::uint32_t> minpts(16);
  for (std::uint32_t m = 0; m < 16; ++m) minpts[m] = m + 1;
  Options options;
  options.method = VariantMethod::each;
  options.threads = 8;
  options.tables = 3;
  Observer observer;
  observer.on_progress = [](const Progress&) {};
  int other = 0;
  for (int round = 0; round < 200; ++round) {
    try {
      run_each(
          scene().data.view(), grid({0.3, 0.29, 0.28, 0.27}, minpts), options,
          [](VariantResult&&) {
            // Long enough for the other variants to be ready and waiting.
            std::this_thread::sleep_for(500us);
            throw std::domain_error("no more");
          },
          observer);
    } catch (const std::domain_error&) {
      continue;
    } catch (const std::exception&) {
    }
    ++other;
  }
  CHECK(other == 0);
}

TEST_CASE("flow: a progress callback that throws ends the run") {
  for (const Options& options : flows()) {
    const Watchdog watchdog("progress throws");
    Observer observer;
    observer.on_progress = [](const Progress&) { throw std::domain_error("enough"); };
    CHECK_THROWS_AS(run(scene().data.view(), scene().sweep, options, observer), std::domain_error);
    if (options.strategy == StrategyChoice::direct) continue;  // neighbours are a table
    CHECK_THROWS_AS(neighbors(scene().data.view(), 0.3, Distances::omit, options, observer), std::domain_error);
  }
}

TEST_CASE("flow: cancellation from within callbacks") {
  std::size_t cancelled = 0;
  for (const Options& options : flows()) {
    for (const int call : {1, 2, 4, 8}) {
      for (const int from : {0, 1, 2}) {
        const Watchdog watchdog("cancelled from a callback");
        INFO("call " << call << ", from " << from << ", threads " << options.threads);
        CancelToken token;
        std::atomic<int> calls{0};
        Observer observer;
        observer.cancel = &token;
        const auto count = [&](int where) {
          if (where == from && ++calls == call) token.cancel();
        };
        observer.on_progress = [&](const Progress&) { count(1); };
        observer.before_stage = [&](Stage) { count(2); };
        Collector results;
        bool thrown = false;
        try {
          run_each(
              scene().data.view(), scene().sweep, options,
              [&](VariantResult&& r) {
                results.take(r);
                count(0);
              },
              observer);
        } catch (const Cancelled&) {
          thrown = true;
        }
        CHECK(results.right());
        CHECK(thrown == (calls >= call));
        if (!thrown) CHECK(results.count() == scene().sweep.size());
        if (thrown) ++cancelled;
      }
    }
  }
  CHECK(cancelled > 100);
}

TEST_CASE("flow: cancellation from another thread at any moment") {
  // The moment is the n-th beginning of a stage, which waits until the other thread has cancelled. Some lie behind the
  // end of the run.
  std::size_t cancelled = 0;
  std::size_t finished = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Watchdog watchdog("cancelled at random");
    INFO("seed " << seed);
    Random random(seed);
    const std::vector<Options> all = flows();
    const Options& options = random.pick(all);
    const std::uint64_t moment = seed % 10 == 0 ? 1'000'000 : random.below(20);
    CancelToken token;
    Observer observer;
    observer.cancel = &token;
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
    bool thrown = false;
    try {
      run_each(
          scene().data.view(), scene().sweep, options, [&](VariantResult&& r) { results.take(r); }, observer);
    } catch (const Cancelled&) {
      thrown = true;
    }
    over = true;
    canceller.join();
    CHECK(results.right());
    CHECK(thrown == (begun > moment));
    if (!thrown) CHECK(results.count() == scene().sweep.size());
    ++(thrown ? cancelled : finished);
  }
  CHECK(cancelled >= 100);
  CHECK(finished >= 15);
}

TEST_CASE("flow: nothing begins once a run is cancelled, whatever the size of a row") {
  // All points are each other's neighbours: 3.6e9 pairs in a few thousand batches, of which four are searched.
  const std::vector<float> equal(60'000, 1.0F);
  for (const VariantMethod method : {VariantMethod::nested, VariantMethod::each}) {
    const Watchdog watchdog("cancellation takes long");
    CancelToken token;
    Observer observer;
    observer.cancel = &token;
    std::atomic<int> searched{0};
    std::atomic<int> begun_late{0};
    observer.before_stage = [&](Stage stage) {
      if (token.cancelled()) ++begun_late;
      if (stage == Stage::find_neighbors && ++searched == 5) token.cancel();
    };
    Options options;
    options.strategy = StrategyChoice::table;
    options.method = method;
    options.threads = 4;
    CHECK_THROWS_AS(run(PointsView(std::span<const float>(equal), 1), grid({1.0}, {5, 9}), options, observer),
                    Cancelled);
    // Threads that had looked at the token just before may each begin one piece.
    CHECK(begun_late <= 4);
    CHECK(searched < 20);
  }
}

TEST_CASE("flow: a clustering without a table ends soon after it is cancelled, and hands out nothing") {
  // All points are each other's neighbours: counting them takes 3.6e9 distances in five dimensions, during which the
  // other thread cancels.
  constexpr std::size_t kDims = 5;
  const std::vector<float> equal(60'000 * kDims, 1.0F);
  const Watchdog watchdog("cancellation takes long");
  CancelToken token;
  std::atomic<bool> begun{false};
  Observer observer;
  observer.cancel = &token;
  observer.before_stage = [&](Stage stage) {
    if (stage == Stage::cluster_directly) begun = true;
  };
  std::thread canceller([&] {
    while (!begun) std::this_thread::yield();
    token.cancel();
  });
  Options options;
  options.strategy = StrategyChoice::direct;
  options.threads = 4;
  std::size_t results = 0;
  CHECK_THROWS_AS(run_each(
                      PointsView(std::span<const float>(equal), kDims), grid({1.0}, {60'000, 5}), options,
                      [&](VariantResult&&) { ++results; }, observer),
                  Cancelled);
  begun = true;
  canceller.join();
  CHECK(results == 0);
}

TEST_CASE("flow: a token that is cancelled already lets nothing begin") {
  CancelToken token;
  token.cancel();
  std::atomic<int> stages{0};
  Observer observer;
  observer.cancel = &token;
  observer.before_stage = [&](Stage) { ++stages; };
  CHECK_THROWS_AS(run(scene().data.view(), scene().sweep, {}, observer), Cancelled);
  CHECK(stages == 0);
}

TEST_CASE("flow: a token with a cancelled parent is cancelled") {
  CancelToken parent;
  CancelToken token(&parent);
  Observer observer;
  observer.cancel = &token;
  CHECK(run(scene().data.view(), scene().sweep, {}, observer).size() == scene().sweep.size());
  parent.cancel();
  CHECK(token.cancelled());
  CHECK_THROWS_AS(run(scene().data.view(), scene().sweep, {}, observer), Cancelled);
}

TEST_CASE("flow: progress only grows, one call at a time, and ends with all variants") {
  for (const Options& options : flows()) {
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};
    std::vector<Progress> seen;
    Observer observer;
    observer.on_progress = [&](const Progress& p) {
      if (++inside > 1) overlapped = true;
      seen.push_back(p);
      --inside;
    };
    (void)run(scene().data.view(), scene().sweep, options, observer);
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

TEST_CASE("flow: every variant is handed out exactly once") {
  for (const Options& options : flows()) {
    const Watchdog watchdog("each variant once");
    Collector results;
    run_each(scene().data.view(), scene().sweep, options, [&](VariantResult&& r) { results.take(r); });
    CHECK(results.right());
    CHECK(results.count() == scene().sweep.size());
  }
}

TEST_CASE("flow: results of run come in the sweep's order") {
  const Sweep sweep(std::vector<Variant>{{0.2, 9}, {0.5, 1}, {0.2, 3}, {0.4, 3}, {0.5, 7}, {0.1, 1}});
  for (const Options& options : flows()) {
    const auto results = run(scene().data.view(), sweep, options);
    REQUIRE(results.size() == sweep.size());
    for (std::size_t v = 0; v < results.size(); ++v) CHECK(results[v].variant == sweep.variants()[v]);
  }
}

TEST_CASE("flow: a variant that is asked for twice is clustered once") {
  const Sweep sweep(std::vector<Variant>{{0.3, 4}, {0.5, 2}, {0.3, 4}, {0.5, 2}, {0.3, 4}});
  CHECK(sweep.size() == 2);
  for (const Options& options : flows()) {
    std::size_t calls = 0;
    run_each(scene().data.view(), sweep, options, [&](VariantResult&&) { ++calls; });
    CHECK(calls == 2);
    CHECK(run(scene().data.view(), sweep, options).size() == 2);
  }
}

TEST_CASE("flow: an empty sweep has no results") {
  CHECK(run(scene().data.view(), Sweep()).empty());
  CHECK(run(scene().data.view(), grid({}, {4})).empty());
  run_each(scene().data.view(), Sweep(), {},
           [](VariantResult&&) { throw std::logic_error("no variant was asked for"); });
}

TEST_CASE("flow: no point and one point") {
  const std::vector<double> none;
  const std::vector<double> one{3, -1e200};
  for (const Options& options : flows()) {
    const Watchdog watchdog("no point");
    for (const VariantResult& r : run(PointsView(std::span<const double>(none), 2), grid({1, 2}, {1, 3}), options)) {
      CHECK(r.labels.empty());
      CHECK(r.summary == LabelSummary{});
    }
    const auto results = run(PointsView(std::span<const double>(one), 2), grid({1, 2}, {1, 2}), options);
    REQUIRE(results.size() == 4);
    for (const VariantResult& r : results) {
      const bool core = r.variant.minpts == 1;
      CHECK(r.labels == std::vector<std::int32_t>{core ? 0 : kNoise});
      CHECK(r.summary == (core ? LabelSummary{1, 0, 1, 0, 1} : LabelSummary{0, 1, 0, 0, 0}));
    }
  }
}

TEST_CASE("flow: extreme options change nothing") {
  const Watchdog watchdog("extreme options");
  Options options;
  options.lanes = 64;
  options.threads = 32;
  options.tables = 0;
  Collector many;
  run_each(scene().data.view(), scene().sweep, options, [&](VariantResult&& r) { many.take(r); });
  CHECK(many.right());
  CHECK(many.count() == scene().sweep.size());
  options.tables = 1000;
  options.lanes = 1;
  options.lane_pairs = 1;
  options.format = FormatChoice::csr;
  Collector one;
  run_each(scene().data.view(), scene().sweep, options, [&](VariantResult&& r) { one.take(r); });
  CHECK(one.right());
  CHECK(one.count() == scene().sweep.size());
}

TEST_CASE("flow: many eps with few lanes and several tables in flight") {
  const Watchdog watchdog("many eps");
  std::vector<double> eps;
  for (int i = 1; i <= 60; ++i) eps.push_back(0.01 * i);
  const DataSet data = make_data("clustered", 200, 2, Precision::float64, 6);
  for (const unsigned tables : {1U, 2U, 7U}) {
    Options options;
    options.tables = tables;
    options.lanes = 2;
    options.threads = 4;
    const auto results = run(data.view(), grid(eps, {3}), options);
    REQUIRE(results.size() == eps.size());
    for (std::size_t v = 0; v < eps.size(); ++v)
      REQUIRE(results[v].labels == oracle_labels(data.oracle(eps[v]), 3).labels);
  }
}

TEST_CASE("flow: runs from several threads at once do not meet") {
  const Watchdog watchdog("concurrent runs");
  std::vector<Collector> results(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      const std::vector<Options> all = flows();
      run_each(scene().data.view(), scene().sweep, all[t * 3 % all.size()],
               [&, t](VariantResult&& r) { results[t].take(r); });
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Collector& r : results) {
    CHECK(r.right());
    CHECK(r.count() == scene().sweep.size());
  }
}

/// What the process writes to standard error from here to text().
class CapturedErrors {
 public:
  CapturedErrors() : file_(std::tmpfile()), stderr_(dup(STDERR_FILENO)) {
    REQUIRE(file_ != nullptr);
    REQUIRE(stderr_ >= 0);
    std::fflush(stderr);
    REQUIRE(dup2(fileno(file_), STDERR_FILENO) == STDERR_FILENO);
  }
  ~CapturedErrors() {
    restore();
    close(stderr_);
    std::fclose(file_);
  }
  CapturedErrors(const CapturedErrors&) = delete;  // one standard error
  CapturedErrors& operator=(const CapturedErrors&) = delete;

  std::string text() {
    restore();
    std::string all;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
    return all;
  }

 private:
  void restore() const {
    std::fflush(stderr);
    (void)dup2(stderr_, STDERR_FILENO);
  }

  std::FILE* file_;
  int stderr_;
};

TEST_CASE("flow: runs at once with different numbers of threads print nothing") {
  const Watchdog watchdog("runs with different numbers of threads");
  const std::vector<unsigned> numbers{1, 2, 5, 9, 3, 16, 40};
  std::vector<Collector> results(numbers.size() * 5);
  std::string printed;
  {
    CapturedErrors errors;
    std::fputs("this is found", stderr);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < numbers.size(); ++t) {
      threads.emplace_back([&, t] {
        // Over and over, so that runs begin while others of more and of fewer threads end.
        for (std::size_t round = 0; round < 5; ++round) {
          Options options;
          options.threads = numbers[(t + round) % numbers.size()];
          run_each(scene().data.view(), scene().sweep, options,
                   [&](VariantResult&& r) { results[t * 5 + round].take(r); });
        }
      });
    }
    for (std::thread& t : threads) t.join();
    printed = errors.text();
  }
  CHECK(printed == "this is found");
  for (const Collector& r : results) {
    CHECK(r.right());
    CHECK(r.count() == scene().sweep.size());
  }
}

TEST_CASE("flow: a callback may run a sweep of its own") {
  const Watchdog watchdog("nested run");
  for (const Options& options : flows()) {
    std::size_t right = 0;
    run_each(scene().data.view(), scene().sweep, options, [&](VariantResult&& r) {
      const auto inner = run(scene().data.view(), grid({r.variant.eps}, {r.variant.minpts}), options);
      right += inner.front().labels == r.labels ? 1U : 0U;
    });
    CHECK(right == scene().sweep.size());
  }
}

TEST_CASE("flow: the trace holds every stage, and every row of every table once") {
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    Trace trace;
    Observer observer;
    observer.trace = &trace;
    Options options;
    options.backend = BackendChoice::cpu;  // whose batches are rows with every kernel
    options.kernel = kernel;
    options.format = FormatChoice::csr;
    (void)run(scene().data.view(), scene().sweep, options, observer);
    REQUIRE(trace.retries() == 0);
    std::map<Stage, std::size_t> spans;
    std::map<double, std::uint64_t> rows;
    for (const TraceSpan& span : trace.spans()) {
      ++spans[span.stage];
      CHECK(span.begin_ns <= span.end_ns);
      CHECK(span.begin_ns >= 0);
      CHECK_FALSE(span.detail.name.empty());
      if (span.stage != Stage::find_neighbors) continue;
      CHECK(span.detail.name == "rows");
      rows[span.eps] += span.detail.value;
    }
    CHECK(spans[Stage::group_by_eps] == 1);
    CHECK(spans[Stage::build_index] == 3);
    CHECK(spans[Stage::plan_batches] == 3);
    CHECK(spans[Stage::build_table] == spans[Stage::find_neighbors]);
    CHECK(spans[Stage::sort_pairs] == (emits_pairs(kernel) ? spans[Stage::find_neighbors] : 0));
    CHECK(spans[Stage::cluster_variants] >= 3);
    CHECK(spans[Stage::emit_results] == scene().sweep.size());
    CHECK(rows.size() == 3);
    for (const auto& [eps, sum] : rows) CHECK(sum == scene().data.size());
  }
}

TEST_CASE("flow: the trace of a run without a table holds its stages, and none of tables") {
  for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::automatic}) {
    Trace trace;
    Observer observer;
    observer.trace = &trace;
    Options options;
    options.backend = BackendChoice::cpu;
    options.strategy = strategy;
    (void)run(scene().data.view(), scene().sweep, options, observer);
    std::map<Stage, std::size_t> spans;
    for (const TraceSpan& span : trace.spans()) {
      ++spans[span.stage];
      CHECK(span.begin_ns <= span.end_ns);
      CHECK_FALSE(span.detail.name.empty());
      if (span.stage != Stage::cluster_directly) continue;
      CHECK(span.detail.name == "variants");
      CHECK(span.detail.value == 3);
    }
    const std::map<Stage, std::size_t> expected{{Stage::group_by_eps, 1},
                                                {Stage::build_index, 3},
                                                {Stage::cluster_directly, 3},
                                                {Stage::emit_results, scene().sweep.size()}};
    CHECK(spans == expected);
  }
}

TEST_CASE("flow: the way of each eps is chosen where nothing is said") {
  // Five dimensions, where cells are no cliques: few minpts go without a table, several share one.
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
    Options options;
    options.backend = BackendChoice::cpu;
    const auto results = run(data.view(), sweep, options, observer);
    for (std::size_t v = 0; v < results.size(); ++v) {
      const Variant& variant = sweep.variants()[v];
      CHECK(results[v].labels == oracle_labels(data.oracle(variant.eps), variant.minpts).labels);
    }
    CHECK(direct == (several ? 0 : 2));
    CHECK(tables == (several ? 2 : 0));
  }
}

}  // namespace
}  // namespace epsflow::test
