#include <epsflow/core/metric.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

using std::numbers::pi;

/// Farther than any two points of a unit sphere, rounding included.
constexpr double kBeyondAll = 2.5;
/// Float32 has π/2 a little above π/2.
constexpr double kRadiansSlack = 1e-6;

struct UnitOfArc {
  std::string_view name;
  double radians;
};

UnitOfArc unit_of(const Metric& metric) noexcept {
  if (metric.kind == MetricKind::haversine) return {"rad", 1};
  switch (metric.unit) {
    case ArcUnit::arcminute:
      return {"arcmin", pi / (180 * 60)};
    case ArcUnit::arcsecond:
      return {"arcsec", pi / (180 * 3600)};
    case ArcUnit::radian:
      return {"rad", 1};
    case ArcUnit::kilometre:
      return {"km", 1 / kEarthRadius};
    default:
      return {"deg", pi / 180};
  }
}

bool on_sphere(MetricKind kind) noexcept { return kind == MetricKind::greatcircle || kind == MetricKind::haversine; }

/// Sine and cosine of degrees, exact at multiples of 90: −180° and 180° are one place, and a pole is one whatever its longitude.
std::pair<double, double> sine_and_cosine_of_degrees(double degrees) noexcept {
  const double turn = std::fmod(degrees, 360);
  const double quarters = std::nearbyint(turn / 90);
  const double angle = (turn - 90 * quarters) * (pi / 180);
  const double sine = std::sin(angle);
  const double cosine = std::cos(angle);
  switch (static_cast<int>(quarters) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

std::string place(std::size_t row, std::size_t column) {
  return "row " + format_count(row) + ", column " + format_count(column);
}

[[noreturn]] void throw_latitude(const Metric& metric, std::size_t row, std::size_t column, double latitude) {
  const std::string what = "latitude " + format_number(latitude) + " in " + place(row, column);
  if (metric.kind == MetricKind::haversine) {
    throw InputError(
        what +
        " is beyond ±π/2 radians: haversine takes latitude and longitude, in this order, in radians; for degrees "
        "there is greatcircle");
  }
  throw InputError(what + " is beyond ±90 degrees: longitude and latitude are likely swapped; greatcircle takes " +
                   (metric.latitude_first ? "latitude first, as was asked for" : "longitude first"));
}

/// A point of the sphere.
void place_on_sphere(const Metric& metric, PointsView points, std::size_t row, double* out) {
  const bool radians = metric.kind == MetricKind::haversine;
  const std::size_t latitude_column = radians || metric.latitude_first ? 0 : 1;
  const double latitude = points.at(row, latitude_column);
  const double longitude = points.at(row, 1 - latitude_column);
  if (std::abs(latitude) > (radians ? pi / 2 + kRadiansSlack : 90)) {
    throw_latitude(metric, row, latitude_column, latitude);
  }
  const auto [sine_phi, cosine_phi] =
      radians ? std::pair(std::sin(latitude), std::cos(latitude)) : sine_and_cosine_of_degrees(latitude);
  const auto [sine_lambda, cosine_lambda] =
      radians ? std::pair(std::sin(longitude), std::cos(longitude)) : sine_and_cosine_of_degrees(longitude);
  out[0] = cosine_phi * cosine_lambda;
  out[1] = cosine_phi * sine_lambda;
  out[2] = sine_phi;
}

/// The unit vector of a vector. Divided by the largest coordinate first, so that no square overflows, nor all underflow.
void normalise(PointsView points, std::size_t row, double* out) {
  const std::size_t dims = points.dims();
  double largest = 0;
  for (std::size_t k = 0; k < dims; ++k) largest = std::max(largest, std::abs(points.at(row, k)));
  if (largest == 0) {
    throw InputError("row " + format_count(row) +
                     " is all zeros, which has no direction: cosine cannot compare it; leave such rows out");
  }
  double sum = 0;
  for (std::size_t k = 0; k < dims; ++k) {
    out[k] = points.at(row, k) / largest;
    sum += out[k] * out[k];
  }
  const double norm = std::sqrt(sum);
  for (std::size_t k = 0; k < dims; ++k) out[k] /= norm;
}

void scale_point(const Metric& metric, PointsView points, std::size_t row, double* out) {
  for (std::size_t k = 0; k < points.dims(); ++k) {
    out[k] = points.at(row, k) * metric.scale[k];
    if (!std::isfinite(out[k])) {
      throw InputError(format_number(points.at(row, k)) + " in " + place(row, k) + " times its factor " +
                       format_number(metric.scale[k]) + " is too large for float64");
    }
  }
}

}  // namespace

void check_metric(const Metric& metric, std::size_t dims) {
  if (!metric.scale.empty() && metric.kind != MetricKind::euclidean) {
    throw UsageError("Metric::scale is for the euclidean metric; leave it out");
  }
  if ((metric.unit != ArcUnit::degree || metric.latitude_first) && metric.kind != MetricKind::greatcircle) {
    throw UsageError(
        "a unit of eps and the order of longitude and latitude are for the metric greatcircle; leave them out");
  }
  if (on_sphere(metric.kind) && dims != 2) {
    throw UsageError(std::string(metric.kind == MetricKind::haversine ? "haversine" : "greatcircle") +
                     " takes two columns, longitude and latitude, and the points have " + std::to_string(dims) +
                     ": choose two");
  }
  if (metric.scale.empty()) return;
  if (metric.scale.size() != dims) {
    throw UsageError("Metric::scale has " + std::to_string(metric.scale.size()) + " factors, and the points have " +
                     std::to_string(dims) + " columns: give one for each");
  }
  for (const double factor : metric.scale) {
    if (factor > 0 && std::isfinite(factor)) continue;
    throw UsageError("Metric::scale has a factor " + format_number(factor) +
                     ", and each must be greater than 0; a column that shall not count is left out");
  }
}

std::size_t moved_dims(const Metric& metric, std::size_t dims) noexcept { return on_sphere(metric.kind) ? 3 : dims; }

void move_points(const Metric& metric, PointsView points, std::size_t first, std::size_t last, double* out) {
  require_finite(points, first, last);
  const std::size_t width = moved_dims(metric, points.dims());
  for (std::size_t row = first; row < last; ++row, out += width) {
    if (on_sphere(metric.kind)) {
      place_on_sphere(metric, points, row, out);
    } else if (metric.kind == MetricKind::cosine) {
      normalise(points, row, out);
    } else if (!metric.scale.empty()) {
      scale_point(metric, points, row, out);
    } else {
      for (std::size_t k = 0; k < width; ++k) out[k] = points.at(row, k);
    }
  }
}

double moved_radius(const Metric& metric, double eps) {
  if (on_sphere(metric.kind)) {
    const double angle = eps * unit_of(metric).radians;
    return angle < pi ? 2 * std::sin(angle / 2) : kBeyondAll;
  }
  if (metric.kind == MetricKind::cosine) return eps < 2 ? std::sqrt(2 * eps) : kBeyondAll;
  return eps;
}

double distance_of_moved(const Metric& metric, double distance) {
  if (on_sphere(metric.kind)) return 2 * std::asin(std::min(1.0, distance / 2)) / unit_of(metric).radians;
  return metric.kind == MetricKind::cosine ? distance * distance / 2 : distance;
}

std::string describe(const Metric& metric) {
  switch (metric.kind) {
    case MetricKind::greatcircle:
      return std::string("greatcircle, ") + (metric.latitude_first ? "latitude first, " : "") + "eps in " +
             std::string(unit_of(metric).name);
    case MetricKind::haversine:
      return "haversine";
    case MetricKind::cosine:
      return "cosine";
    default:
      break;
  }
  if (metric.scale.empty()) return {};
  std::string text = "euclidean, scaled by";
  for (const double factor : metric.scale) text += " " + format_number(factor);
  return text;
}

}  // namespace epsflow
