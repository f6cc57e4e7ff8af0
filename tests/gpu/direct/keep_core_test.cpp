// Compares Keep::core on a GPU (by cells, points, tiles and tables) with runs that count border points.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/pipeline/engine.hpp>

namespace epsflow::gpu {
namespace {

using test::check_core;
using test::DataSet;
using test::Random;

Sweep sweep_of(const DataSet& data) {
  return grid({test::eps_of_share(data, 0.002), test::eps_of_share(data, 0.01), test::eps_of_share(data, 0.05)},
              {40, 12, 5, 2, 1});
}

TEST_CASE("gpu, keep core: cells, points, tiles and tables have the clusters that they have with border points") {
  if (!test::have_gpu()) return;
  const Engine gpu({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0});
  const Engine cpu({.threads = 2, .backend = BackendChoice::cpu});
  for (const char* kind : {"uniform", "clustered", "quantised", "duplicates"}) {
    for (const std::size_t dims : {1U, 2U, 3U, 5U, 9U}) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        const DataSet data = test::make_data(kind, 3000, dims, precision, 11 * dims);
        INFO(test::describe(data));
        const Dataset on_gpu = gpu.load(data.view());
        const Dataset on_cpu = cpu.load(data.view());
        const Sweep sweep = sweep_of(data);
        CHECK(check_core(on_gpu, on_gpu, sweep, {.strategy = StrategyChoice::direct}) > 0);
        check_core(on_gpu, on_cpu, sweep, {.strategy = StrategyChoice::direct});
        check_core(on_gpu, on_gpu, sweep, {.strategy = StrategyChoice::table});
        if (dims < 5) continue;
        for (const DecideChoice decide : {DecideChoice::tensor64, DecideChoice::tensor16}) {
          check_core(on_gpu, on_gpu, sweep, {.strategy = StrategyChoice::direct, .search = {.decide = decide}});
        }
      }
    }
  }
}

TEST_CASE("gpu, keep core: each minpts alone, no points and one") {
  if (!test::have_gpu()) return;
  const Engine gpu({.backend = BackendChoice::gpu, .gpu = 0});
  for (const std::size_t dims : {2U, 5U, 20U}) {
    const DataSet data = test::make_data("clustered", 2000, dims, Precision::float64, dims);
    INFO(test::describe(data));
    const Dataset loaded = gpu.load(data.view());
    for (const std::uint32_t minpts : {1U, 4U, 30U, 2001U}) {
      check_core(loaded, loaded, grid({test::eps_of_share(data, 0.01)}, {minpts}));
    }
    for (const std::size_t n : {0U, 1U}) {
      const std::vector<double> few(n * dims, 0.5);
      const Dataset some = gpu.load({std::span<const double>(few), dims});
      CHECK(check_core(some, some, grid({1}, {2, 1})) == n);
    }
  }
}

TEST_CASE("gpu, keep core: a crowd at the edge of a box, and weights") {
  if (!test::have_gpu()) return;
  const Engine gpu({.backend = BackendChoice::gpu, .gpu = 0});
  const Engine cpu({.backend = BackendChoice::cpu});
  for (const std::size_t dims : {1U, 2U, 3U, 4U}) {
    DataSet data;
    data.dims = dims;
    Random random(dims);
    // A third of the points lies near the corner of the box, so that clusters have core points among their images.
    for (std::size_t i = 0; i < 5000; ++i) {
      const bool corner = i % 3 == 0;
      for (std::size_t k = 0; k < dims; ++k) {
        data.doubles.push_back(corner ? std::fmod(1 + 0.02 * random.bell(), 1.0) : random.uniform(0, 1));
      }
    }
    Metric box;
    box.box.assign(dims, {0, 1});
    std::vector<double> weights;
    for (std::size_t i = 0; i < data.size(); ++i) weights.push_back(random.chance(0.2) ? 0 : random.uniform(0.1, 2));
    INFO(dims << " dimensions");
    const double eps = dims == 1 ? 0.0005 : dims == 2 ? 0.01 : dims == 3 ? 0.04 : 0.08;
    const Sweep sweep = grid({eps, 2 * eps}, {30, 9, 4, 2});
    const Dataset on_gpu = gpu.load(data.view(), box);
    const Dataset on_cpu = cpu.load(data.view(), box);
    CHECK(check_core(on_gpu, on_cpu, sweep) > 10);
    check_core(on_gpu.weighted(weights), on_cpu.weighted(weights), sweep);
    check_core(gpu.load(data.view()).weighted(weights), cpu.load(data.view()).weighted(weights), sweep);
  }
}

}  // namespace
}  // namespace epsflow::gpu
