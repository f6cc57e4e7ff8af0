#include <epsflow/pipeline/k_distance.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"
#include "support/random_spaces.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double kth(std::vector<double> values, std::uint32_t k) {
  std::nth_element(values.begin(), values.begin() + k - 1, values.end());
  return values[k - 1];
}

/// Returns the k-distance of one point. Differences are scaled to about 1, so their powers stay within float64.
double robust_oracle(PointsView points, std::size_t i, std::uint32_t k, double power) {
  std::vector<double> others;
  for (std::size_t j = 0; j < points.size(); ++j) {
    if (j == i) continue;
    double largest = 0, sum = 0;  // largest is a half if float64 cannot hold the differences
    const auto half = [&](std::size_t axis) { return std::abs(points.at(i, axis) / 2 - points.at(j, axis) / 2); };
    const auto whole = [&](std::size_t axis) { return std::abs(points.at(i, axis) - points.at(j, axis)); };
    for (std::size_t axis = 0; axis < points.dims(); ++axis) largest = std::max(largest, whole(axis));
    const bool beyond = largest == kInfinity;
    if (beyond) largest = 0;
    for (std::size_t axis = 0; beyond && axis < points.dims(); ++axis) largest = std::max(largest, half(axis));
    for (std::size_t axis = 0; largest > 0 && axis < points.dims(); ++axis) {
      sum += std::pow((beyond ? half(axis) : whole(axis)) / largest, power);
    }
    others.push_back((beyond ? 2 : 1) * (largest * std::pow(sum, 1 / power)));
  }
  return kth(others, k);
}

TEST_CASE("k-distances: the oracle's, whatever the data") {
  std::size_t held = 0, others = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const DataSet data = random_data(seed, 200);
    if (data.size() < 5) continue;
    INFO("seed " << seed << ", " << describe(data));
    std::vector<double> expected;
    std::vector<bool> is_held;
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::vector<double> sums;
      for (std::size_t j = 0; j < data.size(); ++j) {
        if (j != i) sums.push_back(data.squared_distance(i, j));
      }
      const double sum = kth(sums, 4);
      is_held.push_back(sum >= 0x1p-1000 && sum < kInfinity);
      expected.push_back(is_held.back() ? std::sqrt(sum) : robust_oracle(data.view(), i, 4, 2));
    }
    if (std::ranges::find(expected, kInfinity) != expected.end()) {
      ++refused;
      check_error<InputError>({"row ", "divide"}, [&] { (void)k_distances(data.view(), 4); });
      continue;
    }
    const std::vector<double> found = k_distances(data.view(), 4);
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (is_held[i]) {
        ++held;
        REQUIRE(found[i] == expected[i]);
      } else {
        others += expected[i] > 0 ? 1 : 0;
        REQUIRE(std::abs(found[i] - expected[i]) <= std::max(1e-15 * expected[i], 1e-323));
      }
    }
  }
  CAPTURE(held, others, refused);
  REQUIRE((held > 1000 && others > 500 && refused > 0));
}

/// A square and its centre: the second nearest point is at 1, or at √½ from the centre.
const std::vector<double> kSquare{0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.5};

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

std::vector<double> of_plane(const std::vector<double>& x, std::uint32_t k, const Metric& metric = {}) {
  return k_distances({PointsView(x, 2), metric}, k);
}

TEST_CASE("k-distances: right where squares leave float64") {
  for (const double factor : {1e-162, 1e-160, 1e-155, 1e-300, 1e-307, 1.0, 1e154, 1e160, 1e307}) {
    INFO("times " << factor);
    const std::vector<double> found = of_plane(times(kSquare, factor), 2);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(found[i] == Approx((i < 4 ? 1 : std::sqrt(0.5)) * factor).epsilon(1e-14).margin(0));
    }
  }
  // A large coordinate that all points share does not change small distances.
  std::vector<double> apart;
  for (const double x : {1e-200, 3e-200, 4e-200}) apart.insert(apart.end(), {1e300, x});
  CHECK(of_plane(apart, 1)[0] == Approx(2e-200).margin(0));
  // Equal points have the distance 0, also among others that are not equal.
  CHECK(of_plane({1e-170, 0, 1e-170, 0, 3e-170, 0, 4e-170, 0, 1e-170, 5e-324}, 1) ==
        std::vector<double>{0, 0, 4e-170 - 3e-170, 4e-170 - 3e-170, 5e-324});
  // The distances of a far point and of the others are right.
  const std::vector<double> far = of_plane({0, 0, 1, 0, 0, 1, 1, 1, 1e200, 0}, 1);
  CHECK(far == std::vector<double>{1, 1, 1, 1, 1e200});
}

TEST_CASE("k-distances: a power of two changes nothing else, by any norm and in any box") {
  std::size_t boxes = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const std::size_t dims = 1 + random.below(3);
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates"});
    const DataSet data = make_data(kind, 8 + random.below(150), dims, Precision::float64, seed);
    Metric metric = random_norm(random);
    if (random.chance(0.5)) metric.box.assign(dims, BoxSide{-16, 16});
    boxes += metric.box.size();
    const int exponent = random.pick<int>({-1000, -900, -600, -520, 490, 600, 1000});
    INFO("seed " << seed << ", " << describe(data) << ", " << describe(metric) << ", exponent " << exponent);
    const std::vector<double> plain = k_distances({data.view(), metric}, 5);
    std::vector<double> x = data.doubles;
    for (double& value : x) value = std::ldexp(value, exponent);
    for (BoxSide& side : metric.box) side = {std::ldexp(side.lo, exponent), std::ldexp(side.hi, exponent)};
    const std::vector<double> found = k_distances({PointsView(x, dims), metric}, 5);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      // std::pow computes the root: 1 / p has an error, which the logarithm of a large sum multiplies.
      const double error = metric.kind == MetricKind::minkowski ? 1e-13 : 0;
      // Coordinates lose digits at the end of the range.
      const double last = exponent == -1000 ? 1e-320 : 0;
      REQUIRE(std::abs(found[i] - std::ldexp(plain[i], exponent)) <= error * found[i] + last);
    }
  }
  REQUIRE(boxes > 20);
}

TEST_CASE("k-distances: right where large powers of minkowski leave float64") {
  for (const double power : {20.0, 50.0, 200.0, 1000.0}) {
    const Metric metric{.kind = MetricKind::minkowski, .power = power};
    const DataSet data = make_data("clustered", 300, 2, Precision::float64, 5);
    for (const double factor : {1e-3, 0.02, 1.0, 50.0, 1e5}) {
      INFO("power " << power << ", times " << factor);
      const std::vector<double> x = times(data.doubles, factor);
      const std::vector<double> found = of_plane(x, 3, metric);
      for (std::size_t i = 0; i < found.size(); ++i) {
        REQUIRE(found[i] > 0);
        REQUIRE(found[i] == Approx(robust_oracle(PointsView(x, 2), i, 3, power)).epsilon(1e-12).margin(0));
      }
    }
  }
}

TEST_CASE("k-distances: sizes that float64 does not hold together are named") {
  check_error<InputError>({"row 0", "1e-200", "1e+200", "power 2", "leave out"}, [&] {
    (void)of_plane({1e-200, 0, 2e-200, 0, 0, 1e200}, 1);
  });
  check_error<InputError>({"row 0", "0.1", "power 5000", "nearer to 2"}, [&] {
    (void)of_plane({0, 0, 0.1, 0, 9, 9}, 1, {.kind = MetricKind::minkowski, .power = 5000});
  });
}

TEST_CASE("k-distances: on a sphere, of positions that are closer than squares tell") {
  const std::vector<double> found = of_plane({0, 0, 1e-170, 0, 0, 3e-170, 40, 1}, 1, {.kind = MetricKind::greatcircle});
  CHECK(found[0] == Approx(1e-170).margin(0));
  CHECK(found[1] == Approx(1e-170).margin(0));
  CHECK(found[2] == Approx(3e-170).margin(0));
  CHECK(found[3] == Approx(40.0114).epsilon(1e-4));
}

TEST_CASE("k-distances: several k from one search are those of each") {
  const DataSet data = make_data("clustered", 300, 3, Precision::float32, 1);
  const Dataset loaded = Engine().load(data.view());
  const std::vector<std::uint32_t> ks{7, 1, 40, 7};
  const std::vector<double> found = k_distances(loaded, ks);
  REQUIRE(found.size() == data.size() * ks.size());
  for (std::size_t j = 0; j < ks.size(); ++j) {
    const std::vector<double> one = k_distances(loaded, ks[j]);
    for (std::size_t i = 0; i < data.size(); ++i) REQUIRE(found[i * ks.size() + j] == one[i]);
  }
  REQUIRE(k_distances(loaded, std::span<const std::uint32_t>()).empty());
}

TEST_CASE("k-distances: as many points are core for an eps as have their distance within it") {
  const DataSet data = make_data("clustered", 2000, 2, Precision::float64, 3);
  const Dataset loaded = Engine().load(data.view());
  constexpr std::uint32_t kMinpts = 5;
  const std::vector<double> distances = k_distances(loaded, kMinpts - 1);
  for (const double eps : {0.01, 0.05, 0.2, 1.0}) {
    const auto within = std::count_if(distances.begin(), distances.end(), [&](double d) { return d <= eps; });
    REQUIRE(run(loaded, Sweep({{eps, kMinpts}}))[0].summary.core == static_cast<std::uint64_t>(within));
  }
}

TEST_CASE("k-distances: distances are in the unit of the metric") {
  // The points lie at 0°, 1° and 3° on the equator.
  const std::vector<double> nearest = of_plane({0, 0, 1, 0, 3, 0}, 1, {.kind = MetricKind::greatcircle});
  REQUIRE(nearest[0] == Approx(1).epsilon(1e-12));
  REQUIRE(nearest[2] == Approx(2).epsilon(1e-12));
  const std::vector<double> found = of_plane({1, 0, 0, 2, -3, 0}, 2, {.kind = MetricKind::cosine});
  REQUIRE(found[0] == Approx(2));
  REQUIRE(found[1] == Approx(1));
  REQUIRE(of_plane({0.5, 0, 9.75, 0, 5, 0}, 1, {.box = {{0, 10}, {0, 0}}})[0] == 0.75);
}

TEST_CASE("k-distances: a k that has no answer is an error that says which have one") {
  const DataSet data = make_data("uniform", 10, 2, Precision::float64, 1);
  for (const std::uint32_t k : {0U, 10U, 4000000000U}) {
    check_error<UsageError>({"k is " + std::to_string(k), "10 points", "1 to 9"},
                            [&] { (void)k_distances(data.view(), k); });
  }
  const DataSet one = make_data("uniform", 1, 2, Precision::float64, 1);
  check_error<UsageError>({"1 point", "no other"}, [&] { (void)k_distances(one.view(), 1); });
  REQUIRE(k_distances(PointsView(std::span<const double>(), 2), 4).empty());
  REQUIRE(k_distances(data.view(), 9).size() == 10);
}

TEST_CASE("k-distances: memory is the engine's, and a search can be cancelled") {
  const DataSet data = make_data("uniform", 20'000, 2, Precision::float64, 1);
  const Dataset tight = Engine({.memory = 1 << 20}).load(data.view());
  check_error<ResourceError>({"the k-distances"}, [&] { (void)k_distances(tight, 4); });
  REQUIRE_THROWS_AS(k_distances(Engine().load(data.view()), 4, {}, cancelled()), Cancelled);
}

TEST_CASE("knee: where clusters end and noise begins, with duplicates and an outlier") {
  // There are 900 points of clusters at 1 to 1.5, and 100 points of noise at 20 to 40.
  std::vector<double> distances;
  for (int i = 0; i < 900; ++i) distances.push_back(1 + i / 1800.0);
  for (int i = 0; i < 100; ++i) distances.push_back(20 + i / 5.0);
  const Knee found = knee(distances);
  REQUIRE(found.distance == Approx(1.5).epsilon(1e-3));
  REQUIRE(found.share == Approx(0.9));
  distances.push_back(1e6);
  distances.insert(distances.end(), 50, 0.0);
  distances.push_back(kInfinity);
  REQUIRE(knee(distances).distance == found.distance);
  for (const double factor : {1e-300, 1e300}) {
    REQUIRE(knee(times(distances, factor)).distance == Approx(found.distance * factor).epsilon(1e-12).margin(0));
  }
}

TEST_CASE("knee: none where no curve is") {
  for (const std::vector<double>& distances : {std::vector<double>(), {1, 2}, {0, 0, 0, 0}, {3, 3, 3, 3}}) {
    REQUIRE(std::isnan(knee(distances).distance));
  }
}

TEST_CASE("quantiles of k-distances, and the range of eps") {
  std::vector<double> distances;
  for (int i = 1000; i > 0; --i) distances.push_back(i);
  const std::vector<double> shares{0, 0.001, 0.0011, 0.5, 1};
  REQUIRE(quantiles(distances, shares) == std::vector<double>{1, 1, 2, 500, 1000});
  REQUIRE(eps_range(distances).from == 10);
  REQUIRE(eps_range(distances).to == 990);
  distances.insert(distances.end(), 3000, 0.0);  // these points are core at every eps
  REQUIRE(eps_range(distances).from == 10);
  REQUIRE(eps_range(distances).to == 990);
  REQUIRE(eps_range(std::vector<double>{0, 0}).to == 0);
  REQUIRE(eps_range(std::vector<double>{2}).from == 2);
  REQUIRE_THROWS_AS(quantiles({}, shares), UsageError);
  REQUIRE_THROWS_AS(eps_range({}), UsageError);
}

}  // namespace
}  // namespace epsflow::test
