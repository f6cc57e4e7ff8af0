#include <epsflow/catalog/friends.hpp>

#include <cmath>
#include <cstddef>

#include "support/catch.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

Metric cube(double side, std::size_t dims) {
  Metric metric;
  metric.box.assign(dims, BoxSide{0, side});
  return metric;
}

TEST_CASE("friends: the mean separation is that of a box of any size, in any number of dimensions") {
  CHECK(mean_separation(cube(10, 3), 3, 1000) == Approx(1));
  for (const double side : {1e-160, 1e-120, 1e-3, 1e30, 1e110, 1e300}) {
    INFO("side " << side);
    CHECK(mean_separation(cube(side, 3), 3, 1000) == Approx(side / 10).margin(0));
    CHECK(mean_separation(cube(side, 400), 400, 1) == Approx(side).margin(0));
  }
  // The volume leaves the range of float64 on the way and comes back.
  Metric flat;
  flat.box = {{0, 1e-160}, {0, 1e-160}, {0, 1e300}};
  CHECK(mean_separation(flat, 3, 1) == Approx(std::pow(10, -20.0 / 3)).margin(0));
  flat.scale = {1e100, 1, 1};
  CHECK(mean_separation(flat, 3, 1) == Approx(std::pow(10, 80.0 / 3)));
  CHECK_THROWS_AS(mean_separation({}, 3, 1), UsageError);
  CHECK_THROWS_AS(mean_separation(cube(1, 3), 3, 0), UsageError);
}

}  // namespace
}  // namespace epsflow
