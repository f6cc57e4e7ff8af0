// One data set under many velocities, clustered on a GPU.
#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/velocities_check.hpp"

namespace epsflow::gpu {
namespace {

TEST_CASE("gpu, velocities: clusters and counts are those of a run under each alone") {
  if (!test::have_gpu()) return;
  test::check_random_velocities(Engine({.backend = BackendChoice::gpu}), 150);
}

TEST_CASE("gpu, velocities: float32 points are widened before they move") {
  if (!test::have_gpu()) return;
  const std::vector<float> x{0.1F, 0.7F, 2.3F};
  const std::vector<double> times{0, 3, 7};
  const std::vector<double> velocities{0.1, -0.3};
  const MovingPoints moving{{std::span<const float>(x), 1}, times, velocities};
  const auto counts_on = [&](BackendChoice backend) {
    std::vector<LabelSummary> counts;
    sweep_velocities(Engine({.backend = backend}), moving, grid({0.6}, {2}),
                     [&](const VelocityClusters& found) { counts = found.counts; });
    return counts;
  };
  REQUIRE(counts_on(BackendChoice::gpu).size() == 2);
  REQUIRE(counts_on(BackendChoice::gpu) == counts_on(BackendChoice::cpu));
}

}  // namespace
}  // namespace epsflow::gpu
