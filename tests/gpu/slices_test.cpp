#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/slices_check.hpp"

#include <epsflow/pipeline/neighbors.hpp>

namespace epsflow::gpu {
namespace {

const std::vector<RunOptions>& ways() {
  static const std::vector<RunOptions> all{
      {.core_mask = true},
      {.verify = true},
      {.strategy = StrategyChoice::table, .core_mask = true},
      {.strategy = StrategyChoice::table, .search = {.format = FormatChoice::csr}},
      {.strategy = StrategyChoice::table, .search = {.kernel = Kernel::global}},
      {.strategy = StrategyChoice::table, .search = {.kernel = Kernel::shared}},
      {.strategy = StrategyChoice::direct, .core_mask = true},
      {.keep = Keep::summary},
  };
  return all;
}

TEST_CASE("gpu, slices: labels and counts are those of a run of each alone") {
  if (!test::have_gpu()) return;
  test::check_random_slices(Engine({.backend = BackendChoice::gpu}), ways(), 300);
}

TEST_CASE("gpu, slices: by every metric") {
  if (!test::have_gpu()) return;
  for (const RunOptions& options : ways())
    test::check_slices_by_metrics(Engine({.backend = BackendChoice::gpu}), options);
}

TEST_CASE("gpu, slices: dense ones, whose labels are looked up by id") {
  if (!test::have_gpu()) return;
  test::Random random(11);
  for (const std::size_t dims : {1UL, 2UL, 3UL}) {
    std::vector<double> x;
    std::vector<std::uint64_t> offsets{0};
    for (int s = 0; s < 6; ++s) {
      // Each slice has blobs at different positions, with most points in few cells.
      for (int i = 0; i < 3000; ++i) {
        for (std::size_t k = 0; k < dims; ++k) x.push_back(s + 4 * (i % 3) + 0.05 * random.bell());
      }
      offsets.push_back(x.size() / dims);
    }
    test::check_slices(Engine({.backend = BackendChoice::gpu}), {std::span<const double>(x), dims}, offsets, {},
                       grid({0.2, 0.5}, {4, 40}), {.core_mask = true});
  }
}

TEST_CASE("gpu, slices: thousands in three dimensions are what the CPU says") {
  if (!test::have_gpu()) return;
  test::Random random(9);
  std::vector<double> x;
  std::vector<std::uint64_t> offsets{0};
  for (int s = 0; s < 5000; ++s) {
    for (std::uint64_t i = random.below(60); i > 0; --i) {
      for (int k = 0; k < 3; ++k) x.push_back(random.uniform(0, 1));
    }
    offsets.push_back(x.size() / 3);
  }
  const PointsView points(std::span<const double>(x), 3);
  const Sweep sweep = grid({0.1, 0.2}, {2, 4});
  const auto of = [&](BackendChoice backend) {
    return run(Engine({.backend = backend}).load(points, offsets), sweep, {.core_mask = true});
  };
  const std::vector<VariantResult> there = of(BackendChoice::gpu);
  const std::vector<VariantResult> here = of(BackendChoice::cpu);
  for (std::size_t v = 0; v < sweep.size(); ++v) {
    REQUIRE(there[v].labels == here[v].labels);
    REQUIRE(there[v].slices == here[v].slices);
    REQUIRE(there[v].core == here[v].core);
  }
}

}  // namespace
}  // namespace epsflow::gpu
