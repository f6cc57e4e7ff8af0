#include <epsflow/index/neighbor_counts.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"
#include "support/random_spaces.hpp"
#include "support/space_oracle.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

/// Returns the exact sums of some pairs, values just below and above them, and others in between.
std::vector<double> some_limits(const Space& space, PointsView points, Random& random) {
  test::SpaceOracle oracle(space, points);
  std::vector<double> limits;
  const std::uint64_t count = 1 + random.below(7);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double sum = oracle.sums(random.below(points.size()))[random.below(points.size())];
    limits.push_back(random.pick<double>({sum, std::nextafter(sum, 0.0), std::nextafter(sum, 1e308), sum / 3, 0}));
    if (!std::isfinite(limits.back())) limits.back() = 1;
  }
  std::sort(limits.begin(), limits.end());
  return limits;
}

void check_counts(const Space& space, PointsView points, const std::vector<double>& limits) {
  const LeafOrder leaves(points, {});
  std::vector<std::uint32_t> positions(points.size());
  std::iota(positions.begin(), positions.end(), 0U);
  std::vector<std::uint32_t> counts(positions.size() * limits.size(), 77);
  count_neighbors(leaves, space, positions, limits, counts.data(), {});
  test::SpaceOracle oracle(space, points);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::vector<std::uint32_t> expected(limits.size(), 0);
    for (const double sum : oracle.sums(leaves.order()[positions[i]])) {
      for (std::size_t j = 0; j < limits.size(); ++j) expected[j] += sum <= limits[j] ? 1 : 0;
    }
    REQUIRE(std::equal(expected.begin(), expected.end(), counts.begin() + i * limits.size()));
  }
}

TEST_CASE("neighbour counts: those of all pairs, on data of every kind") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const DataSet data = test::random_data(seed, 400);
    if (data.size() == 0) continue;
    INFO("seed " << seed << ", " << test::describe(data));
    check_counts({}, data.view(), some_limits({}, data.view(), random));
  }
}

TEST_CASE("neighbour counts: several levels of boxes, and many dimensions") {
  for (const std::string kind : {"uniform", "clustered", "quantised", "outlier 1e300"}) {
    for (const std::size_t dims : {1, 2, 9, 40}) {
      const DataSet data = test::make_data(kind, 1500, dims, Precision::float32, dims);
      Random random(dims);
      INFO(test::describe(data));
      check_counts({}, data.view(), some_limits({}, data.view(), random));
    }
  }
}

TEST_CASE("neighbour counts: other norms and periodic boxes") {
  test::in_random_spaces([](const Space& space, PointsView points, Random& random) {
    check_counts(space, points, some_limits(space, points, random));
  });
}

TEST_CASE("neighbour counts: nothing to count, and a cancelled search") {
  const DataSet data = test::make_data("uniform", 1000, 2, Precision::float64, 1);
  const LeafOrder leaves(data.view(), {});
  const std::vector<std::uint32_t> positions{5};
  const std::vector<double> limits{0.1};
  count_neighbors(leaves, {}, {}, limits, nullptr, {});
  count_neighbors(leaves, {}, positions, {}, nullptr, {});
  CancelToken cancel;
  cancel.cancel();
  std::uint32_t count = 0;
  REQUIRE_THROWS_AS(count_neighbors(leaves, {}, positions, limits, &count, cancel), Cancelled);
}

}  // namespace
}  // namespace epsflow::index
