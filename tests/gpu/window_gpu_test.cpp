#include <epsflow/windows/window.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "support/gpu.hpp"
#include "support/random_points.hpp"

namespace epsflow::test {
namespace {

void check_stream(std::uint64_t seed) {
  INFO("seed " << seed);
  Random random(seed);
  const std::size_t dims = 1 + random.below(4);
  const DataSet data = make_data(random.pick(data_kinds()), 2000, dims, Precision::float64, seed);
  const Sweep sweep = grid({searchable(make_eps(data, random))}, {1 + static_cast<std::uint32_t>(random.below(9)), 12});
  const bool weighted = random.chance(0.2);
  Window on_cpu(dims, sweep, {.weighted = weighted, .max_points = 1500, .engine = {.backend = BackendChoice::cpu}});
  Window on_gpu(dims, sweep, {.weighted = weighted, .max_points = 1500, .engine = {.backend = BackendChoice::gpu}});
  for (int s = 0; s < 12; ++s) {
    std::vector<double> points, weights;
    const std::size_t arrive = s == 0 ? 1000 : random.below(s % 4 == 0 ? 600 : 20);
    for (std::size_t i = 0; i < arrive; ++i) {
      const auto from = data.doubles.begin() + static_cast<std::ptrdiff_t>(random.below(data.size()) * dims);
      points.insert(points.end(), from, from + static_cast<std::ptrdiff_t>(dims));
      if (weighted) weights.push_back(random.uniform(0, 3));
    }
    const std::vector<std::uint64_t> ids = on_cpu.ids();
    std::vector<std::uint64_t> leaving;
    for (const std::uint64_t id : ids) {
      if (random.chance(0.01)) leaving.push_back(id);
    }
    const PointsView view = arrive == 0 ? PointsView() : PointsView(std::span<const double>(points), dims);
    const WindowStep step{.arriving = view, .weights = weights, .leaving = leaving};
    (void)on_cpu.step(step);
    REQUIRE(on_gpu.step(step).from_scratch);
    for (std::size_t v = 0; v < sweep.size(); ++v) {
      REQUIRE(on_cpu.results()[v].labels == on_gpu.results()[v].labels);
      REQUIRE(on_cpu.results()[v].core == on_gpu.results()[v].core);
      REQUIRE(on_cpu.results()[v].clusters == on_gpu.results()[v].clusters);
    }
  }
}

}  // namespace

TEST_CASE("windows on a GPU have the labels and ids of windows on the CPU") {
  if (!have_gpu()) return;
  for (std::uint64_t seed = 0; seed < sets_of(60); ++seed) check_stream(seed);
}

}  // namespace epsflow::test
