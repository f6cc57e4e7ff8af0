#include <epsflow/core/metric.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/least_passing.hpp>

namespace epsflow {
namespace {

using std::numbers::pi;

/// A distance larger than between any two points of a unit sphere, rounding included.
constexpr double kBeyondAll = 2.5;
/// The limit of powers of eps, far from under- and overflow.
constexpr double kMostPower = 0x1p900;
/// Tolerance of radians: π/2 in float32 is a little above π/2.
constexpr double kRadiansSlack = 1e-6;
/// Limits of longitudes in turns. Longitudes count from −180° or from 0°, and a field may cross an end; others are
/// invalid.
constexpr double kLeastLongitude = -1;
constexpr double kMostLongitude = 2;

/// Returns the unit of eps on a sphere.
ArcUnit arc_unit(const Metric& metric) noexcept { return in_radians(metric.kind) ? ArcUnit::radian : metric.unit; }

bool is_norm(MetricKind kind) noexcept { return !on_sphere(kind) && kind != MetricKind::cosine; }

/// Returns sine and cosine of degrees, exact at multiples of 90: −180° and 180° are the same meridian, and a pole is
/// one point.
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

std::string location(std::size_t row, std::size_t column) {
  return "row " + format_count(row) + ", column " + format_count(column);
}

[[noreturn]] void throw_latitude(const Metric& metric, std::size_t row, std::size_t column, double latitude) {
  const std::string what = "latitude " + format_number(latitude) + " in " + location(row, column);
  if (in_radians(metric.kind)) {
    throw InputError(
        what +
        " is beyond ±π/2 radians: haversine takes latitude and longitude, in this order, in radians; for degrees "
        "there is greatcircle");
  }
  throw InputError(what + " is beyond ±90 degrees: longitude and latitude are likely swapped; greatcircle takes " +
                   (metric.latitude_first ? "latitude first, as was asked for" : "longitude first"));
}

[[noreturn]] void throw_longitude(const Metric& metric, std::size_t row, std::size_t column, double longitude) {
  const bool radians = in_radians(metric.kind);
  throw InputError("longitude " + format_number(longitude) + " in " + location(row, column) + " is not from " +
                   (radians ? "-2π to 4π radians: haversine takes radians; for degrees there is greatcircle"
                            : "-360 to 720 degrees: choose the column that is one, or bring it into one turn"));
}

/// A point of the sphere.
void embed_on_sphere(const Metric& metric, PointsView points, std::size_t row, double* out) {
  const bool radians = in_radians(metric.kind);
  const std::size_t latitude_column = latitude_comes_first(metric) ? 0 : 1;
  const double latitude = points.at(row, latitude_column);
  const double longitude = points.at(row, 1 - latitude_column);
  if (std::abs(latitude) > (radians ? pi / 2 + kRadiansSlack : 90)) {
    throw_latitude(metric, row, latitude_column, latitude);
  }
  const double turn = radians ? 2 * pi + kRadiansSlack : 360;
  if (longitude < kLeastLongitude * turn || longitude > kMostLongitude * turn) {
    throw_longitude(metric, row, 1 - latitude_column, longitude);
  }
  const auto [sine_phi, cosine_phi] =
      radians ? std::pair(std::sin(latitude), std::cos(latitude)) : sine_and_cosine_of_degrees(latitude);
  const auto [sine_lambda, cosine_lambda] =
      radians ? std::pair(std::sin(longitude), std::cos(longitude)) : sine_and_cosine_of_degrees(longitude);
  out[0] = cosine_phi * cosine_lambda;
  out[1] = cosine_phi * sine_lambda;
  out[2] = sine_phi;
}

/// Returns the unit vector of a vector. Divides by the largest coordinate first: squares then neither overflow nor all
/// vanish.
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
      throw InputError(format_number(points.at(row, k)) + " in " + location(row, k) + " times its factor " +
                       format_number(metric.scale[k]) + " is too large for float64");
    }
  }
}

/// Returns the grain of coordinates on a closed side: coordinates of its images are less than 2^53 grains.
double grain_of(const BoxSide& side) {
  const double length = side.hi - side.lo;
  const double farthest = std::max(std::abs(side.lo - length), std::abs(side.hi + length));
  return std::ldexp(1.0, std::max(std::ilogb(farthest * (1 + 0x1p-40)) - 52, -1074));
}
double rounded_to(double grain, double x) { return std::nearbyint(x / grain) * grain; }

BoxSide scaled(const Metric& metric, std::size_t k) {
  const BoxSide side = metric.box[k];
  if (!side.closed()) return side;
  const double factor = metric.scale.empty() ? 1 : metric.scale[k];
  return {side.lo * factor, side.hi * factor};
}

void require_in_box(const Metric& metric, PointsView points, std::size_t first, std::size_t last) {
  for (std::size_t k = 0; k < metric.box.size(); ++k) {
    const BoxSide side = metric.box[k];
    if (!side.closed()) continue;
    for (std::size_t row = first; row < last; ++row) {
      const double x = points.at(row, k);
      if (!(x < side.lo || x > side.hi)) continue;
      throw InputError(format_number(x) + " in " + location(row, k) + " is outside the box, which goes from " +
                       format_number(side.lo) + " to " + format_number(side.hi) +
                       " there: give the box that the points are of, or move them into it");
    }
  }
}

/// Returns a scaled side with its ends rounded to multiples of the grain, for sides that check_metric() accepts.
BoxSide transformed(const BoxSide& side) {
  const double grain = grain_of(side);
  return {rounded_to(grain, side.lo), rounded_to(grain, side.hi)};
}

/// Returns true if the images of a scaled side have finite coordinates, and rounding hardly changes its length.
bool can_be_transformed(const BoxSide& side) {
  constexpr double kFewestGrains = 1024;
  const double length = side.hi - side.lo;
  if (!(length > 0) || !std::isfinite(2 * (std::abs(side.lo) + std::abs(side.hi) + 2 * length))) return false;
  const BoxSide made = transformed(side);
  return made.hi - made.lo >= kFewestGrains * grain_of(side);
}

void check_count(std::string_view name, std::size_t given, std::string_view what, std::size_t dims) {
  if (given == dims) return;
  throw UsageError(std::string(name) + " has " + format_count(given, what) + ", and the points have " +
                   format_count(dims, "column") + ": give one for each");
}

void check_scale(const Metric& metric, std::size_t dims) {
  if (metric.scale.empty()) return;
  check_count("Metric::scale", metric.scale.size(), "factor", dims);
  for (const double factor : metric.scale) {
    if (factor > 0 && std::isfinite(factor)) continue;
    throw UsageError("Metric::scale has a factor " + format_number(factor) +
                     ", and each must be greater than 0; a column that shall not count is left out");
  }
}

/// The factors must be valid.
void check_box(const Metric& metric, std::size_t dims) {
  if (metric.box.empty()) return;
  check_count("Metric::box", metric.box.size(), "side", dims);
  for (std::size_t k = 0; k < dims; ++k) {
    const BoxSide& side = metric.box[k];
    const std::string shown = "Metric::box has a side from " + format_number(side.lo) + " to " + format_number(side.hi);
    if (!(std::isfinite(side.lo) && std::isfinite(side.hi - side.lo) && side.lo <= side.hi)) {
      throw UsageError(shown + ", and each must begin below its end");
    }
    if (side.closed() && !can_be_transformed(scaled(metric, k))) {
      throw UsageError(shown + (metric.scale.empty() ? "" : ", scaled by " + format_number(metric.scale[k])) +
                       ", where numbers of 64 bits are too coarse or at an end: measure in another unit, or from a "
                       "nearer origin");
    }
  }
}

}  // namespace

template <>
std::span<const Option<Metric>> options_of<Metric>() noexcept {
  static constexpr std::array kOptions{
      option<Metric>(
          {.library = "Metric::kind",
           .program = "metric",
           .python = "metric",
           .meaning = "greatcircle: longitude and latitude in degrees, the columns named so (lon and lat, ra and "
                      "dec, l and b, …) or two in this order; haversine: latitude and longitude in radians, "
                      "eps too; cosine: 1 - the cosine of the angle; minkowski: by Metric::power; l1 and cityblock are "
                      "manhattan, l2 is euclidean"},
          [](auto& metric) -> auto& { return metric.kind; }),
      option<Metric>(
          {.library = "Metric::unit",
           .program = "unit",
           .python = "unit",
           .meaning = "the unit of eps on a great circle; km: on the earth, whose radius is 6371.0088 km"},
          [](auto& metric) -> auto& { return metric.unit; }),
      option<Metric>(
          {.library = "Metric::latitude_first",
           .program = "latitude-first",
           .python = "metric_params={'latitude_first': True}",
           .meaning = "the two columns are latitude and longitude, whatever their names are"},
          [](auto& metric) -> auto& { return metric.latitude_first; }),
      // The other fields are lists and numbers with a syntax of their own, which the program and Python parse.
      Option<Metric>{{.library = "Metric::power",
                      .program = "p",
                      .python = "p",
                      .placeholder = "P",
                      .standard = "2",
                      .meaning = "the power of minkowski, at least 1; inf: chebyshev"}},
      Option<Metric>{{.library = "Metric::box",
                      .program = "box",
                      .python = "box",
                      .placeholder = "LIST",
                      .meaning =
                          "a periodic box: the ends of each side, before Metric::scale, as in 0:250,0:250,- (-: open); "
                          "one for all columns, and 250 for 0:250"}},
      Option<Metric>{{.library = "Metric::scale",
                      .program = "scale",
                      .python = "scale",
                      .placeholder = "LIST",
                      .standard = "1",
                      .meaning = "a factor for each column, as in 1,1,0.01 for space and time together"}}};
  return kOptions;
}

double radians_of(ArcUnit unit) noexcept {
  switch (unit) {
    case ArcUnit::arcminute:
      return pi / (180 * 60);
    case ArcUnit::arcsecond:
      return pi / (180 * 3600);
    case ArcUnit::radian:
      return 1;
    case ArcUnit::kilometre:
      return 1 / kEarthRadius;
    default:
      return pi / 180;
  }
}

void check_metric(const Metric& metric, std::size_t dims) {
  if ((!metric.scale.empty() || !metric.box.empty()) && !is_norm(metric.kind)) {
    throw UsageError(std::string(metric.scale.empty() ? "Metric::box" : "Metric::scale") +
                     " is for the metrics euclidean, manhattan, chebyshev and minkowski, not for " +
                     std::string(word_of(metric.kind)) + "; leave it out");
  }
  if (metric.power != 2 && metric.kind != MetricKind::minkowski) {
    throw UsageError("Metric::power is for the metric minkowski; leave it out");
  }
  if (!(metric.power >= 1)) {
    throw UsageError("Metric::power is " + format_number(metric.power) +
                     ", and from 1 on the power of minkowski is a distance");
  }
  if ((metric.unit != ArcUnit::degree && metric.kind != MetricKind::greatcircle) ||
      (metric.latitude_first && !on_sphere(metric.kind))) {
    throw UsageError(
        "a unit of eps and the order of longitude and latitude are for the metric greatcircle; leave them out");
  }
  if (on_sphere(metric.kind) && dims != 2) {
    throw UsageError(std::string(word_of(metric.kind)) +
                     " takes two columns, longitude and latitude, and the points have " + std::to_string(dims) +
                     ": choose two");
  }
  check_scale(metric, dims);
  check_box(metric, dims);
}

Metric canonical(Metric metric) {
  if (metric.kind == MetricKind::minkowski) {
    if (metric.power == 1) metric.kind = MetricKind::manhattan;
    if (metric.power == 2) metric.kind = MetricKind::euclidean;
    if (std::isinf(metric.power)) metric.kind = MetricKind::chebyshev;
    if (metric.kind != MetricKind::minkowski) metric.power = Metric().power;
  }
  if (std::ranges::all_of(metric.scale, [](double factor) { return factor == 1; })) metric.scale.clear();
  if (std::ranges::none_of(metric.box, &BoxSide::closed)) metric.box.clear();
  return metric;
}

std::size_t transformed_dims(const Metric& metric, std::size_t dims) noexcept {
  return on_sphere(metric.kind) ? 3 : dims;
}

void transform_points(const Metric& metric, PointsView points, std::size_t first, std::size_t last, double* out) {
  require_finite(points, first, last);
  require_in_box(metric, points, first, last);
  std::vector<double> grains;
  for (std::size_t k = 0; k < metric.box.size(); ++k) grains.push_back(box_grain(metric, k));
  const std::size_t width = transformed_dims(metric, points.dims());
  for (std::size_t row = first; row < last; ++row, out += width) {
    if (on_sphere(metric.kind)) {
      embed_on_sphere(metric, points, row, out);
    } else if (metric.kind == MetricKind::cosine) {
      normalise(points, row, out);
    } else if (!metric.scale.empty()) {
      scale_point(metric, points, row, out);
    } else {
      for (std::size_t k = 0; k < width; ++k) out[k] = points.at(row, k);
    }
    for (std::size_t k = 0; k < grains.size(); ++k) {
      if (grains[k] > 0) out[k] = rounded_to(grains[k], out[k]);
    }
  }
}

bool is_identity(const Metric& metric, PointsView points, std::size_t first, std::size_t last) {
  if (!is_norm(metric.kind) || !metric.scale.empty()) return false;
  require_in_box(metric, points, first, last);
  for (std::size_t k = 0; k < metric.box.size(); ++k) {
    if (!metric.box[k].closed()) continue;
    const double grain = grain_of(metric.box[k]);
    for (std::size_t row = first; row < last; ++row) {
      const double x = points.at(row, k);
      if (rounded_to(grain, x) != x && !std::isnan(x)) return false;
    }
  }
  return true;
}

void require_points(const Metric& metric, PointsView points) {
  constexpr std::size_t kRows = 1 << 12;
  require_finite(points);
  if (is_identity(metric, points, 0, points.size())) return;
  std::vector<double> scratch(std::min(kRows, points.size()) * transformed_dims(metric, points.dims()));
  for (std::size_t first = 0; first < points.size(); first += kRows) {
    transform_points(metric, points, first, std::min(points.size(), first + kRows), scratch.data());
  }
}

double box_grain(const Metric& metric, std::size_t k) {
  return k < metric.box.size() && metric.box[k].closed() ? grain_of(scaled(metric, k)) : 0;
}

Space transformed_space(const Metric& metric) {
  Space space;
  if (!is_norm(metric.kind)) return space;
  Metric of_transformed{.kind = metric.kind, .power = metric.power};
  for (std::size_t k = 0; k < metric.box.size(); ++k) {
    const BoxSide side = scaled(metric, k);
    of_transformed.box.push_back(side.closed() ? transformed(side) : side);
  }
  of_transformed = canonical(of_transformed);
  if (of_transformed.kind == MetricKind::manhattan) space.norm = Norm::manhattan;
  if (of_transformed.kind == MetricKind::chebyshev) space.norm = Norm::chebyshev;
  if (of_transformed.kind == MetricKind::minkowski) {
    space.norm = Norm::minkowski;
    space.power = of_transformed.power;
  }
  for (const BoxSide& side : of_transformed.box) space.axes.push_back({side.lo, side.hi - side.lo});
  return space;
}

namespace {

double radius_of(const Metric& metric, double eps) {
  if (on_sphere(metric.kind)) {
    const double angle = eps * radians_of(arc_unit(metric));
    return angle < pi ? 2 * std::sin(angle / 2) : kBeyondAll;
  }
  if (metric.kind == MetricKind::cosine) return eps < 2 ? std::sqrt(2 * eps) : kBeyondAll;
  return eps;
}

}  // namespace

double transformed_radius(const Metric& metric, double eps) {
  const double radius = radius_of(metric, eps);
  const Space space = transformed_space(metric);
  if (space.norm == Norm::minkowski) {
    const double limit = space.limit(radius);
    if (!(limit > 1 / kMostPower && limit < kMostPower)) {
      throw UsageError("eps " + format_number(eps) + " to the power " + format_number(space.power) +
                       " is too far from 1 for float64: bring eps near to 1 with Metric::scale");
    }
  } else if (space.norm == Norm::euclidean && !std::isnormal(space.limit(radius))) {
    throw UsageError(
        "eps " + format_number(eps) + " is too " + (radius < 1 ? "small" : "large") +
        " for float64, which holds the squares of radii from 1.5e-154 to 1.3e154: measure the points and eps in "
        "another unit");
  }
  return radius;
}

double original_distance(const Metric& metric, double distance) {
  if (on_sphere(metric.kind)) return 2 * std::asin(std::min(1.0, distance / 2)) / radians_of(arc_unit(metric));
  return metric.kind == MetricKind::cosine ? distance * distance / 2 : distance;
}

double least_eps(const Metric& metric, const Space& space, double sum) {
  if (sum == 0) return 0;
  const auto passes = [&](std::uint64_t bits) {
    return largest_sum(metric, space, std::bit_cast<double>(bits)) >= sum;
  };
  // Positive numbers are in the order of their bits. The estimate is mostly one or two numbers off.
  const double estimate = original_distance(metric, space.distance(sum));
  return std::bit_cast<double>(least_passing(std::bit_cast<std::uint64_t>(estimate), passes));
}

double largest_sum(const Metric& metric, const Space& space, double eps) { return space.limit(radius_of(metric, eps)); }

std::string describe(const Metric& metric) {
  const std::string text = describe_in_full(metric);
  return text == "euclidean" ? std::string() : text;
}

std::string describe_in_full(const Metric& given) {
  const Metric metric = canonical(given);
  std::string text(word_of(metric.kind));
  if (metric.kind == MetricKind::greatcircle) {
    return text + (metric.latitude_first ? ", latitude first" : "") + ", eps in " +
           std::string(word_of(arc_unit(metric)));
  }
  if (metric.kind == MetricKind::minkowski) text += ", p = " + format_number(metric.power);
  if (!metric.scale.empty()) text += ", scaled by";
  for (const double factor : metric.scale) text += " " + format_number(factor);
  if (!metric.box.empty()) text += ", in a box of";
  for (const BoxSide& side : metric.box) {
    text += side.closed() ? " " + format_number(side.lo) + ":" + format_number(side.hi) : " -";
  }
  return text;
}

std::string_view eps_unit(const Metric& metric) noexcept {
  return on_sphere(metric.kind) ? word_of(arc_unit(metric)) : std::string_view();
}

}  // namespace epsflow
