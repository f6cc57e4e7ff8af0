#include <epsflow/report/planes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace epsflow::report {
namespace {

constexpr std::uint32_t kLongestSide = 512;
constexpr std::uint32_t kShortestSide = 64;
/// Planes whose sides differ by a larger factor are not drawn to scale.
constexpr double kLongestRatio = 8;

/// A coordinate of a plane as a function of the point.
using Coordinate = std::function<double(std::size_t)>;

std::pair<double, double> ends_of(std::size_t n, const Coordinate& at) {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -lo;
  for (std::size_t i = 0; i < n; ++i) {
    lo = std::min(lo, at(i));
    hi = std::max(hi, at(i));
  }
  if (n == 0) return {0, 1};
  const double margin = std::max(0.5, 1e-9 * std::abs(lo));  // large enough to change lo in float64
  return lo < hi ? std::pair(lo, hi) : std::pair(lo - margin, hi + margin);
}

std::uint32_t pixel_along(double value, const Axis& axis, std::uint32_t side) {
  // The halves avoid overflow if the width of the axis exceeds float64.
  const double position = (value / 2 - axis.from / 2) / (axis.to / 2 - axis.from / 2) * side;
  return static_cast<std::uint32_t>(std::clamp(position, 0.0, side - 1.0));
}

/// x_per_y: the length of a step along x relative to one along y; 0 if the two are not comparable.
Plane plane_of(std::size_t n, Axis x, const Coordinate& at_x, Axis y, const Coordinate& at_y, double x_per_y) {
  std::tie(x.from, x.to) = ends_of(n, at_x);
  std::tie(y.from, y.to) = ends_of(n, at_y);
  const double ratio = (x.to - x.from) * x_per_y / (y.to - y.from);
  const bool to_scale = ratio >= 1 / kLongestRatio && ratio <= kLongestRatio;
  const double shape = to_scale ? ratio : 1;
  std::uint32_t side = kShortestSide;
  while (side < kLongestSide && std::uint64_t{side} * side < 16 * std::uint64_t{n}) side *= 2;
  const auto scaled = [&](double part) { return std::max(1U, static_cast<std::uint32_t>(std::lround(side * part))); };
  const std::uint32_t width = scaled(std::min(1.0, shape));
  const std::uint32_t height = y.name.empty() ? 1 : scaled(std::min(1.0, 1 / shape));
  std::vector<std::uint32_t> pixels(n);
  for (std::size_t i = 0; i < n; ++i) {
    pixels[i] = pixel_along(at_y(i), y, height) * width + pixel_along(at_x(i), x, width);
  }
  return {std::move(x), std::move(y), to_scale, {}, Raster(width, height, pixels)};
}

/// The two directions of the largest variance, and the fraction of the variance along each.
struct PrincipalAxes {
  std::array<std::vector<double>, 2> direction;
  std::array<double, 2> part{};
};

/// Returns every `step`th point, transformed and relative to the mean of the sample. [rows × d]
std::vector<double> centred_sample(PointsView points, const Metric& metric, std::size_t step) {
  const std::size_t d = points.dims();
  std::vector<double> rows;
  for (std::size_t i = 0; i < points.size(); i += step) {
    rows.resize(rows.size() + d);
    transform_points(metric, points, i, i + 1, rows.data() + rows.size() - d);
  }
  std::vector<double> mean(d);
  for (std::size_t i = 0; i < rows.size(); ++i) mean[i % d] += rows[i];
  for (double& value : mean)
    value *= static_cast<double>(d) / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] -= mean[i % d];
  return rows;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Uses power iteration over a sample of at most 4,000 points, which is enough for a picture.
PrincipalAxes components_of(PointsView points, const Metric& metric) {
  const std::size_t d = points.dims();
  const std::vector<double> rows = centred_sample(points, metric, points.size() / 4000 + 1);
  const double total = dot(rows, rows);
  PrincipalAxes found;
  for (std::size_t c = 0; c < 2; ++c) {
    std::vector<double>& v = found.direction[c];
    v.resize(d);
    for (std::size_t k = 0; k < d; ++k) v[k] = 1 + 0.1 * static_cast<double>((k * 7 + c * 3) % 11);
    double strength = 0;
    for (int iteration = 0; iteration < 60; ++iteration) {
      if (c == 1) {
        const double along = dot(v, found.direction[0]);
        for (std::size_t k = 0; k < d; ++k) v[k] -= along * found.direction[0][k];
      }
      const double length = std::sqrt(dot(v, v));
      if (length == 0) break;
      for (double& value : v) value /= length;
      std::vector<double> next(d);
      strength = 0;
      for (std::size_t row = 0; row < rows.size(); row += d) {
        const std::span<const double> point(rows.data() + row, d);
        const double along = dot(point, v);
        strength += along * along;
        for (std::size_t k = 0; k < d; ++k) next[k] += along * point[k];
      }
      if (strength == 0 || iteration == 59) break;
      v = std::move(next);
    }
    found.part[c] = total > 0 ? strength / total : 0;
  }
  return found;
}

Plane principal_plane(PointsView points, const Metric& metric) {
  const PrincipalAxes found = components_of(points, metric);
  std::array<std::vector<double>, 2> along;
  std::vector<double> moved(points.dims());
  for (std::size_t i = 0; i < points.size(); ++i) {
    transform_points(metric, points, i, i + 1, moved.data());
    for (std::size_t c = 0; c < 2; ++c) along[c].push_back(dot(moved, found.direction[c]));
  }
  const auto axis = [&](std::size_t c) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "component %zu (%.0f %% of the variance)", c + 1, 100 * found.part[c]);
    return Axis{text.data(), {}};
  };
  Plane plane = plane_of(
      points.size(), axis(0), [&](std::size_t i) { return along[0][i]; }, axis(1),
      [&](std::size_t i) { return along[1][i]; }, 1);
  plane.note = "The plane of the two principal components of all " + std::to_string(points.dims()) + " coordinates.";
  return plane;
}

}  // namespace

std::string name_of(const Columns& columns, const Metric& metric, std::size_t dims, std::size_t k) {
  if (columns.names.size() == dims && !columns.names[k].empty()) return columns.names[k];
  if (on_sphere(metric.kind)) return (k == 0) == latitude_comes_first(metric) ? "latitude" : "longitude";
  return dims <= 3 ? std::string(1, "xyz"[k]) : "x" + std::to_string(k);
}

std::string unit_of(const Columns& columns, const Metric& metric, std::size_t k) {
  if (on_sphere(metric.kind)) return in_radians(metric.kind) ? "rad" : "°";
  return k < columns.units.size() ? columns.units[k] : "";
}

std::vector<Plane> planes_of(PointsView points, const Metric& metric, const Columns& columns) {
  const std::size_t d = points.dims();
  const std::size_t n = points.size();
  std::vector<Plane> planes;
  if (d > 3) {
    planes.push_back(principal_plane(points, metric));
    return planes;
  }
  const auto axis = [&](std::size_t k) { return Axis{name_of(columns, metric, d, k), unit_of(columns, metric, k)}; };
  const auto along = [&](std::size_t k) { return [points, k](std::size_t i) { return points.at(i, k); }; };
  if (d == 1) {
    planes.push_back(plane_of(
        n, axis(0), along(0), {}, [](std::size_t) { return 0.0; }, 0));
    return planes;
  }
  if (on_sphere(metric.kind)) {
    const std::size_t latitude = latitude_comes_first(metric) ? 0 : 1;
    const auto [south, north] = ends_of(n, along(latitude));
    const double radian = in_radians(metric.kind) ? 1 : std::numbers::pi / 180;
    const double shrunk = std::cos(std::clamp((south + north) / 2 * radian, -1.3, 1.3));
    planes.push_back(plane_of(n, axis(1 - latitude), along(1 - latitude), axis(latitude), along(latitude), shrunk));
    return planes;
  }
  const auto factor = [&](std::size_t k) { return metric.scale.empty() ? 1.0 : metric.scale[k]; };
  for (std::size_t y = 1; y < d; ++y) {
    for (std::size_t x = 0; x < y; ++x) {
      planes.push_back(plane_of(n, axis(x), along(x), axis(y), along(y), factor(x) / factor(y)));
    }
  }
  return planes;
}

}  // namespace epsflow::report
