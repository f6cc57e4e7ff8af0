// Labels and tables that public functions make from tiles must equal the CPU's, for every index and decision.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"
#include "support/settings.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;

struct Way {
  const char* name;
  IndexChoice index;
  DecideChoice decide;
};
constexpr std::array kWays{Way{"automatic", IndexChoice::automatic, DecideChoice::automatic},
                           Way{"grid, scalar", IndexChoice::grid, DecideChoice::scalar},
                           Way{"grid, tensor64", IndexChoice::grid, DecideChoice::tensor64},
                           Way{"grid, tensor16", IndexChoice::grid, DecideChoice::tensor16},
                           Way{"tree, scalar", IndexChoice::tree, DecideChoice::scalar},
                           Way{"tree, tensor64", IndexChoice::tree, DecideChoice::tensor64},
                           Way{"tree, tensor16", IndexChoice::tree, DecideChoice::tensor16},
                           Way{"all, scalar", IndexChoice::all, DecideChoice::scalar},
                           Way{"all, tensor64", IndexChoice::all, DecideChoice::tensor64},
                           Way{"all, tensor16", IndexChoice::all, DecideChoice::tensor16}};

RunOptions options_of(const Way& way) { return {.search = {.index = way.index, .decide = way.decide}}; }

test::Settings cpu_options() {
  test::Settings options;
  options.engine.backend = BackendChoice::cpu;
  options.run.core_mask = true;
  return options;
}

/// Returns several eps, from few neighbours to many, each with nested minpts.
Sweep sweep_of(const DataSet& data) {
  const auto n = static_cast<std::uint32_t>(data.size());
  return grid({test::eps_of_share(data, 0.005), test::eps_of_share(data, 0.05), test::eps_of_share(data, 0.5)},
              {1, 2, 5, 30, n});
}

void check_same(const std::vector<VariantResult>& found, const std::vector<VariantResult>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) {
    INFO("eps " << expected[v].variant.eps << ", minpts " << expected[v].variant.minpts);
    REQUIRE(found[v].variant == expected[v].variant);
    REQUIRE(found[v].summary == expected[v].summary);
    REQUIRE((found[v].labels == expected[v].labels));
    REQUIRE((found[v].core == expected[v].core));
  }
}

template <class T>
std::vector<T> on_host(const DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  check(cudaMemcpy(values.data(), array.data(), array.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

TEST_CASE("tile clustering: the labels of the CPU from every index by every decider, directly and from a table") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  for (const std::size_t dims : {2U, 7U, 20U, 65U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const char* const kind = precision == Precision::float32 ? "clustered" : "quantised";
      const DataSet data = test::make_data(kind, 1100, dims, precision, dims);
      INFO(test::describe(data));
      const Sweep sweep = sweep_of(data);
      const std::vector<VariantResult> expected = run(data.view(), sweep, cpu_options());
      const Dataset loaded = engine.load(data.view());
      for (const Way& way : kWays) {
        for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
          INFO(way.name << ", strategy " << static_cast<int>(strategy));
          RunOptions options = options_of(way);
          options.strategy = strategy;
          options.core_mask = true;
          check_same(run(loaded, sweep, options), expected);
        }
      }
    }
  }
}

TEST_CASE("tile clustering: data of every kind") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  for (const std::string& kind : test::data_kinds()) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = test::make_data(kind, 400, 9, precision, 5);
      INFO(test::describe(data));
      const Sweep sweep =
          grid({test::searchable(data.scale), test::searchable(test::eps_of_share(data, 0.1))}, {1, 2, 6, 400});
      const std::vector<VariantResult> expected = run(data.view(), sweep, cpu_options());
      const Dataset loaded = engine.load(data.view());
      for (const Way& way : kWays) {
        INFO(way.name);
        RunOptions options = options_of(way);
        options.core_mask = true;
        check_same(run(loaded, sweep, options), expected);
      }
    }
  }
}

TEST_CASE("tile clustering: each minpts alone, and nested, are the same") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  const DataSet data = test::make_data("clustered", 900, 20, Precision::float32, 4);
  const double eps = test::eps_of_share(data, 0.03);
  const std::vector<std::uint32_t> minpts{1, 2, 3, 4, 8, 20, 60, 900, 901};
  const std::vector<VariantResult> expected = run(data.view(), grid({eps}, minpts), cpu_options());
  const Dataset loaded = engine.load(data.view());
  for (const Way& way : kWays) {
    INFO(way.name);
    RunOptions options = options_of(way);
    options.core_mask = true;
    check_same(run(loaded, grid({eps}, minpts), options), expected);
    options.method = VariantMethod::each;
    check_same(run(loaded, grid({eps}, minpts), options), expected);
    options.method = VariantMethod::nested;
    for (std::size_t v = 0; v < minpts.size(); ++v) {
      check_same(run(loaded, grid({eps}, {minpts[v]}), options), {expected[v]});
    }
  }
}

TEST_CASE("tile clustering: labels that stay on the device") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  for (const std::size_t dims : {2U, 20U}) {
    const DataSet data = test::make_data("clustered", 700, dims, Precision::float64, 2);
    const Sweep sweep = sweep_of(data);
    const std::vector<VariantResult> expected = run(data.view(), sweep, cpu_options());
    const Dataset loaded = engine.load(data.view());
    for (const Way& way : kWays) {
      INFO(way.name << ", d " << dims);
      RunOptions options = options_of(way);
      options.core_mask = true;
      options.labels = MemorySpace::device;
      const std::vector<VariantResult> found = run(loaded, sweep, options);
      REQUIRE(found.size() == expected.size());
      for (std::size_t v = 0; v < found.size(); ++v) {
        INFO("eps " << expected[v].variant.eps << ", minpts " << expected[v].variant.minpts);
        REQUIRE(found[v].labels.empty());
        REQUIRE(found[v].summary == expected[v].summary);
        REQUIRE((on_host(found[v].device_labels) == expected[v].labels));
        REQUIRE((on_host(found[v].device_core) == expected[v].core));
      }
    }
  }
}

void check_neighbors(const Dataset& loaded, const RunOptions& options, double eps, const Neighbors& expected) {
  const Neighbors found = neighbors(loaded, eps, Distances::include, {}, options.search);
  REQUIRE(std::ranges::equal(found.offsets.span(), expected.offsets.span()));
  REQUIRE(std::ranges::equal(found.ids.span(), expected.ids.span()));
  REQUIRE(std::ranges::equal(found.distances.span(), expected.distances.span()));
}

TEST_CASE("tile clustering: the neighbours of the CPU, ids and distances") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  for (const std::size_t dims : {2U, 7U, 20U, 65U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = test::make_data(dims == 7 ? "quantised" : "clustered", 1500, dims, precision, dims);
      const Dataset loaded = engine.load(data.view());
      for (const double share : {0.001, 0.02, 0.6}) {
        const double eps = test::eps_of_share(data, share);
        INFO(test::describe(data) << ", eps " << eps);
        const Neighbors expected = neighbors(data.view(), eps, Distances::include, {.backend = BackendChoice::cpu});
        for (const Way& way : kWays) {
          INFO(way.name);
          RunOptions options = options_of(way);
          check_neighbors(loaded, options, eps, expected);
          // Batches hold few pairs, on one lane and on several. A row with more pairs is a batch of its own.
          for (const unsigned lanes : {1U, 3U}) {
            options.search.lanes = lanes;
            options.search.lane_pairs = 20'000;
            check_neighbors(loaded, options, eps, expected);
          }
        }
      }
    }
  }
}

TEST_CASE("tile clustering: where GPU memory is short each pass over the pairs is a search, with the same labels") {
  if (!test::have_gpu()) return;
  // There are five million pairs, each counted once. The list of a search has room for at most 2.8 million.
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0, .gpu_memory = 64_MiB});
  const DataSet data = test::make_data("uniform", 4200, 9, Precision::float32, 2);
  const Dataset loaded = engine.load(data.view());
  const double eps = test::eps_of_share(data, 0.6);
  const Sweep sweep = grid({eps}, {1, 1500, 2100, 2600, 4200});
  const std::vector<VariantResult> expected = run(data.view(), sweep, cpu_options());
  const Neighbors neighbors_expected = neighbors(data.view(), eps, Distances::include, {.backend = BackendChoice::cpu});
  REQUIRE((neighbors_expected.pairs() - 4200) / 2 > 4'000'000);
  for (const Way& way : {kWays[0], kWays[3], kWays[4], kWays[8]}) {
    for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
      INFO(way.name << ", strategy " << static_cast<int>(strategy));
      RunOptions options = options_of(way);
      options.strategy = strategy;
      options.core_mask = true;
      check_same(run(loaded, sweep, options), expected);
    }
    INFO(way.name << ", neighbours");
    check_neighbors(loaded, options_of(way), eps, neighbors_expected);
  }
}

TEST_CASE("tile clustering: no memory for a list is said, and the next run has it again") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0, .gpu_memory = 8_MiB});
  const DataSet data = test::make_data("uniform", 1000, 9, Precision::float32, 2);
  const Dataset loaded = engine.load(data.view());
  const Sweep sweep = grid({data.scale}, {4});
  for (int times = 0; times < 2; ++times) {
    std::string refusal;
    try {
      (void)run(loaded, sweep, {.search = {.index = IndexChoice::tree}});
    } catch (const ResourceError& error) {
      refusal = error.what();
    }
    test::check_mentions(refusal, {"EngineOptions::gpu_memory"});
    const auto found = run(loaded, sweep, {.search = {.index = IndexChoice::grid, .decide = DecideChoice::scalar}});
    CHECK(found.front().labels == run(data.view(), sweep, cpu_options()).front().labels);
  }
}

TEST_CASE("tile clustering: a plan names index and decider, and that pairs stay") {
  if (!test::have_gpu()) return;
  const Engine engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  for (const std::size_t dims : {2U, 20U}) {
    const DataSet data = test::make_data("clustered", 700, dims, Precision::float64, 2);
    const Dataset loaded = engine.load(data.view());
    const Sweep sweep = grid({test::eps_of_share(data, 0.05)}, {2, 3, 4, 5, 6, 7});
    for (const Way& way : kWays) {
      INFO(way.name << ", d " << dims);
      const GroupPlan group = plan(loaded, sweep, {}, options_of(way)).front();
      const bool open = way.index == IndexChoice::automatic;
      CHECK(group.index == (!open ? way.index : dims <= 6 ? IndexChoice::grid : IndexChoice::all));  // few points
      CHECK(group.decide == (!open ? way.decide : dims <= 6 ? DecideChoice::scalar : DecideChoice::tensor16));
      if (group.index == IndexChoice::grid && group.decide == DecideChoice::scalar) continue;
      CHECK(group.strategy == Strategy::direct);
      CHECK(group.reason == "pairs are found once and kept");
      CHECK(group.candidates > 0);
      CHECK(group.cells == 0);
    }
  }
}

TEST_CASE("tile clustering: labellings hold against the definition") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 800, 20, Precision::float64, 6);
  for (const Way& way : kWays) {
    INFO(way.name);
    RunOptions options = options_of(way);
    options.verify = true;
    CHECK(run(data.view(), grid({test::eps_of_share(data, 0.05)}, {4, 12}), {.backend = BackendChoice::gpu}, options)
              .size() == 2);
  }
}

}  // namespace
}  // namespace epsflow::gpu
