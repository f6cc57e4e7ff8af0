// Options that no run can have are refused by name, before anything begins.
#include <epsflow/pipeline/options.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

TEST_CASE("options: the defaults, and the ends of every range, are fine") {
  CHECK_NOTHROW(check_options({}));
  CHECK_NOTHROW(check_options({.threads = 4096, .lanes = 4096, .lane_pairs = 1ULL << 40, .tables = 4096}));
  CHECK_NOTHROW(check_options({.estimate_factor = 1e-3}));
}

TEST_CASE("options: what is out of range is named with what it may be") {
  constexpr unsigned kMinusOne = std::numeric_limits<unsigned>::max();
  const std::vector<std::pair<std::string, Options>> cases{
      {"Options::threads", {.threads = kMinusOne}},
      {"Options::tables", {.tables = 4097}},
      {"Options::lanes", {.lanes = kMinusOne}},
      {"Options::lane_pairs", {.lane_pairs = std::numeric_limits<std::uint64_t>::max()}},
      {"Options::gpu", {.gpu = -2}},
      {"Options::gpu", {.backend = BackendChoice::cpu, .gpu = 0}},
      {"Options::estimate_factor", {.estimate_factor = 0}},
      {"Options::estimate_factor", {.estimate_factor = std::numeric_limits<double>::quiet_NaN()}},
      {"Options::estimate_factor", {.estimate_factor = std::numeric_limits<double>::infinity()}},
  };
  const std::vector<double> points{0, 1, 2};
  for (const auto& [name, options] : cases) {
    check_mentions(error_of<UsageError>([&, &o = options] { check_options(o); }), {name});
    // Every way into the library asks.
    check_mentions(error_of<UsageError>([&, &o = options] { (void)run({points, 1}, grid({1}, {2}), o); }), {name});
    check_mentions(error_of<UsageError>([&, &o = options] {
                     (void)neighbors({points, 1}, 1, Distances::omit, o);
                   }),
                   {name});
  }
}

TEST_CASE("options: no table, and an option of how tables are made or read, contradict each other") {
  constexpr auto kDirect = StrategyChoice::direct;
  const std::vector<Options> cases{
      {.strategy = kDirect, .kernel = Kernel::global},      {.strategy = kDirect, .kernel = Kernel::shared},
      {.strategy = kDirect, .format = FormatChoice::csr},   {.strategy = kDirect, .format = FormatChoice::packed},
      {.strategy = kDirect, .method = VariantMethod::each},
  };
  const std::vector<double> points{0, 1, 2};
  for (const Options& options : cases) {
    const auto refusal = error_of<UsageError>([&] { (void)run({points, 1}, grid({1}, {2}), options); });
    check_mentions(refusal, {"Options::kernel", "Options::format", "Options::method", "Options::strategy",
                             "StrategyChoice::direct", "leave one of them out"});
    // With a table, and with the choice left open, they are fine.
    for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table}) {
      Options other = options;
      other.strategy = strategy;
      CHECK(run({points, 1}, grid({1}, {2}), other).front().labels == std::vector<std::int32_t>{0, 0, 0});
    }
  }
  CHECK_NOTHROW(check_options({.strategy = kDirect}));
}

TEST_CASE("options: the paper's kernels and packed tables search a grid in float64, and nothing else") {
  const std::vector<Options> ways_of_tables{
      {.kernel = Kernel::global}, {.kernel = Kernel::shared}, {.format = FormatChoice::packed}};
  const std::vector<double> points{0, 1, 2};
  for (const Options& way : ways_of_tables) {
    for (const BackendChoice backend : {BackendChoice::automatic, BackendChoice::cpu, BackendChoice::gpu}) {
      Options options = way;
      options.backend = backend;
      const auto refused = [&](IndexChoice index, DecideChoice decide) {
        options.index = index;
        options.decide = decide;
        const std::vector<std::string_view> parts{"Options::kernel", "packed", "Options::index", "Options::decide",
                                                  "leave out"};
        for (const std::string_view part : parts) {
          check_mentions(error_of<UsageError>([&] { check_options(options); }), {part});
          check_mentions(error_of<UsageError>([&] { (void)run({points, 1}, grid({1}, {2}), options); }), {part});
          check_mentions(error_of<UsageError>([&] {
                           (void)neighbors({points, 1}, 1, Distances::omit, options);
                         }),
                         {part});
        }
      };
      for (const IndexChoice index : {IndexChoice::tree, IndexChoice::all}) refused(index, DecideChoice::automatic);
      for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
        refused(IndexChoice::automatic, decide);
        refused(IndexChoice::grid, decide);
      }
      for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::grid}) {
        for (const DecideChoice decide : {DecideChoice::automatic, DecideChoice::scalar}) {
          options.index = index;
          options.decide = decide;
          CHECK_NOTHROW(check_options(options));
        }
      }
    }
  }
  // Neither ids as a format nor a method says how candidates are searched.
  for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
    CHECK_NOTHROW(check_options({.decide = decide, .format = FormatChoice::csr}));
    CHECK_NOTHROW(check_options({.index = IndexChoice::tree, .decide = decide, .method = VariantMethod::each}));
  }
}

TEST_CASE("options: the CPU has no tensor cores") {
  const std::vector<double> points{0, 1, 2};
  for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
    for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
      const Options options{.backend = BackendChoice::cpu, .index = index, .decide = decide};
      for (const auto& refusal : {error_of<UsageError>([&] { check_options(options); }), error_of<UsageError>([&] {
                                    (void)run({points, 1}, grid({1}, {2}), options);
                                  }),
                                  error_of<UsageError>([&] {
                                    (void)neighbors({points, 1}, 1, Distances::omit, options);
                                  })}) {
        check_mentions(refusal, {"Options::decide", "tensor cores", "Options::backend", "leave one of them out"});
      }
    }
    CHECK_NOTHROW(check_options({.backend = BackendChoice::gpu, .decide = decide}));
    CHECK_NOTHROW(check_options({.decide = decide}));
  }
  for (const DecideChoice decide : {DecideChoice::automatic, DecideChoice::scalar}) {
    const Options options{.backend = BackendChoice::cpu, .index = IndexChoice::grid, .decide = decide};
    CHECK(run({points, 1}, grid({1}, {2}), options).front().labels == std::vector<std::int32_t>{0, 0, 0});
  }
}

TEST_CASE("options: neighbours cannot be had without a table") {
  const std::vector<double> points{0, 1, 2};
  check_mentions(error_of<UsageError>([&] {
                   (void)neighbors({points, 1}, 1, Distances::omit, {.strategy = StrategyChoice::direct});
                 }),
                 {"neighbors()", "Options::strategy", "StrategyChoice::direct", "leave it out"});
  for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table}) {
    CHECK(neighbors({points, 1}, 1, Distances::omit, {.strategy = strategy}).size() == 3);
  }
}

}  // namespace
}  // namespace epsflow::test
