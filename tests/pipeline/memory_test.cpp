// Tests EngineOptions::memory: runs that do not fit are refused before the search; others stay within the budget.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/settings.hpp"
#include "support/watchdog.hpp"

#include <epsflow/core/format.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/sweep.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EPSFLOW_TEST_SANITIZED 1
#else
#define EPSFLOW_TEST_SANITIZED 0
#endif

namespace epsflow::test {
namespace {

const DataSet& points() {
  static const DataSet data = make_data("uniform", 20'000, 2, Precision::float64, 17);
  return data;
}

struct Outcome {
  std::string refusal;  ///< empty: the run succeeded
  bool searched = false;
  std::vector<VariantResult> results;
};

Outcome try_run(const DataSet& data, const Sweep& sweep, Settings options, std::uint64_t memory) {
  const Watchdog watchdog("a run with " + std::to_string(memory) + " bytes");
  std::atomic<int> searches{0};
  Observer observer;
  observer.before_stage = [&](Stage stage) { searches += stage == Stage::find_neighbors ? 1 : 0; };
  options.engine.memory = memory;
  options.engine.backend = BackendChoice::cpu;  // the numbers below are sizes on the CPU
  Outcome outcome;
  try {
    outcome.results = run(data.view(), sweep, options, observer);
  } catch (const ResourceError& error) {
    outcome.refusal = error.what();
  }
  outcome.searched = searches > 0;
  return outcome;
}

/// A sweep with its right answer.
struct Answered {
  const DataSet& data;
  Sweep sweep;
  std::vector<VariantResult> expected = run(data.view(), sweep);

  /// Returns true if `results` has the right labels of all variants.
  [[nodiscard]] bool by(const std::vector<VariantResult>& results) const {
    return std::equal(results.begin(), results.end(), expected.begin(), expected.end(),
                      [](const VariantResult& a, const VariantResult& b) { return a.labels == b.labels; });
  }
};

/// Budgets from `least` to below `most`; each is larger than the one before by a `step`-th.
struct Budgets {
  std::uint64_t least;
  std::uint64_t most;
  std::uint64_t step;
};

/// Each budget must be refused or be enough. A budget larger than one that was enough must not be refused.
void check_budgets(const Answered& answered, const Settings& options, const Budgets& budgets) {
  bool enough = false;
  std::size_t refused = 0;
  for (std::uint64_t memory = budgets.least; memory < budgets.most; memory += memory / budgets.step) {
    INFO("memory " << memory);
    const Outcome outcome = try_run(answered.data, answered.sweep, options, memory);
    INFO(outcome.refusal);
    if (!outcome.refusal.empty()) {
      ++refused;
      // The size of a csr table is an estimate, which may prove too small later. The size of a packed table is known.
      if (options.run.search.format == FormatChoice::packed) CHECK_FALSE(outcome.searched);
      CHECK_FALSE(enough);
      check_mentions(outcome.refusal, {"needs", "EngineOptions::memory", format_bytes(memory)});
      continue;
    }
    enough = true;
    CHECK(answered.by(outcome.results));
  }
  CHECK(enough);
  CHECK(refused > 0);
}

/// The budget must be enough.
void check_enough(const Answered& answered, const Settings& options, std::uint64_t memory) {
  INFO(describe(options) << "memory " << memory);
  const Outcome outcome = try_run(answered.data, answered.sweep, options, memory);
  INFO(outcome.refusal);
  CHECK(outcome.refusal.empty());
  CHECK(answered.by(outcome.results));
}

std::vector<Settings> formats() {
  std::vector<Settings> all;
  for (const FormatChoice format : {FormatChoice::packed, FormatChoice::csr}) {
    for (const VariantMethod method : {VariantMethod::nested, VariantMethod::each}) {
      all.push_back({.engine = {.threads = 4}, .run = {.search = {.format = format}, .method = method}});
    }
  }
  return all;
}

TEST_CASE("memory: the variants of a sweep count in the budget") {
  const std::vector<double> point{0};
  std::vector<double> eps(1000);
  std::iota(eps.begin(), eps.end(), 1.0);
  std::vector<std::uint32_t> minpts(100);
  std::iota(minpts.begin(), minpts.end(), 1U);
  const auto go = [&](const std::vector<double>& radii) {
    run_each(PointsView(point, 1), grid(radii, minpts), {.engine = {.memory = 4_MiB, .threads = 1}},
             [](VariantResult&&) {});
  };
  check_error<ResourceError>({"the list of the variants of the sweep needs", "4.0 MiB"}, [&] { go(eps); });
  CHECK_NOTHROW(go({1, 2}));
}

TEST_CASE("memory: the budget that a refusal before any search names is enough, and a packed table needs all of it") {
  for (const double eps : {2.0, 3.0, 5.0}) {
    const Answered answered{points(), grid({eps}, {4, 9})};
    for (const Settings& options : formats()) {
      INFO(describe(options) << "eps " << eps);
      const Outcome refused = try_run(points(), answered.sweep, options, 1'350'000);
      INFO(refused.refusal);
      const std::uint64_t named = named_bytes(refused.refusal);
      REQUIRE(named > 1'350'000);
      CHECK_FALSE(refused.searched);
      check_mentions(refused.refusal, {"neighbour table of eps " + format_number(eps)});
      // The size is exact for a packed table and an estimate for a csr table.
      const bool exact = options.run.search.format == FormatChoice::packed;
      check_enough(answered, options, exact ? named : named + named / 10);
      if (!exact) continue;
      const Outcome less = try_run(points(), answered.sweep, options, named - 1);
      CHECK_FALSE(less.refusal.empty());
      CHECK_FALSE(less.searched);
    }
  }
}

TEST_CASE("memory: every budget is either refused before the search or enough") {
  const Answered answered{points(), grid({2.0, 1.9, 1.5, 0.7}, {2, 4, 8, 16})};
  for (Settings options : formats()) {
    for (const unsigned tables : {1U, 3U}) {
      options.run.tables = tables;
      INFO(describe(options));
      check_budgets(answered, options, {300'000, 70'000'000, 6});
    }
  }
}

TEST_CASE("memory: a budget for one table at a time completes a sweep of many") {
  const Answered answered{points(), grid({2.0, 1.95, 1.9, 1.85, 1.8, 1.0}, {4, 8})};
  for (Settings options : formats()) {
    const std::uint64_t named = named_bytes(try_run(points(), answered.sweep, options, 1'350'000).refusal);
    REQUIRE(named > 0);
    for (const unsigned tables : {1U, 2U, 4U}) {
      options.run.tables = tables;
      // The budgets range from one table, with room for the clustering, to almost two.
      for (const double factor : {1.25, 1.4, 1.6, 1.8, 2.0}) {
        INFO("named " << named);
        check_enough(answered, options, static_cast<std::uint64_t>(static_cast<double>(named) * factor) + 2'000'000);
      }
    }
  }
}

TEST_CASE("memory: an estimate that proves too small is an error and not a crash") {
  // Every 100th position is sampled. The 301 points of the line come first and have few neighbours among their
  // candidates. The 99 equal points after them hold almost all pairs, and none of them is sampled.
  DataSet data;
  for (int i = 0; i < 301; ++i) data.doubles.push_back(0.9 * i);
  data.doubles.insert(data.doubles.end(), 99, 1e4);
  const Sweep sweep = grid({0.5}, {4});
  const Settings options{.engine = {.threads = 1}, .run = {.search = {.format = FormatChoice::csr}}};
  std::size_t refused_late = 0, enough = 0;
  for (std::uint64_t memory = 20'000; memory < 100'000; memory += 1'000) {
    const Outcome outcome = try_run(data, sweep, options, memory);
    INFO("memory " << memory << ": " << outcome.refusal);
    if (outcome.refusal.empty()) {
      ++enough;
      CHECK(outcome.results.front().labels == oracle_labels(data.oracle(0.5), 4).labels);
      continue;
    }
    CHECK(enough == 0);
    check_mentions(outcome.refusal, {"needs", "EngineOptions::memory", format_bytes(memory)});
    refused_late += outcome.searched ? 1U : 0U;
  }
  CHECK(refused_late > 0);
  CHECK(enough > 0);
}

TEST_CASE("memory: neighbors keeps to the budget as well") {
  Settings options{.engine = {.memory = 1'350'000, .backend = BackendChoice::cpu}};
  const auto refusal =
      error_of<ResourceError>([&] { (void)neighbors(points().view(), 2.0, Distances::omit, options); });
  check_mentions(refusal, {"EngineOptions::memory", format_bytes(1350000)});
  options.engine.memory = 100_MiB;
  CHECK(neighbors(points().view(), 2.0, Distances::omit, options).size() == points().size());
}

// ---- Runs without a table. ----

TEST_CASE("memory: what has no room for its table is clustered without one, unless a table is asked for") {
  // All points are neighbours of each other: a table has 3.6e9 pairs of at least one bit.
  DataSet data;
  data.precision = Precision::float32;
  data.floats.assign(60'000, 1.0F);
  const Sweep sweep = grid({1.0}, {60'001, 60'000, 4});
  for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::direct}) {
    const Outcome outcome = try_run(data, sweep, {.run = {.strategy = strategy}}, 64_MiB);
    REQUIRE(outcome.refusal.empty());
    CHECK_FALSE(outcome.searched);
    REQUIRE(outcome.results.size() == 3);
    CHECK(outcome.results[0].labels == std::vector<std::int32_t>(60'000, kNoise));
    CHECK(outcome.results[1].labels == std::vector<std::int32_t>(60'000, 0));
    CHECK(outcome.results[2].summary == LabelSummary{1, 0, 60'000, 0, 60'000});
  }
  const Outcome outcome = try_run(data, sweep, {.run = {.strategy = StrategyChoice::table}}, 64_MiB);
  CHECK_FALSE(outcome.searched);
  check_mentions(outcome.refusal, {"neighbour table of eps 1", "needs", "64.0 MiB", "EngineOptions::memory", "at least",
                                   "RunOptions::strategy = StrategyChoice::direct"});
}

TEST_CASE("memory: above three dimensions, too, a table that has no room is done without") {
  const DataSet data = make_data("clustered", 3000, 5, Precision::float64, 2);
  // These minpts are enough to share a table.
  const Answered answered{data, grid({1.5}, {3, 6, 9, 12, 15})};
  const Outcome table = try_run(data, answered.sweep, {.run = {.strategy = StrategyChoice::table}}, 1_MiB);
  check_mentions(table.refusal, {"neighbour table of eps 1.5", "RunOptions::strategy = StrategyChoice::direct"});
  const Outcome outcome = try_run(data, answered.sweep, {}, 1_MiB);
  REQUIRE(outcome.refusal.empty());
  CHECK_FALSE(outcome.searched);
  CHECK(answered.by(outcome.results));
}

TEST_CASE("memory: a table that was taken for small enough and is not is given up for labels without one") {
  // All points are neighbours of each other: three times as many pairs as the choice expects.
  const DataSet data = make_data("all equal", 3000, 4, Precision::float64, 2);
  const Sweep sweep = grid({1.0}, {5, 4, 3, 3001});
  const Outcome table = try_run(data, sweep, {.run = {.strategy = StrategyChoice::table}}, 20_MiB);
  check_mentions(table.refusal, {"neighbour table of eps 1", "EngineOptions::memory"});
  const Outcome outcome = try_run(data, sweep, {}, 20_MiB);
  REQUIRE(outcome.refusal.empty());
  REQUIRE(outcome.results.size() == 4);
  for (const VariantResult& r : outcome.results) CHECK(r.summary.clusters == (r.variant.minpts > 3000 ? 0 : 1));
}

TEST_CASE("memory: without a table every budget is refused or enough, and the labels are right") {
  for (const std::size_t dims : {2U, 5U}) {
    const DataSet data = make_data("clustered", 8000, dims, Precision::float64, 9);
    const std::uint64_t bytes = data.view().bytes();
    const Answered answered{data, grid({0.5, 0.45, 0.4, 0.35, 0.3, 0.1}, {12, 6, 3})};
    for (const unsigned tables : {1U, 3U}) {
      INFO("d " << dims << ", tables " << tables);
      const Settings options{.engine = {.threads = 4}, .run = {.strategy = StrategyChoice::direct, .tables = tables}};
      check_budgets(answered, options, {bytes / 2, 8 * bytes, 9});
    }
  }
}

TEST_CASE("memory: a budget that holds one eps at a time completes a sweep of many without a table") {
  const DataSet data = make_data("clustered", 20'000, 2, Precision::float64, 9);
  std::vector<double> eps;
  for (int i = 1; i <= 30; ++i) eps.push_back(0.01 * i);
  const Answered answered{data, grid(eps, {8, 4})};
  // Finds the least budget that each eps needs alone, within a hundredth. The smallest eps has the most cells.
  Settings options{.engine = {.threads = 4}, .run = {.strategy = StrategyChoice::direct}};
  std::uint64_t memory = data.view().bytes();
  while (!try_run(data, grid({eps.front()}, {8, 4}), options, memory).refusal.empty()) memory += memory / 100;
  for (const unsigned tables : {1U, 2U, 8U}) {
    for (const double factor : {1.0, 1.2, 1.5, 1.9}) {
      options.run.tables = tables;
      check_enough(answered, options, static_cast<std::uint64_t>(static_cast<double>(memory) * factor));
    }
  }
}

// ---- Measured runs: a child process makes each run, so that nothing else counts in its peak. ----

/// Returns the peak of this process's resident memory in bytes, or 0 if the system does not report it.
std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoull(line.substr(6)) << 10;
  }
  return 0;
}

/// Returns false, after a warning, if the peak cannot be measured in this build or on this system.
bool can_measure() {
  if (EPSFLOW_TEST_SANITIZED == 0 && peak_memory() > 0) return true;
  WARN("skipped: the peak cannot be measured in this build or on this system");
  return false;
}

constexpr std::size_t kMeasuredPoints = 300'000;

DataSet measured_points(std::size_t n = kMeasuredPoints) { return make_data("uniform", n, 2, Precision::float64, 23); }

constexpr std::array kTreeMinpts{5U, 20U};

/// Makes trees or labels of them by a function of pipeline/hierarchy.hpp, and returns how many there were.
std::size_t make_trees(const DataSet& data, const std::string& function, const EngineOptions& engine) {
  if (function == "hdbscan") return hdbscan(data.view(), kTreeMinpts, std::array{std::uint64_t{10}}, {}, engine).size();
  std::size_t count = 0;
  each_hierarchy(
      data.view(), kTreeMinpts, [&](Hierarchy&&) { ++count; }, engine);
  return count;
}

/// The task of the child, passed as text in its environment.
struct Measurement {
  std::string format;
  std::string method;
  double eps = 0;
  int tables = 1;
  std::uint64_t memory = 0;
  std::size_t points = kMeasuredPoints;
};

/// Checks that the child's peak is in the budget, and that the run shows in it: it must grow by `least` bytes. results:
/// bytes that the run may hold beside the budget.
void check_peak(const Measurement& m, std::uint64_t least, std::uint64_t results = 0) {
  char file[] = "/tmp/epsflow_memory_XXXXXX";
  const int fd = mkstemp(file);
  REQUIRE(fd >= 0);
  close(fd);
  std::ostringstream task;
  task << file << ' ' << m.format << ' ' << m.method << ' ' << m.eps << ' ' << m.tables << ' ' << m.memory << ' '
       << m.points;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("EPSFLOW_MEMORY_CHILD", task.str().c_str(), 1);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(3);
    execl("/proc/self/exe", "test", "[memory-child]", static_cast<char*>(nullptr));
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  std::ifstream in(file);
  std::uint64_t growth = 0;
  const bool read = static_cast<bool>(in >> growth);
  std::filesystem::remove(file);
  INFO(task.str() << ": grew by " << growth);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(read);
  REQUIRE(growth > 0);
  // The points are part of the budget, but not of the growth.
  CHECK(growth + m.points * 2 * sizeof(double) <= m.memory + m.memory / 10 + results);
  CHECK(growth >= least);
}

TEST_CASE("memory child: not a test, but the process that is measured", "[.][memory-child]") {
  const char* text = std::getenv("EPSFLOW_MEMORY_CHILD");
  if (text == nullptr) return;
  std::istringstream task(text);
  std::string file, format, method;
  double eps = 0;
  Settings options{.engine = {.backend = BackendChoice::cpu}};
  std::size_t n = 0;
  task >> file >> format >> method >> eps >> options.run.tables >> options.engine.memory >> n;
  if (format == "direct") {
    options.run.strategy = StrategyChoice::direct;
  } else {
    options.run.search.format = *choice_of<FormatChoice>(format);
  }
  const DataSet data = measured_points(n);
  const std::uint64_t before = peak_memory();
  if (format == "trees") {
    CHECK(make_trees(data, method, options.engine) == kTreeMinpts.size());
  } else if (method == "neighbors") {
    CHECK(neighbors(data.view(), eps, Distances::include, options).size() == data.size());
  } else {
    options.run.method = method == "each" ? VariantMethod::each : VariantMethod::nested;
    std::size_t results = 0;
    run_each(data.view(), grid({eps, eps * 0.95, eps * 0.5}, {4, 40}), options, [&](VariantResult&&) { ++results; });
    CHECK(results == 6);
  }
  std::ofstream(file) << peak_memory() - before;
}

TEST_CASE("memory: the measured peak stays within the budget") {
  if (!can_measure()) return;
  const DataSet data = measured_points();
  for (const std::string format : {"packed", "csr"}) {
    const double eps = format == "packed" ? 10 : 4;
    const Settings options{.run = {.search = {.format = *choice_of<FormatChoice>(format)}}};
    const Outcome refused = try_run(data, grid({eps}, {4}), options, 25'000'000);
    INFO(refused.refusal);
    const std::uint64_t named = named_bytes(refused.refusal);
    REQUIRE(named > 100'000'000);
    for (const std::string method : {"nested", "each"}) {
      for (const int tables : {1, 3}) {
        check_peak({format, method, eps, tables, named + named / 5}, named / 2);  // most of the growth is the table
      }
    }
  }
}

TEST_CASE("memory: the measured peak of a run without a table stays within the budget") {
  if (!can_measure()) return;
  // There are enough points to hide the memory that any process takes.
  constexpr std::size_t kMany = 2'000'000;
  const DataSet data = measured_points(kMany);
  // The first eps has full cells. The second has little more than a point per cell, so cells take most memory.
  for (const double eps : {2.0, 0.05}) {
    // Finds the least budget of the child's run, within a twentieth.
    const Settings direct{.run = {.strategy = StrategyChoice::direct, .tables = 1}};
    std::uint64_t named = data.view().bytes() * 3;
    while (!try_run(data, grid({eps * 0.5}, {4, 40}), direct, named).refusal.empty()) named += named / 20;
    for (const int tables : {1, 3}) {
      // Index and labels must show.
      check_peak({"direct", "nested", eps, tables, named + named / 10, kMany}, kMany * (16 + 4 + 4));
    }
  }
}

TEST_CASE("memory: the measured peak of hierarchies stays within the budget") {
  if (!can_measure()) return;
  const DataSet data = measured_points();
  for (const std::string function : {"each_hierarchy", "hdbscan"}) {
    // Finds the least budget, within a hundredth.
    EngineOptions engine{.memory = data.view().bytes(), .backend = BackendChoice::cpu};
    const auto refused = [&] {
      try {
        return make_trees(data, function, engine) == 0;
      } catch (const ResourceError&) {
        return true;
      }
    };
    while (refused()) engine.memory += engine.memory / 100;
    // Labels and probabilities are results, which do not count.
    const std::uint64_t results = function == "hdbscan" ? kTreeMinpts.size() * kMeasuredPoints * 12 : 0;
    check_peak({"trees", function, 1, 1, engine.memory}, engine.memory / 2, results);
  }
}

TEST_CASE("memory: the measured peak of neighbors stays within the budget") {
  if (!can_measure()) return;
  check_peak({"csr", "neighbors", 2, 1, 430'000'000}, 270'000'000);  // the table has 22.6 million pairs of 12 bytes
}

}  // namespace
}  // namespace epsflow::test
