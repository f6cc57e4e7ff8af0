#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/velocities_check.hpp"

namespace epsflow::gpu {
namespace {

TEST_CASE("gpu, velocities: clusters and counts are those of a run under each alone") {
  if (!test::have_gpu()) return;
  test::check_random_velocities(Engine({.backend = BackendChoice::gpu}), 150);
}

TEST_CASE("gpu, velocities: float32 points are widened before they move; points come back where they are checked") {
  if (!test::have_gpu()) return;
  const std::vector<float> x{0.1F, 0.7F, 2.3F};
  const std::vector<double> times{0, 3, 7};
  const std::vector<double> velocities{0.1, -0.3};
  const MovingPoints moving{{std::span<const float>(x), 1}, times, velocities};
  const Dataset data = Engine({.backend = BackendChoice::gpu}).load(moving);
  REQUIRE(data.slices() == 2);
  const auto found = run(data, grid({0.6}, {2}), {.verify = true});
  const auto host = run(Engine({.backend = BackendChoice::cpu}).load(moving), grid({0.6}, {2}));
  REQUIRE(found[0].labels == host[0].labels);
  REQUIRE(found[0].slices == host[0].slices);
}

}  // namespace
}  // namespace epsflow::gpu
