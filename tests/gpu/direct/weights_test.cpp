// Compares sums of weights on the GPU with the CPU, for more points than the oracle can handle.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::Random;

std::vector<double> random_weights(std::size_t n, double least, Random& random) {
  std::vector<double> weights(n);
  for (double& w : weights) w = least + 0.01 * static_cast<double>(random.below(200));
  return weights;
}

/// Returns the number of clusters of all variants.
std::uint64_t check_equal(const Dataset& on_gpu, const Dataset& on_cpu, const Sweep& sweep, const RunOptions& options) {
  const std::vector<VariantResult> expected = run(on_cpu, sweep, {.core_mask = true});
  const std::vector<VariantResult> found = run(on_gpu, sweep, options);
  std::uint64_t clusters = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    INFO("eps " << expected[v].variant.eps << ", minpts " << expected[v].variant.minpts);
    REQUIRE(found[v].labels == expected[v].labels);
    REQUIRE(found[v].core == expected[v].core);
    REQUIRE(found[v].summary == expected[v].summary);
    clusters += expected[v].summary.clusters;
  }
  return clusters;
}

TEST_CASE("gpu weights: cells, points and tiles, small neighbourhoods and ones that blocks sum up") {
  if (!test::have_gpu()) return;
  const Engine gpu({.backend = BackendChoice::gpu});
  const Engine cpu({.backend = BackendChoice::cpu});
  std::uint64_t clusters = 0;
  for (const std::size_t dims : {1U, 2U, 3U, 5U, 9U}) {
    for (const std::string kind : {"uniform", "clustered", "duplicates"}) {
      const std::size_t n = dims > 3 ? 6000 : 40'000;
      const DataSet data = test::make_data(kind, n, dims, dims == 2 ? Precision::float32 : Precision::float64, dims);
      const Dataset on_gpu = gpu.load(data.view());
      const Dataset on_cpu = cpu.load(data.view());
      Random random(dims);
      for (const double least : {0.0, -0.5}) {
        const std::vector<double> weights = random_weights(n, least, random);
        // At the larger eps, points have more candidates than one thread tests.
        for (const double share : {0.001, 0.5}) {
          const double eps = test::searchable(test::eps_of_share(data, share));
          INFO(test::describe(data) << ", weights from " << least << ", eps " << eps);
          const Sweep several = grid({eps}, {20'000, 3000, 300, 17, 2});
          for (const Sweep& sweep : {several, grid({eps}, {40})}) {
            clusters += check_equal(on_gpu.weighted(weights), on_cpu.weighted(weights), sweep,
                                    {.strategy = StrategyChoice::direct, .core_mask = true});
          }
        }
      }
    }
  }
  CHECK(clusters > 500);
}

TEST_CASE("gpu weights: in a periodic box") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("uniform", 20'000, 3, Precision::float64, 4);
  double lo = 0;
  double hi = 0;
  for (const double x : data.doubles) {
    lo = std::min(lo, x);
    hi = std::max(hi, x);
  }
  const Metric metric{.box = {{lo, hi + 0.01}, {lo, hi + 0.01}, {lo, hi + 0.01}}};
  Random random(1);
  const std::vector<double> weights = random_weights(data.size(), -0.1, random);
  const Dataset on_gpu = Engine({.backend = BackendChoice::gpu}).load(data.view(), metric).weighted(weights);
  const Dataset on_cpu = Engine({.backend = BackendChoice::cpu}).load(data.view(), metric).weighted(weights);
  const Sweep sweep = grid({test::eps_of_share(data, 0.0005), test::eps_of_share(data, 0.002)}, {30, 12, 9, 4});
  CHECK(check_equal(on_gpu, on_cpu, sweep, {.core_mask = true}) > 10);
  std::uint64_t clusters = 0;
  for (const std::uint32_t minpts : {30U, 12U, 9U, 4U}) {
    const Sweep alone = grid({test::eps_of_share(data, 0.002)}, {minpts});
    clusters += check_equal(on_gpu, on_cpu, alone, {.core_mask = true});
  }
  CHECK(clusters > 0);
}

TEST_CASE("gpu weights: labels that stay there, and points that are there already") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("clustered", 5000, 2, Precision::float64, 6);
  Random random(2);
  const std::vector<double> weights = random_weights(data.size(), 0, random);
  const Engine engine({.backend = BackendChoice::gpu, .gpu = 0});
  const Sweep sweep = grid({data.scale}, {9, 5});
  const std::vector<VariantResult> expected = run(engine.load(data.view()).weighted(weights), sweep);
  void* memory = nullptr;
  check(cudaMalloc(&memory, data.view().bytes()));
  check(cudaMemcpy(memory, data.view().data(), data.view().bytes(), cudaMemcpyHostToDevice));
  {
    const DeviceStream on_device{.device = static_cast<int>(engine.options().gpu.value()), .stream = nullptr};
    const Dataset loaded =
        engine.load(DevicePointsView(static_cast<const double*>(memory), data.size(), 2, on_device)).weighted(weights);
    const std::vector<VariantResult> found = run(loaded, sweep, {.labels = MemorySpace::device});
    for (std::size_t v = 0; v < expected.size(); ++v) {
      Labels labels(data.size());
      check(cudaMemcpy(labels.span().data(), found[v].device_labels.data(), data.size() * sizeof(std::int32_t),
                       cudaMemcpyDeviceToHost));
      CHECK(labels == expected[v].labels);
      CHECK(found[v].summary == expected[v].summary);
    }
    CHECK(expected[0].labels != expected[1].labels);
  }
  check(cudaFree(memory));
}

}  // namespace
}  // namespace epsflow::gpu
