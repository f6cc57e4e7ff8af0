#include <cstddef>
#include <limits>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/velocities_check.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow::test {
namespace {

TEST_CASE("velocities: clusters and counts are those of a run under each alone") {
  check_random_velocities(Engine({.threads = 2}), 150);
}

TEST_CASE("velocities: in several turns") {
  Random random(5);
  MovingData data = random_moving(random, 30, 4);
  for (int i = 0; i < 4000; ++i) {
    for (std::size_t k = 0; k < data.dims; ++k) data.points.push_back(static_cast<double>(random.below(3000)));
    data.times.push_back(static_cast<double>(random.below(9)));
  }
  for (std::size_t v = 0; v < 30 * data.dims; ++v) data.velocities.push_back(static_cast<double>(random.below(11)));
  std::size_t turns = 0;
  const Engine small({.memory = 8 << 20, .threads = 2});
  sweep_velocities(small, data.view(), grid({2}, {2}), [&](const VelocityClusters&) { ++turns; });
  REQUIRE(turns > 2);
  check_velocities(small, data, grid({2}, {2, 3}), 0);
}

TEST_CASE("velocities: what is wrong is named") {
  using Catch::Contains;
  const Engine engine({.threads = 1});
  const auto sweep = [&](const MovingData& data) {
    sweep_velocities(engine, data.view(), grid({1}, {2}), [](const VelocityClusters&) {});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_WITH(sweep({{1, 2}, {0}, {1}, 1}), Contains("2 points") && Contains("1 time"));
  REQUIRE_THROWS_WITH(sweep({{1, 2}, {0}, {1, 2, 3}, 2}), Contains("3 numbers"));
  REQUIRE_THROWS_WITH(sweep({{1, 2}, {0, nan}, {1}, 1}), Contains("time 1 is NaN"));
  REQUIRE_THROWS_WITH(sweep({{1, 2}, {0}, {1, 2, nan, 3}, 2}), Contains("velocity 1 is NaN"));
  REQUIRE_THROWS_WITH(sweep({{1, 2}, {1e200, 0}, {1e200}, 1}), Contains("beyond float64"));
  REQUIRE_THROWS_WITH(sweep({{1, -1.7e308}, {0, 1}, {1e308}, 1}), Contains("beyond float64"));
  REQUIRE_THROWS_WITH(sweep({{1, nan}, {0, 0}, {1}, 1}), Contains("row 1, column 0"));
  sweep({{}, {}, {1}, 1});
  sweep({{1}, {0}, {}, 1});
}

TEST_CASE("velocities: progress counts all of them, and a run can be ended") {
  const MovingData data{{1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3}, 1};
  Progress last;
  sweep_velocities(Engine({.threads = 1}), data.view(), grid({1}, {2, 3}), [](const VelocityClusters&) {}, 0,
                   {.on_progress = [&](const Progress& progress) { last = progress; }});
  REQUIRE(last.variants == 8);
  REQUIRE(last.variants_done == 8);
  REQUIRE_THROWS_AS(
      sweep_velocities(
          Engine({.threads = 1}), data.view(), grid({1}, {2}), [](const VelocityClusters&) {}, 0, cancelled()),
      Cancelled);
}

}  // namespace
}  // namespace epsflow::test
