#include <epsflow/sky/sky_field.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace epsflow {
namespace {

constexpr std::size_t kSample = 1000;
constexpr double kDegrees = 180 / std::numbers::pi;

/// The range from the smallest to the largest of some values.
struct ValueRange {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  [[nodiscard]] double length() const { return most - least; }
};

double within_turn(double degrees) { return degrees - 360 * std::floor(degrees / 360); }

/// Returns the field of every step-th point.
SkyField field_of(const Metric& metric, PointsView points, std::size_t step) {
  const bool radians = in_radians(metric.kind);
  const std::size_t latitude_column = latitude_comes_first(metric) ? 0 : 1;
  const double unit = radians ? kDegrees : 1;
  ValueRange latitude, from_zero, from_date_line;
  for (std::size_t i = 0; i < points.size(); i += step) {
    const double longitude = points.at(i, 1 - latitude_column) * unit;
    latitude.add(points.at(i, latitude_column) * unit);
    from_zero.add(within_turn(longitude));
    from_date_line.add(within_turn(longitude + 180));
  }
  return {.width = std::min(from_zero.length(), from_date_line.length()), .height = latitude.length()};
}

}  // namespace

std::optional<SkyField> field_within(const Metric& metric, PointsView points, double eps) {
  const bool radians = in_radians(metric.kind);
  if (!on_sphere(metric.kind) || points.size() == 0) return std::nullopt;
  const double angle = eps * radians_of(radians ? ArcUnit::radian : metric.unit) * kDegrees;
  SkyField field;
  for (const std::size_t step : {points.size() / kSample + 1, std::size_t{1}}) {
    field = field_of(metric, points, step);
    if (angle < std::max(field.width, field.height)) return std::nullopt;
  }
  if (field.width == 0 && field.height == 0) return std::nullopt;
  field.eps = angle;
  for (const ArcUnit unit :
       {ArcUnit::degree, ArcUnit::arcminute, ArcUnit::arcsecond, ArcUnit::radian, ArcUnit::kilometre}) {
    if (eps * radians_of(unit) * kDegrees < std::max(field.width, field.height)) field.meant.push_back(unit);
  }
  return field;
}

}  // namespace epsflow
