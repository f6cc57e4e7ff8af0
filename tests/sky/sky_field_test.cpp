#include <epsflow/sky/sky_field.hpp>

#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace epsflow {
namespace {

const Metric kGreatcircle{.kind = MetricKind::greatcircle};

/// Returns points over 10 degrees of longitude from `west` on, and 8 degrees of latitude.
std::vector<double> field(double west, std::size_t n = 5000) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    const double along = static_cast<double>(i) / static_cast<double>(n - 1);
    values.push_back(west + 10 * along);
    values.push_back(20 + 8 * along);
  }
  return values;
}

PointsView view(const std::vector<double>& values) { return {std::span(values), 2}; }

TEST_CASE("sky field: an eps as large as the field, wherever it lies") {
  for (const double west : {-180.0, -5.0, 0.0, 100.0, 175.0, 355.0}) {
    INFO("from " << west);
    std::vector<double> values = field(west);
    CHECK_FALSE(field_within(kGreatcircle, view(values), 9.99));
    const auto within = field_within(kGreatcircle, view(values), 10.01);
    REQUIRE(within);
    CHECK(within->width == Approx(10));
    CHECK(within->height == Approx(8));
    CHECK(within->eps == Approx(10.01));
    for (std::size_t i = 0; i < values.size(); i += 2) std::swap(values[i], values[i + 1]);
    CHECK(field_within({.kind = MetricKind::greatcircle, .latitude_first = true}, view(values), 10.01));
    for (double& value : values) value *= std::numbers::pi / 180;
    CHECK(field_within({.kind = MetricKind::haversine}, view(values), 0.18));
    CHECK_FALSE(field_within({.kind = MetricKind::haversine}, view(values), 0.17));
  }
}

TEST_CASE("sky field: the units that may be meant") {
  const std::vector<double> values = field(100);
  const auto meant = [&](ArcUnit unit, double eps) {
    return field_within({.kind = MetricKind::greatcircle, .unit = unit}, view(values), eps).value_or(SkyField()).meant;
  };
  using enum ArcUnit;
  CHECK(meant(radian, 0.3) == std::vector{degree, arcminute, arcsecond, kilometre});
  CHECK(meant(degree, 30) == std::vector{arcminute, arcsecond, kilometre});
  CHECK(meant(kilometre, 30000) == std::vector{arcsecond});
  CHECK(meant(arcsecond, 1e6).empty());
}

TEST_CASE("sky field: nothing to doubt") {
  CHECK_FALSE(field_within(Metric{}, view(field(0)), 1000));
  CHECK_FALSE(field_within(kGreatcircle, PointsView(), 1000));
  CHECK_FALSE(field_within(kGreatcircle, view(std::vector<double>(20, 3.0)), 1));
}

}  // namespace
}  // namespace epsflow
