// Invalid options are refused by name before a run begins.
#include <epsflow/pipeline/options.hpp>

#include <cstdint>
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
  const std::vector<double> points{0, 1, 2};
  for (const auto& [name, options] : cases) {
    check_error<UsageError>({name}, [&, &o = options] { check_options(o.engine, o.run); });
    // Every entry point of the library checks them.
    check_error<UsageError>({name}, [&, &o = options] { (void)run(PointsView(points, 1), grid({1}, {2}), o); });
    check_error<UsageError>({name},
                            [&, &o = options] { (void)neighbors(PointsView(points, 1), 1, Distances::omit, o); });
  }
  check_error<UsageError>({"RunOptions::tables is 4097; 0 (as many as suit the backend) to 4,096 are possible"},
                          [&] { (void)run(PointsView(points, 1), grid({1}, {2}), {}, {.tables = 4097}); });
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
  const std::vector<double> points{0, 1, 2};
  for (const RunOptions& options : cases) {
    const auto refusal = error_of<UsageError>([&] { (void)run(PointsView(points, 1), grid({1}, {2}), {}, options); });
    check_mentions(refusal, {"SearchOptions::kernel", "SearchOptions::format", "RunOptions::method",
                             "RunOptions::strategy", "StrategyChoice::direct", "leave one of them out"});
    // The options are valid with a table and with the automatic choice.
    for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table}) {
      RunOptions other = options;
      other.strategy = strategy;
      CHECK(run(PointsView(points, 1), grid({1}, {2}), {}, other).front().labels == std::vector<std::int32_t>{0, 0, 0});
    }
  }
  CHECK_NOTHROW(check_options(RunOptions{.strategy = kDirect}));
}

TEST_CASE("options: the paper's kernels and packed tables search a grid in float64, and nothing else") {
  const std::vector<SearchOptions> ways_of_tables{
      {.kernel = Kernel::global}, {.kernel = Kernel::shared}, {.format = FormatChoice::packed}};
  const std::vector<double> points{0, 1, 2};
  for (const SearchOptions& way : ways_of_tables) {
    for (const BackendChoice backend : {BackendChoice::automatic, BackendChoice::cpu, BackendChoice::gpu}) {
      Settings options{.engine = {.backend = backend}, .run = {.search = way}};
      const auto refused = [&](IndexChoice index, DecideChoice decide) {
        options.run.search.index = index;
        options.run.search.decide = decide;
        const std::vector<std::string_view> parts{"SearchOptions::kernel", "packed", "SearchOptions::index",
                                                  "SearchOptions::decide", "leave out"};
        for (const std::string_view part : parts) {
          check_error<UsageError>({part}, [&] { check_options(options.run.search); });
          check_error<UsageError>({part}, [&] { (void)run(PointsView(points, 1), grid({1}, {2}), options); });
          check_error<UsageError>({part}, [&] { (void)neighbors(PointsView(points, 1), 1, Distances::omit, options); });
        }
      };
      for (const IndexChoice index : {IndexChoice::tree, IndexChoice::all}) refused(index, DecideChoice::automatic);
      for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
        refused(IndexChoice::automatic, decide);
        refused(IndexChoice::grid, decide);
      }
      for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::grid}) {
        for (const DecideChoice decide : {DecideChoice::automatic, DecideChoice::scalar}) {
          options.run.search.index = index;
          options.run.search.decide = decide;
          CHECK_NOTHROW(check_options(options.engine, options.run));
        }
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
  const std::vector<double> points{0, 1, 2};
  for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
    for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
      const Settings options{.engine = {.backend = BackendChoice::cpu},
                             .run = {.search = {.index = index, .decide = decide}}};
      for (const auto& refusal :
           {error_of<UsageError>([&] { check_options(options.engine, options.run); }),
            error_of<UsageError>([&] { (void)run(PointsView(points, 1), grid({1}, {2}), options); }),
            error_of<UsageError>([&] { (void)neighbors(PointsView(points, 1), 1, Distances::omit, options); })}) {
        check_mentions(refusal,
                       {"SearchOptions::decide", "tensor cores", "EngineOptions::backend", "leave one of them out"});
      }
    }
    CHECK_NOTHROW(check_options(EngineOptions{.backend = BackendChoice::gpu}, {.search = {.decide = decide}}));
    CHECK_NOTHROW(check_options(EngineOptions{}, {.search = {.decide = decide}}));
  }
  for (const DecideChoice decide : {DecideChoice::automatic, DecideChoice::scalar}) {
    const Settings options{.engine = {.backend = BackendChoice::cpu},
                           .run = {.search = {.index = IndexChoice::grid, .decide = decide}}};
    CHECK(run(PointsView(points, 1), grid({1}, {2}), options).front().labels == std::vector<std::int32_t>{0, 0, 0});
  }
}

}  // namespace
}  // namespace epsflow::test
