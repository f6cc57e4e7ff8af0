// Compares labels by metrics that transform points with independent formulas for the distances.
#include <epsflow/core/metric.hpp>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/metric_check.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/neighbors.hpp>
#include <epsflow/pipeline/plan.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

constexpr Real kPi = std::numbers::pi_v<Real>;

/// Vincenty's formula is accurate for near and for opposite points.
Real angle_between(Real lambda1, Real phi1, Real lambda2, Real phi2) {
  const Real diff = lambda1 - lambda2;
  const Real a = std::cos(phi2) * std::sin(diff);
  const Real b = std::cos(phi1) * std::sin(phi2) - std::sin(phi1) * std::cos(phi2) * std::cos(diff);
  const Real c = std::sin(phi1) * std::sin(phi2) + std::cos(phi1) * std::cos(phi2) * std::cos(diff);
  return std::atan2(std::sqrt(a * a + b * b), c);
}

/// Returns the angle between two positions in a list of longitudes and latitudes in degrees.
Real angle_of(const std::vector<double>& degrees, std::size_t i, std::size_t j) {
  const auto radians = [&](std::size_t at) { return degrees[at] * (kPi / 180); };
  return angle_between(radians(2 * i), radians(2 * i + 1), radians(2 * j), radians(2 * j + 1));
}

Real cosine_distance(const double* p, const double* q, std::size_t dims) {
  Real pq = 0, pp = 0, qq = 0;
  for (std::size_t k = 0; k < dims; ++k) {
    pq += static_cast<Real>(p[k]) * q[k];
    pp += static_cast<Real>(p[k]) * p[k];
    qq += static_cast<Real>(q[k]) * q[k];
  }
  return 1 - pq / std::sqrt(pp * qq);
}

/// Checks all ways; distances may have an error, as they are computed back from transformed points.
void check_all_ways(PointsView points, const Metric& metric, double eps, const OracleTable& expected,
                    const PairDistance& distance) {
  check_all_ways(points, metric, eps, expected, distance, 1e-7L * (1 + eps));
}

/// Returns longitudes and latitudes in degrees, many of them near the date line and both poles, and some at the poles.
std::vector<double> sky(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    double longitude = random.uniform(-180, 180);
    double latitude = std::asin(random.uniform(-1, 1)) * 180 / std::numbers::pi;
    if (i % 6 == 0) longitude = (i % 12 < 6 ? 180 : -180) + random.uniform(-3, 3) * (i % 12 < 6 ? -1 : 1);
    if (i % 6 == 1) latitude = 90 - random.unit() * 4;
    if (i % 6 == 2) latitude = -90 + random.unit() * 4;
    if (i % 6 == 3) {
      longitude = random.uniform(-2, 2) + (i % 4 < 2 ? 360 : 0);
      latitude = random.uniform(-2, 2);
    }
    if (i % 97 == 1) latitude = 90;
    if (i % 89 == 2) latitude = -90;
    values.push_back(longitude);
    values.push_back(latitude);
  }
  return values;
}

TEST_CASE("metric: great circles, across the date line and around the poles, for any eps") {
  for (std::uint64_t seed = 1; seed <= sets_of(4); ++seed) {
    const std::vector<double> values = sky(240, seed);
    for (const double eps : {0.31, 1.7, 9.3, 45.0001, 120.5, 175.3, 180.0, 500.0}) {
      INFO("seed " << seed << ", eps " << eps);
      const auto distance = [&](std::size_t i, std::size_t j) { return angle_of(values, i, j) * 180 / kPi; };
      const OracleTable expected = table_by(values.size() / 2, eps, eps < 180 ? 1e-10L : -1, distance);
      if (eps >= 180) REQUIRE(expected.pairs() == 240 * 240);
      check_all_ways(PointsView(values, 2), {.kind = MetricKind::greatcircle}, eps, expected, distance);
    }
  }
}

TEST_CASE("metric: great circles in other units, and latitude first") {
  const std::vector<double> values = sky(200, 9);
  std::vector<double> swapped(values.size());
  for (std::size_t i = 0; i < values.size(); i += 2) {
    swapped[i] = values[i + 1];
    swapped[i + 1] = values[i];
  }
  struct Case {
    ArcUnit unit;
    Real per_radian;
  };
  for (const Case c :
       {Case{ArcUnit::degree, 180 / kPi}, Case{ArcUnit::arcminute, 60 * 180 / kPi},
        Case{ArcUnit::arcsecond, 3600 * 180 / kPi}, Case{ArcUnit::radian, 1}, Case{ArcUnit::kilometre, 6371.0088L}}) {
    INFO("unit " << static_cast<int>(c.unit));
    const auto distance = [&](std::size_t i, std::size_t j) { return c.per_radian * angle_of(values, i, j); };
    const double eps = static_cast<double>(0.03L * c.per_radian);
    const OracleTable expected = table_by(values.size() / 2, eps, 1e-12L * c.per_radian, distance);
    check_all_ways(PointsView(values, 2), {.kind = MetricKind::greatcircle, .unit = c.unit}, eps, expected, distance);
    check_all_ways(PointsView(swapped, 2), {.kind = MetricKind::greatcircle, .unit = c.unit, .latitude_first = true},
                   eps, expected, distance);
  }
}

TEST_CASE("metric: positions with several coordinates are one") {
  const std::vector<double> values{180, 12, -180, 12, 540, 12, 0, 90, 77, 90, -123.456, 90, 5, -90, 6, -90};
  const Dataset data = Engine({.threads = 1}).load(PointsView(values, 2), {.kind = MetricKind::greatcircle});
  const Neighbors found = neighbors(data, 1e-150, Distances::include);
  CHECK(found.pairs() == 9 + 9 + 4);
  for (const double d : found.distances.span()) CHECK(d == 0);
}

TEST_CASE("metric: haversine takes latitude and longitude in radians") {
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const std::vector<double> degrees = sky(240, 5);
    std::vector<double> values;
    for (std::size_t i = 0; i < degrees.size(); i += 2) {
      for (const double x : {degrees[i + 1], degrees[i]}) values.push_back(x * std::numbers::pi / 180);
    }
    const std::vector<float> floats(values.begin(), values.end());
    if (precision == Precision::float32) values.assign(floats.begin(), floats.end());
    const PointsView view = precision == Precision::float32 ? PointsView(floats, 2) : PointsView(values, 2);
    const auto distance = [&](std::size_t i, std::size_t j) {
      return angle_between(values[2 * i + 1], values[2 * i], values[2 * j + 1], values[2 * j]);
    };
    for (const double eps : {0.004, 0.09, 1.1, 3.0, 3.5}) {
      INFO("eps " << eps);
      check_all_ways(view, {.kind = MetricKind::haversine}, eps, table_by(240, eps, eps < 3.2 ? 1e-12L : -1, distance),
                     distance);
    }
  }
}

TEST_CASE("metric: cosine looks at directions alone") {
  for (const std::size_t dims : {1U, 2U, 3U, 8U, 70U}) {
    Random random(dims);
    std::vector<double> values(150 * dims);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.uniform(-1, 1) + (i / dims % 2 == 0 ? 1 : 0);
    for (std::size_t k = 0; k < dims; ++k) {
      values[k] *= 1e300;
      values[dims + k] *= 1e-300;
    }
    const auto distance = [&](std::size_t i, std::size_t j) {
      return cosine_distance(&values[i * dims], &values[j * dims], dims);
    };
    for (const double eps : {0.0123, 0.211, 0.97, 1.6, 2.0, 3.0}) {
      INFO(dims << "-D, eps " << eps);
      check_all_ways(PointsView(values, dims), {.kind = MetricKind::cosine}, eps,
                     table_by(150, eps, eps < 2 ? 1e-14L : -1, distance), distance);
    }
  }
}

TEST_CASE("metric: a factor for each column") {
  for (const std::size_t dims : {1U, 3U, 9U}) {
    const DataSet data = make_data("clustered", 200, dims, Precision::float32, dims);
    std::vector<double> scale, scaled;
    for (std::size_t k = 0; k < dims; ++k) scale.push_back(k % 2 == 0 ? 0.01 : 3.3);
    for (std::size_t i = 0; i < data.floats.size(); ++i)
      scaled.push_back(static_cast<double>(data.floats[i]) * scale[i % dims]);
    for (const double eps : {data.scale, data.scale / 30}) {
      INFO(dims << "-D, eps " << eps);
      const auto distance = [&](std::size_t i, std::size_t j) {
        return std::sqrt(static_cast<Real>(oracle_squared_distance(&scaled[i * dims], &scaled[j * dims], dims)));
      };
      check_all_ways(data.view(), {.scale = scale}, eps, oracle_table(scaled, dims, eps), distance);
    }
  }
}

TEST_CASE("metric: what it does not support is refused, with the culprit and the remedy") {
  const Engine engine({.threads = 1});
  const std::vector<double> three{1, 2, 3};
  const std::vector<double> swapped{10, 20, 20, -100, 0, 0};
  const std::vector<double> zero{1, 2, 0, 0};
  const std::vector<double> missing{1, 2, NAN, 4};
  const std::vector<double> huge{1, 1e300};
  const auto check = [&]<class E>(const std::vector<double>& values, std::size_t dims, const Metric& metric, E*,
                                  std::initializer_list<std::string_view> parts) {
    check_error<E>(parts, [&] { (void)engine.load(PointsView(values, dims), metric); });
  };
  UsageError* const usage = nullptr;
  InputError* const input = nullptr;
  check(three, 3, {.kind = MetricKind::greatcircle}, usage, {"greatcircle", "two columns", "have 3"});
  check(three, 3, {.kind = MetricKind::haversine}, usage, {"haversine", "two columns"});
  check(swapped, 2, {.kind = MetricKind::greatcircle}, input,
        {"-100", "row 1, column 1", "swapped", "longitude first"});
  check(swapped, 2, {.kind = MetricKind::haversine}, input, {"row 0, column 0", "greatcircle"});
  check(zero, 2, {.kind = MetricKind::cosine}, input, {"row 1", "direction", "leave"});
  check(missing, 2, {.kind = MetricKind::cosine}, input, {"row 1, column 0"});
  check(huge, 2, {.scale = {1, 1e10}}, input, {"row 0, column 1", "too large"});
  check(zero, 2, {.scale = {1}}, usage, {"Metric::scale", "1 factor", "2 columns"});
  check(zero, 2, {.scale = {1, 0}}, usage, {"Metric::scale", "factor 0"});
  check(zero, 2, {.kind = MetricKind::cosine, .scale = {1, 1}}, usage, {"euclidean"});
  check(three, 3, {.kind = MetricKind::greatcircle, .scale = {1, 1, 1}}, usage, {"Metric::scale", "euclidean"});
  check(zero, 2, {.kind = MetricKind::haversine, .unit = ArcUnit::kilometre}, usage, {"unit", "greatcircle"});
  check(zero, 2, {.latitude_first = true}, usage, {"latitude", "greatcircle"});
}

TEST_CASE("metric: longitudes of a turn more or less, and none beyond") {
  const Engine engine({.threads = 1});
  const auto load = [&](double longitude, double latitude, const Metric& metric) {
    const std::vector<double> values{0, 0, longitude, latitude};
    (void)engine.load(PointsView(values, 2), metric);
  };
  const Metric greatcircle{.kind = MetricKind::greatcircle};
  const Metric haversine{.kind = MetricKind::haversine, .latitude_first = true};
  for (const double good : {-360.0, 720.0}) load(good, 1, greatcircle);
  for (const double good : {-2 * std::numbers::pi, 4 * std::numbers::pi}) load(1, good, haversine);
  for (const double bad : {-360.1, 720.1, 1e300}) {
    check_error<InputError>({"longitude", "row 1, column 0", "-360 to 720"}, [&] { load(bad, 1, greatcircle); });
  }
  check_error<InputError>({"longitude 120", "row 1, column 1", "greatcircle"}, [&] { load(1, 120, haversine); });
}

TEST_CASE("metric: a radius whose square is no number is refused by every way in, and taken where none is squared") {
  const Engine engine({.threads = 1, .backend = BackendChoice::cpu});
  const auto check = [&](const std::vector<double>& values, double eps, const Metric& metric, std::string_view size) {
    INFO("eps " << eps);
    const PointsView view(values, 2);
    const Dataset data = engine.load(view, metric);
    const std::vector<std::int32_t> labels{0};
    const CoreView core{PointsView(std::span(values).first(2), 2), labels, eps, metric};
    const auto refused = [&](const auto& work) { check_error<UsageError>({"eps 1e", size, "another unit"}, work); };
    refused([&] { (void)run(data, grid({eps}, {1}), {.verify = true}); });
    refused([&] { (void)run(data.weighted(std::vector<double>{1, 1, 1}), grid({eps}, {1})); });
    refused([&] { (void)neighbors(data, eps, Distances::omit); });
    refused([&] { (void)plan(data, grid({eps}, {1})); });
    refused([&] { (void)predict(core, view); });
  };
  const std::vector<double> tiny{0, 0, 1e-164, 0, 5e-164, 0};
  const std::vector<double> huge{0, 0, 1e200, 0, 5e200, 0};
  check(tiny, 1e-165, {}, "too small");
  check(tiny, 1e-165, {.kind = MetricKind::minkowski, .power = 2}, "too small");
  check(tiny, 1e-165, {.scale = {1, 2}}, "too small");
  check(tiny, 1e-165, {.box = {{0, 1e-163}, {}}}, "too small");
  check(tiny, 1e-160, {.kind = MetricKind::greatcircle}, "too small");
  check(huge, 1e199, {}, "too large");
  for (const Metric& metric : {Metric{.kind = MetricKind::manhattan}, Metric{.kind = MetricKind::chebyshev}}) {
    for (const StrategyChoice strategy : {StrategyChoice::table, StrategyChoice::direct}) {
      for (const auto& [values, eps] : {std::pair(tiny, 1e-165), std::pair(huge, 1e199)}) {
        const Dataset data = engine.load(PointsView(values, 2), metric);
        CHECK(run(data, grid({eps}, {1}), {.strategy = strategy, .verify = true}).front().labels ==
              std::vector<std::int32_t>{0, 1, 2});
      }
    }
  }
}

TEST_CASE("metric: differences whose squares overflow are far") {
  for (const std::size_t dims : {1U, 2U, 3U, 8U}) {
    std::vector<double> values(4 * dims);
    values[0] = 1e300;
    values[dims] = -1e300;
    values[2 * dims] = std::nextafter(1e300, 2e300);  // 1e284 farther
    const PointsView view(values, dims);
    for (const StrategyChoice strategy : {StrategyChoice::table, StrategyChoice::direct}) {
      for (const double eps : {1e-150, 1.0, 1e150}) {
        INFO(dims << "-D, eps " << eps);
        const auto found = run(view, grid({eps}, {1}), {.threads = 1}, {.strategy = strategy, .verify = true});
        CHECK(found.front().labels == std::vector<std::int32_t>{0, 1, 2, 3});
      }
    }
  }
}

TEST_CASE("metric: what is the same metric is described, and searched, as the same") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto power = [](double p) { return Metric{.kind = MetricKind::minkowski, .power = p}; };
  CHECK(canonical(power(1)) == Metric{.kind = MetricKind::manhattan});
  CHECK(canonical(power(2)) == Metric{});
  CHECK(canonical(power(infinity)) == Metric{.kind = MetricKind::chebyshev});
  CHECK(canonical(power(3)) == power(3));
  CHECK(canonical({.scale = {1, 1}, .box = {{}, {}}}) == Metric{});
  CHECK(canonical({.scale = {1, 2}}) == Metric{.scale = {1, 2}});
  CHECK(canonical({.box = {{}, {0, 1}}}) == Metric{.box = {{}, {0, 1}}});
  CHECK(describe(power(2)).empty());
  CHECK(describe(power(1)) == "manhattan");
  CHECK(epsflow::describe({.scale = {1, 1}, .box = {{}, {}}}).empty());
  CHECK(describe_in_full(power(2)) == "euclidean");
  CHECK(eps_unit({.kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre}) == "km");
  CHECK(eps_unit({.kind = MetricKind::haversine}) == "rad");
  CHECK(eps_unit({}).empty());
  // If the metric does not transform the points, they are not copied: the budget has no room for a copy.
  const std::vector<float> values(2 * 100'000, 1.0F);
  const PointsView view(values, 2);
  const Engine engine({.memory = 1'500'000, .threads = 1});
  CHECK_NOTHROW((void)engine.load(view, {.scale = {1, 1}, .box = {{}, {}}}));
  CHECK_THROWS_AS((void)engine.load(view, {.scale = {1, 2}}), ResourceError);
  check_error<UsageError>({"1 factor"}, [&] { (void)engine.load(view, {.scale = {1}}); });
}

TEST_CASE("metric: descriptions tell metrics apart") {
  CHECK(describe(Metric{}).empty());
  CHECK(epsflow::describe({.scale = {1, 0.5}}) == "euclidean, scaled by 1 0.5");
  CHECK(epsflow::describe({.kind = MetricKind::greatcircle}) == "greatcircle, eps in deg");
  CHECK(epsflow::describe({.kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre, .latitude_first = true}) ==
        "greatcircle, latitude first, eps in km");
  CHECK(epsflow::describe({.kind = MetricKind::haversine}) == "haversine");
  CHECK(epsflow::describe({.kind = MetricKind::cosine}) == "cosine");
  CHECK(epsflow::describe({.kind = MetricKind::manhattan}) == "manhattan");
  CHECK(epsflow::describe({.kind = MetricKind::minkowski, .scale = {1, 2}, .power = 3}) ==
        "minkowski, p = 3, scaled by 1 2");
  CHECK(epsflow::describe({.box = {{0, 250}, {}, {-1, 1}}}) == "euclidean, in a box of 0:250 - -1:1");
}

}  // namespace
}  // namespace epsflow::test
