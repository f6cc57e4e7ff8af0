// Metrics: what distance is, as the caller says it.
//
// Each is a strictly growing function of a distance of moved points in a space of core/space.hpp, so that a search of these with
// a radius of its own finds the same neighbours. The rule: points are moved by the operations below in float64, float32
// widened first, on the host; from there on q is a neighbour of p by the rule of the space, with the radius r of eps.
//
//   euclidean    p'_k = p_k · scale_k, rounded once; r = eps. Without scales points stay as they are. In a box, whose ends are
//                scaled likewise, coordinates and ends are rounded to whole multiples of a power of two, at most 2^-52 of
//                where images end (core/space.hpp says why), and distances go the shorter way round.
//   manhattan, chebyshev, minkowski  The same by another norm.
//   greatcircle  Unit vectors: p' = (cos φ cos λ, cos φ sin λ, sin φ). Two of them at the angle α have the distance 2·sin(α/2),
//                so r = 2·sin(eps/2), and from eps = 180° on everything is near. Each coordinate is off by 2^-52 or so, and a
//                computed distance with them, which is an angle of 3e-16 divided by cos(eps/2): short of 179.9° less than 1e-12.
//   haversine    The same of latitude and longitude in radians, as scikit-learn's metric of that name takes them.
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
  haversine,    ///< latitude and longitude, in this order and in radians, of the same ranges; eps in radians
  cosine,       ///< 1 − the cosine of the angle between two vectors
  manhattan,    ///< the sum of the differences
  chebyshev,    ///< the largest of the differences
  minkowski,    ///< the p-th root of the sum of their p-th powers
};
/// The names of scikit-learn for the same stand behind.
template <>
struct Choice<MetricKind> {
  static constexpr std::string_view type = "MetricKind";
  static constexpr std::array words{
      Word{"euclidean", MetricKind::euclidean}, Word{"greatcircle", MetricKind::greatcircle},
      Word{"haversine", MetricKind::haversine}, Word{"cosine", MetricKind::cosine},
      Word{"manhattan", MetricKind::manhattan}, Word{"chebyshev", MetricKind::chebyshev},
      Word{"minkowski", MetricKind::minkowski}, Word{"l1", MetricKind::manhattan},
      Word{"cityblock", MetricKind::manhattan}, Word{"l2", MetricKind::euclidean}};
};

/// What eps of a great circle counts.
enum class ArcUnit : std::uint8_t { degree, arcminute, arcsecond, radian, kilometre };
template <>
struct Choice<ArcUnit> {
  static constexpr std::string_view type = "ArcUnit";
  static constexpr std::array words{Word{"deg", ArcUnit::degree}, Word{"arcmin", ArcUnit::arcminute},
                                    Word{"arcsec", ArcUnit::arcsecond}, Word{"rad", ArcUnit::radian},
                                    Word{"km", ArcUnit::kilometre}};
};

/// Of the earth, in kilometres: the mean (2a + b)/3 of the ellipsoid's axes (GRS 80).
inline constexpr double kEarthRadius = 6371.0088;

/// One unit of eps.
[[nodiscard]] double radians_of(ArcUnit unit) noexcept;

/// One side of a periodic box: coordinates lie from lo to hi, and what leaves at one end comes in at the other. lo = hi: this
/// side is open.
struct BoxSide {
  double lo = 0;
  double hi = 0;
  [[nodiscard]] bool closed() const noexcept { return lo != hi; }
  friend bool operator==(const BoxSide&, const BoxSide&) = default;
};

struct Metric {
  MetricKind kind = MetricKind::euclidean;
  /// Of norms (euclidean, manhattan, chebyshev, minkowski): a factor for each column, greater than 0; empty for 1. So time and
  /// space count together.
  std::vector<double> scale = {};
  /// Great circle: the unit of eps. Kilometres are on the earth.
  ArcUnit unit = ArcUnit::degree;
  /// Great circle: the columns are latitude and longitude, and not longitude and latitude. Haversine: they are so in any case.
  bool latitude_first = false;
  /// Minkowski: p, at least 1; infinity is chebyshev.
  double power = 2;
  /// Of norms: a side for each column, in the unit of the points, as they are before scale; empty for a space without end.
  std::vector<BoxSide> box = {};

  friend bool operator==(const Metric&, const Metric&) = default;
};
template <>
std::span<const Option<Metric>> options_of<Metric>() noexcept;

/// Throws UsageError where points of so many dimensions have no such metric, or one of its figures is none.
void check_metric(const Metric& metric, std::size_t dims);

/// The same metric in its simplest form: minkowski of 1, 2 or infinity by its name, and neither factors that are all 1 nor a box
/// without a closed side. For those that check_metric() accepts.
[[nodiscard]] Metric canonical(Metric metric);

/// Dimensions of moved points.
[[nodiscard]] std::size_t moved_dims(const Metric& metric, std::size_t dims) noexcept;

/// Points first … last, moved. out: [last − first × moved_dims]. O((last − first) · d). Throws InputError naming row, column and
/// value of a coordinate that is NaN or infinite or becomes so, of a longitude or latitude out of range or a place outside the
/// box, and the row of a vector without direction.
void move_points(const Metric& metric, PointsView points, std::size_t first, std::size_t last, double* out);

/// Whether points first … last are searched as they are, as moving them would change nothing. Throws InputError naming row,
/// column and value of a coordinate outside the box; what is NaN passes. O(1) without a box.
[[nodiscard]] bool stay(const Metric& metric, PointsView points, std::size_t first, std::size_t last);

/// The space of the moved points.
[[nodiscard]] Space moved_space(const Metric& metric);
/// A metric by which points that are moved already are searched where they are, in the same space.
[[nodiscard]] Metric metric_of_moved(const Metric& metric);

/// The radius that eps is among moved points. Throws UsageError where its square or power, which distances are compared with, is
/// beyond float64: every pair would be one of neighbours.
[[nodiscard]] double moved_radius(const Metric& metric, double eps);
/// What a distance in their space is, in the unit of eps.
[[nodiscard]] double distance_of_moved(const Metric& metric, double distance);

/// As in `greatcircle, eps in km`: what tells results of one metric from those of another. Empty for straight lines.
[[nodiscard]] std::string describe(const Metric& metric);
/// The same, and `euclidean` for straight lines.
[[nodiscard]] std::string describe_in_full(const Metric& metric);
/// As in `km`; empty where eps is in the unit of the points, or has none.
[[nodiscard]] std::string_view eps_unit(const Metric& metric) noexcept;

}  // namespace epsflow
