// Metrics: the definition of distance that the caller chooses.
//
// The neighbour search handles only the spaces of core/space.hpp: four norms, with or without periodic axes. So points
// are first transformed: the operations below turn each point p into a transformed point p', and eps into a
// radius r. q is a neighbour of p if p' and q' are within r of each other, by the rule in core/space.hpp. These are the
// right neighbours, because the metric grows strictly with the distance of the transformed points. Points are
// transformed on the host, in float64; float32 is widened first.
//
//   euclidean    p'_k = p_k · scale_k, rounded once; r = eps. Without scales points stay as they are.
//                In a periodic box differences go the shorter way round. The ends of the box are scaled as the points
//                are. Then coordinates and ends are rounded to whole multiples of a small power of two, so that
//                differences are exact (see core/space.hpp). Let m be the largest absolute coordinate that a point can
//                have once it is shifted by one length of the side, up or down. The power of two is at most 2^-52 of m.
//                Engine::load() and runs refuse a box in which that is too coarse (core/box_fit.hpp).
//   manhattan, chebyshev, minkowski  As euclidean, but by another norm.
//   greatcircle  Points become unit vectors: p' = (cos φ cos λ, cos φ sin λ, sin φ), with longitude λ and latitude φ.
//                Two of them at the angle α have the distance 2·sin(α/2), so r = 2·sin(eps/2). From eps = 180° on all
//                points are neighbours. Each coordinate is off by about 2^-52. So the angle of a pair at the distance
//                eps is off by about 3e-16 / cos(eps/2) radians, which is less than 1e-12 for eps up to 179.9°.
//   haversine    As greatcircle, for latitude and longitude in radians, as in scikit-learn's metric of that name.
//   cosine       p' = p / ‖p‖; the distance 1 − cos ∠(p, q) is half the squared distance of these, so r = √(2·eps).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/core/choices.hpp>
#include <epsflow/core/option.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow {

enum class MetricKind : std::uint8_t {
  euclidean,
  greatcircle,  ///< longitude (-360 to 720) and latitude (-90 to 90) in degrees
  haversine,    ///< latitude (-π/2 to π/2) and longitude (-2π to 4π), in this order and in radians; eps in radians
  cosine,       ///< 1 − the cosine of the angle between two vectors
  manhattan,    ///< the sum of the differences
  chebyshev,    ///< the largest of the differences
  minkowski,    ///< the p-th root of the sum of the p-th powers of the differences
};
/// The last three words are other names of manhattan and euclidean, which scikit-learn has, too.
template <>
struct Choice<MetricKind> {
  static constexpr std::string_view kType = "MetricKind";
  static constexpr std::array kWords{
      Word{"euclidean", MetricKind::euclidean}, Word{"greatcircle", MetricKind::greatcircle},
      Word{"haversine", MetricKind::haversine}, Word{"cosine", MetricKind::cosine},
      Word{"manhattan", MetricKind::manhattan}, Word{"chebyshev", MetricKind::chebyshev},
      Word{"minkowski", MetricKind::minkowski}, Word{"l1", MetricKind::manhattan},
      Word{"cityblock", MetricKind::manhattan}, Word{"l2", MetricKind::euclidean}};
};

/// Returns true if points are longitudes and latitudes.
[[nodiscard]] constexpr bool on_sphere(MetricKind kind) noexcept {
  return kind == MetricKind::greatcircle || kind == MetricKind::haversine;
}
/// Returns true if longitudes, latitudes and eps are in radians.
[[nodiscard]] constexpr bool in_radians(MetricKind kind) noexcept { return kind == MetricKind::haversine; }

/// The unit of eps for greatcircle.
enum class ArcUnit : std::uint8_t { degree, arcminute, arcsecond, radian, kilometre };
template <>
struct Choice<ArcUnit> {
  static constexpr std::string_view kType = "ArcUnit";
  static constexpr std::array kWords{Word{"deg", ArcUnit::degree}, Word{"arcmin", ArcUnit::arcminute},
                                     Word{"arcsec", ArcUnit::arcsecond}, Word{"rad", ArcUnit::radian},
                                     Word{"km", ArcUnit::kilometre}};
};

/// Radius of the earth in kilometres: the mean (2a + b)/3 of the ellipsoid's axes (GRS 80).
inline constexpr double kEarthRadius = 6371.0088;

/// Returns one `unit` in radians. A kilometre is measured along a great circle of the earth.
[[nodiscard]] double radians_of(ArcUnit unit) noexcept;

/// One side of a periodic box. Closed: coordinates lie from lo to hi, and lo and hi are the same point. Open, if lo =
/// hi: the space is not periodic along this coordinate.
struct BoxSide {
  double lo = 0;
  double hi = 0;
  [[nodiscard]] bool closed() const noexcept { return lo != hi; }
  friend bool operator==(const BoxSide&, const BoxSide&) = default;
};

struct Metric {
  MetricKind kind = MetricKind::euclidean;
  /// For the norms (euclidean, manhattan, chebyshev, minkowski): a factor for each column, greater than 0, by which its
  /// coordinates are multiplied first. Empty: every factor is 1. With factors, columns of different kinds, such as
  /// position and time, count in one distance.
  std::vector<double> scale = {};
  /// Great circle: the unit of eps. Kilometres are on the earth.
  ArcUnit unit = ArcUnit::degree;
  /// Great circle: the columns are latitude and longitude, in this order; else the reverse. Haversine: always latitude
  /// first.
  bool latitude_first = false;
  /// Minkowski: p, at least 1; infinity is chebyshev.
  double power = 2;
  /// For the norms: the periodic box, one side for each column, in the unit before `scale`. Empty: not periodic.
  std::vector<BoxSide> box = {};

  friend bool operator==(const Metric&, const Metric&) = default;
};
template <>
std::span<const Option<Metric>> options_of<Metric>() noexcept;

/// Returns true if the first column is the latitude, on a sphere.
[[nodiscard]] inline bool latitude_comes_first(const Metric& metric) noexcept {
  return in_radians(metric.kind) || metric.latitude_first;
}

/// Throws UsageError if the metric does not fit points of `dims` dimensions, if a field has an invalid value, or if a
/// field is set that its kind does not use.
void check_metric(const Metric& metric, std::size_t dims);

/// Returns the same metric in its simplest form. Minkowski with the power 1, 2 or infinity becomes manhattan, euclidean
/// or chebyshev. Factors are dropped if all are 1, and a box without closed sides. metric: accepted by check_metric().
[[nodiscard]] Metric canonical(Metric metric);

/// Returns the dimensions of transformed points.
[[nodiscard]] std::size_t transformed_dims(const Metric& metric, std::size_t dims) noexcept;

/// Transforms the points [first, last) and writes them to `out`: [(last − first) × transformed_dims], row-major.
/// O((last − first) · d). Throws InputError that names row, column and value
///   of a coordinate that is NaN or infinite, or becomes infinite when it is scaled,
///   of a longitude or latitude out of range, and
///   of a coordinate outside the box;
/// and InputError that names the row of a zero vector, which has no direction (cosine).
void transform_points(const Metric& metric, PointsView points, std::size_t first, std::size_t last, double* out);

/// Returns true if the transformation leaves the points [first, last) unchanged, so that they can be searched as they
/// are. Returns false without a check of points if the metric has factors or is not a norm. Otherwise throws InputError
/// naming row, column and value of a coordinate outside the box. Does not check for NaN: Engine::load() and predict()
/// do. O(1) without a box, else O((last − first) · d).
[[nodiscard]] bool is_identity(const Metric& metric, PointsView points, std::size_t first, std::size_t last);

/// Throws InputError as transform_points() does if a point is invalid. O(n · d), without a copy of the points.
void require_points(const Metric& metric, PointsView points);

/// Returns the grain of column k: the power of two to whose multiples scaled coordinates are rounded in a periodic box.
/// 0 without a box, or if that side of the box is open.
[[nodiscard]] double box_grain(const Metric& metric, std::size_t k);

/// Returns the space of the transformed points.
[[nodiscard]] Space transformed_space(const Metric& metric);

/// Converts eps to the radius among transformed points. Distances are compared by the radius itself for manhattan and
/// chebyshev, by its power for minkowski, else by its square. Throws UsageError if this power or square is too large or
/// too small for float64: pairs that are too far apart would then count as neighbours.
[[nodiscard]] double transformed_radius(const Metric& metric, double eps);
/// Converts a distance of transformed points to the unit of eps: the inverse of transformed_radius().
[[nodiscard]] double original_distance(const Metric& metric, double distance);

/// Returns the smallest eps at which a pair passes the distance test, up to the rounding of std::sin and std::pow. sum:
/// left-hand side of the rule in core/space.hpp for the transformed points, finite. 0 for 0.
[[nodiscard]] double least_eps(const Metric& metric, const Space& space, double sum);

/// Returns the right-hand side of the rule in core/space.hpp for an eps: the largest sum that passes the distance test.
/// Unlike transformed_radius() it accepts any eps, such as a result of least_eps().
[[nodiscard]] double largest_sum(const Metric& metric, const Space& space, double eps);

/// Returns the metric in words, as in `greatcircle, eps in km`, to distinguish results of different metrics. Empty for
/// the plain Euclidean distance, without factors and without a box.
[[nodiscard]] std::string describe(const Metric& metric);
/// Returns describe(), but `euclidean` for the plain Euclidean distance.
[[nodiscard]] std::string describe_in_full(const Metric& metric);
/// Returns the name of the unit of eps, such as `km`. Empty for norms (the unit of the coordinates) and cosine (none).
[[nodiscard]] std::string_view eps_unit(const Metric& metric) noexcept;

}  // namespace epsflow
