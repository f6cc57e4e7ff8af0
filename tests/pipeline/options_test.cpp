// Invalid options are refused by name before a run begins.
#include <epsflow/pipeline/options.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/settings.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

const std::vector<double> kPoints{0, 1, 2};

/// Checks that every entry point of the library refuses the settings, with a text that contains every part.
void check_refused(std::initializer_list<std::string_view> parts, const Settings& options) {
  const PointsView points(kPoints, 1);
  check_error<UsageError>(parts, [&] { check_options(options.engine, options.run); });
  check_error<UsageError>(parts, [&] { (void)run(points, grid({1}, {2}), options); });
  check_error<UsageError>(parts, [&] { (void)neighbors(points, 1, Distances::omit, options); });
}

/// Checks that a run with the settings has the right labels.
void check_accepted(const Settings& options) {
  CHECK(run(PointsView(kPoints, 1), grid({1}, {2}), options).front().labels == std::vector<std::int32_t>{0, 0, 0});
}

TEST_CASE("options: the defaults, and the ends of every range, are fine") {
  CHECK_NOTHROW(check_options(EngineOptions{}, RunOptions{}));
  CHECK_NOTHROW(check_options(EngineOptions{.threads = 4096, .gpu = 1023}));
  CHECK_NOTHROW(check_options(SearchOptions{.lanes = 4096, .lane_pairs = 1ULL << 40, .estimate_factor = 1e-3}));
  CHECK_NOTHROW(check_options(RunOptions{.tables = 4096}));
}

TEST_CASE("options: what is out of range is named with what it may be") {
  constexpr unsigned kMinusOne = std::numeric_limits<unsigned>::max();
  const auto search = [](const SearchOptions& options) { return Settings{.run = {.search = options}}; };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, Settings>> cases{
      {"EngineOptions::threads", {.engine = {.threads = kMinusOne}}},
      {"EngineOptions::gpu", {.engine = {.gpu = 1024}}},
      {"EngineOptions::gpu", {.engine = {.backend = BackendChoice::cpu, .gpu = 0}}},
      {"SearchOptions::lanes", search({.lanes = kMinusOne})},
      {"SearchOptions::lane_pairs", search({.lane_pairs = std::numeric_limits<std::uint64_t>::max()})},
      {"SearchOptions::estimate_factor", search({.estimate_factor = 0})},
      {"SearchOptions::estimate_factor", search({.estimate_factor = kNan})},
      {"SearchOptions::estimate_factor", search({.estimate_factor = std::numeric_limits<double>::infinity()})},
  };
  for (const auto& [name, options] : cases) check_refused({name}, options);
  check_error<UsageError>({"RunOptions::tables is 4097; 0 (as many as suit the backend) to 4,096 are possible"},
                          [] { (void)run(PointsView(kPoints, 1), grid({1}, {2}), {.run = {.tables = 4097}}); });
}

template <class Owner>
void check_table() {
  std::set<std::string_view> library, program, python;
  for (const Option<Owner>& option : options_of<Owner>()) {
    INFO(option.library);
    CHECK(library.insert(option.library).second);
    if (!option.program.empty()) CHECK(program.insert(option.program).second);
    if (!option.python.empty()) CHECK(python.insert(option.python).second);
    CHECK(option.meaning.empty() == option.program.empty());
    CHECK_FALSE(option.meaning.ends_with('.'));
    CHECK((option.kind == OptionKind::choice) == !option.words.empty());
    if (option.set == nullptr) continue;
    // The value that is read is the value that was set, and setting the default changes nothing.
    Owner owner;
    const OptionValue standard = option.get(owner);
    if (!std::holds_alternative<std::monostate>(standard)) option.set(owner, standard);
    CHECK(option.get(owner) == standard);
    for (const std::string_view word : option.words) {
      option.set(owner, word);
      CHECK(option.get(owner) != OptionValue{});
    }
    if (option.kind == OptionKind::count) {
      option.set(owner, std::uint64_t{7});
      CHECK(option.get(owner) == OptionValue{std::uint64_t{7}});
    }
  }
}

TEST_CASE("options: every table names its options once, and sets what it reads") {
  check_table<EngineOptions>();
  check_table<SearchOptions>();
  check_table<RunOptions>();
  check_table<Metric>();
  CHECK(options_of<EngineOptions>().size() == 5);
  CHECK(options_of<SearchOptions>().size() == 7);
  CHECK(options_of<RunOptions>().size() == 8);
}

TEST_CASE("options: no table, and an option of how tables are made or read, contradict each other") {
  constexpr auto kDirect = StrategyChoice::direct;
  const std::vector<RunOptions> cases{
      {.strategy = kDirect, .search = {.kernel = Kernel::global}},
      {.strategy = kDirect, .search = {.kernel = Kernel::shared}},
      {.strategy = kDirect, .search = {.format = FormatChoice::csr}},
      {.strategy = kDirect, .search = {.format = FormatChoice::packed}},
      {.strategy = kDirect, .method = VariantMethod::each},
  };
  for (const RunOptions& options : cases) {
    check_error<UsageError>({"SearchOptions::kernel", "SearchOptions::format", "RunOptions::method",
                             "RunOptions::strategy", "StrategyChoice::direct", "leave one of them out"},
                            [&] { (void)run(PointsView(kPoints, 1), grid({1}, {2}), {.run = options}); });
    // The options are valid with a table and with the automatic choice.
    for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table}) {
      RunOptions other = options;
      other.strategy = strategy;
      check_accepted({.run = other});
    }
  }
  CHECK_NOTHROW(check_options(RunOptions{.strategy = kDirect}));
}

TEST_CASE("options: the paper's kernels and packed tables search a grid in float64, and nothing else") {
  for (const SearchOptions& way : {SearchOptions{.kernel = Kernel::global}, SearchOptions{.kernel = Kernel::shared},
                                   SearchOptions{.format = FormatChoice::packed}}) {
    for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
      for (const DecideChoice decide :
           {DecideChoice::automatic, DecideChoice::scalar, DecideChoice::tensor64, DecideChoice::tensor16}) {
        Settings options{.engine = {.backend = BackendChoice::cpu}, .run = {.search = way}};
        options.run.search.index = index;
        options.run.search.decide = decide;
        const bool on_grid = index == IndexChoice::automatic || index == IndexChoice::grid;
        const bool in_float64 = decide == DecideChoice::automatic || decide == DecideChoice::scalar;
        if (on_grid && in_float64) {
          CHECK_NOTHROW(check_options(options.engine, options.run));
          continue;
        }
        check_refused({"SearchOptions::kernel", "packed", "SearchOptions::index", "SearchOptions::decide", "leave out"},
                      options);
      }
    }
  }
  // Neither the csr format nor a method determines how candidates are searched.
  for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
    CHECK_NOTHROW(check_options(SearchOptions{.decide = decide, .format = FormatChoice::csr}));
    CHECK_NOTHROW(check_options(
        RunOptions{.search = {.index = IndexChoice::tree, .decide = decide}, .method = VariantMethod::each}));
  }
}

TEST_CASE("options: the CPU has no tensor cores") {
  for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
    for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
      check_refused({"SearchOptions::decide", "tensor cores", "EngineOptions::backend", "leave one of them out"},
                    {.engine = {.backend = BackendChoice::cpu}, .run = {.search = {.index = index, .decide = decide}}});
    }
    CHECK_NOTHROW(check_options(EngineOptions{.backend = BackendChoice::gpu}, {.search = {.decide = decide}}));
    CHECK_NOTHROW(check_options(EngineOptions{}, {.search = {.decide = decide}}));
  }
  for (const DecideChoice decide : {DecideChoice::automatic, DecideChoice::scalar}) {
    check_accepted(
        {.engine = {.backend = BackendChoice::cpu}, .run = {.search = {.index = IndexChoice::grid, .decide = decide}}});
  }
}

}  // namespace
}  // namespace epsflow::test
