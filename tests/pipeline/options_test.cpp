// Options that no run can have are refused by name, before anything begins.
#include <epsflow/pipeline/options.hpp>

#include <cstdint>
#include <limits>
#include <string>
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
