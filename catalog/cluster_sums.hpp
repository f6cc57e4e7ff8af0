// The sums of a catalogue over the points of each cluster: one definition for host and kernels. The sums for points on
// a sphere are in sky_sums.hpp.
//
// Each kind of sum has a Row. A row starts as empty(), adds points with add() and other rows with combine(), and
// finish() writes the results of the cluster. Host and device differ only in the order in which they add points.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

#include <epsflow/core/host_device.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::sums {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::uint64_t kNoPoint = ~std::uint64_t{0};
/// A mean direction shorter than this does not count as one: the points lie evenly all round.
inline constexpr double kEven = 1e-9;

/// The cluster whose points are summed.
struct Cluster {
  std::size_t number = 0;   ///< its entry in the catalogue
  std::uint64_t size = 0;   ///< the number of points
  std::uint32_t first = 0;  ///< the smallest id of a point
};

[[nodiscard]] EPSFLOW_HOST_DEVICE inline double least(double a, double b) noexcept { return b < a ? b : a; }
[[nodiscard]] EPSFLOW_HOST_DEVICE inline double most(double a, double b) noexcept { return a < b ? b : a; }

/// Returns a power of two such that the square of x times this power is in the range of float64. Returns 1 unless x is
/// extreme, because the squares of other numbers are in that range anyway.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline double unit_of(double x) noexcept {
  if (!(x > 0) || (x > 0x1p-200 && x < 0x1p200)) return 1;
  const int exponent = std::ilogb(x);
  return std::ldexp(1.0, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
}

/// Computes the share of a point in the means of its cluster.
struct Shares {
  const double* weights = nullptr;  ///< [n]; null: all points have equal weight
  const double* totals = nullptr;   ///< [clusters] the sums of the weights

  [[nodiscard]] EPSFLOW_HOST_DEVICE double of(const Cluster& cluster, std::uint32_t i) const noexcept {
    if (weights != nullptr && totals[cluster.number] > 0) return weights[i] / totals[cluster.number];
    return 1 / static_cast<double>(cluster.size);
  }
};

/// Counts core points and sums weights.
struct Counts {
  struct Row {
    std::uint64_t core = 0;
    std::uint64_t first_core = kNoPoint;
    double weight = 0;
  };
  const std::uint8_t* core = nullptr;   ///< [n]; null if unknown
  const double* weights = nullptr;      ///< [n]; null if there are none
  std::uint64_t* cores = nullptr;       ///< [clusters] the numbers of core points, if these are known
  std::uint64_t* first_core = nullptr;  ///< [clusters] their smallest ids, if known; kNoPoint without a core point
  double* totals = nullptr;             ///< [clusters] the sums of the weights, if there are weights

  [[nodiscard]] EPSFLOW_HOST_DEVICE Row empty() const noexcept { return {}; }
  EPSFLOW_HOST_DEVICE void add(Row& row, const Cluster&, std::uint32_t i) const noexcept {
    if (core != nullptr && core[i] != 0) {
      ++row.core;
      if (i < row.first_core) row.first_core = i;
    }
    if (weights != nullptr) row.weight += weights[i];
  }
  EPSFLOW_HOST_DEVICE void combine(Row& row, const Row& other) const noexcept {
    row.core += other.core;
    if (other.first_core < row.first_core) row.first_core = other.first_core;
    row.weight += other.weight;
  }
  EPSFLOW_HOST_DEVICE void finish(const Cluster& cluster, const Row& row) const noexcept {
    if (core != nullptr) {
      cores[cluster.number] = row.core;
      first_core[cluster.number] = row.first_core;
    }
    if (weights != nullptr) totals[cluster.number] = row.weight;
  }
};

/// Computes the statistics of one column. NaN values are ignored.
struct ColumnSums {
  struct Row {
    double sum = 0;
    double weighted = 0;  ///< the sum of weight · value
    double weight = 0;
    double min = kInfinity;
    double max = -kInfinity;
    std::uint64_t count = 0;
  };
  const double* values = nullptr;   ///< [n]
  const double* weights = nullptr;  ///< [n] the weights of the mean; null, or all 0 in a cluster: equal weights
  double* mean = nullptr;           ///< [clusters], as the next three are
  double* sum = nullptr;
  double* min = nullptr;
  double* max = nullptr;

  [[nodiscard]] EPSFLOW_HOST_DEVICE Row empty() const noexcept { return {}; }
  EPSFLOW_HOST_DEVICE void add(Row& row, const Cluster&, std::uint32_t i) const noexcept {
    const double value = values[i];
    if (value != value) return;
    row.sum += value;
    if (weights != nullptr) {
      row.weighted += weights[i] * value;
      row.weight += weights[i];
    }
    row.min = least(row.min, value);
    row.max = most(row.max, value);
    ++row.count;
  }
  EPSFLOW_HOST_DEVICE void combine(Row& row, const Row& other) const noexcept {
    row.sum += other.sum;
    row.weighted += other.weighted;
    row.weight += other.weight;
    row.min = least(row.min, other.min);
    row.max = most(row.max, other.max);
    row.count += other.count;
  }
  EPSFLOW_HOST_DEVICE void finish(const Cluster& cluster, const Row& row) const noexcept {
    const bool some = row.count > 0;
    sum[cluster.number] = row.sum;
    mean[cluster.number] = row.weight > 0 ? row.weighted / row.weight
                           : some         ? row.sum / static_cast<double>(row.count)
                                          : kNothing;
    min[cluster.number] = some ? row.min : kNothing;
    max[cluster.number] = some ? row.max : kNothing;
  }
};

/// The input and output of the sums of coordinates: the points, their metric, results, and intermediate results. The
/// pointers lead to memory that the reader can access, on the host or on a device.
template <class T>
struct Measured {
  const T* points = nullptr;  ///< [n × d]
  std::size_t dims = 0;
  Shares shares;

  // The parameters of the metric.
  const double* low = nullptr;    ///< [d] the lower ends of the box, or null; equal to `high` if the side is open
  const double* high = nullptr;   ///< [d] the upper ends of the box, or null
  const double* scale = nullptr;  ///< [d] the factors of the metric, or null
  Norm norm = Norm::euclidean;
  double power = 2;
  bool cosine = false;

  double* references = nullptr;  ///< [clusters × d] the origins of the differences; null without a box
  /// [clusters × d] if there is a box: 1 if the cluster has no mean direction along this closed side, else 0
  std::uint8_t* goes_round = nullptr;
  /// [clusters × d] the means of the differences; on a sphere the longitudes and latitudes of the centres, in radians
  double* means = nullptr;

  /// The lists of Catalog. For norms, Means leaves intermediate values for Spreads in two of them. In `spread` it
  /// leaves the factor by which differences along an axis are multiplied before they are squared (see unit_of()). In
  /// `radius` it leaves the largest extent of the cluster along an axis, times the scale of the axis (0 for cosine).
  double* center = nullptr;
  double* spread = nullptr;
  double* lower = nullptr;
  double* upper = nullptr;
  double* radius = nullptr;

  [[nodiscard]] EPSFLOW_HOST_DEVICE double at(std::uint32_t i, std::size_t k) const noexcept {
    return static_cast<double>(points[i * dims + k]);
  }
  [[nodiscard]] EPSFLOW_HOST_DEVICE double period(std::size_t k) const noexcept {
    return low != nullptr ? high[k] - low[k] : 0;
  }
  /// Returns the origin of the differences: the first point of the cluster, or the mean direction on a closed side that
  /// has one.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double reference(const Cluster& cluster, std::size_t k) const noexcept {
    return references != nullptr ? references[cluster.number * dims + k] : at(cluster.first, k);
  }
  /// Returns the difference of a point from the reference, taken the shorter way round on a closed side.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double difference(const Cluster& cluster, std::uint32_t i,
                                                      std::size_t k) const noexcept {
    const double away = at(i, k) - reference(cluster, k);
    const double length = period(k);
    return length > 0 ? away - length * std::round(away / length) : away;
  }
};

/// Computes Measured::references and goes_round: the mean directions on closed sides. Does this for up to G axes
/// starting at `axis`. Needed only if the metric has a box, and then before Means.
template <class T, unsigned G>
struct Directions {
  struct Row {
    double cosine[G];
    double sine[G];
  };
  Measured<T> of;
  std::size_t axis = 0;

  [[nodiscard]] EPSFLOW_HOST_DEVICE Row empty() const noexcept {
    Row row;
    for (unsigned k = 0; k < G; ++k) row.cosine[k] = row.sine[k] = 0;
    return row;
  }
  EPSFLOW_HOST_DEVICE void add(Row& row, const Cluster& cluster, std::uint32_t i) const noexcept {
    const double share = of.shares.of(cluster, i);
    for (unsigned k = 0; k < G; ++k) {
      if (axis + k >= of.dims || of.period(axis + k) <= 0) continue;
      const double angle = 2 * std::numbers::pi * (of.at(i, axis + k) - of.low[axis + k]) / of.period(axis + k);
      row.cosine[k] += share * std::cos(angle);
      row.sine[k] += share * std::sin(angle);
    }
  }
  EPSFLOW_HOST_DEVICE void combine(Row& row, const Row& other) const noexcept {
    for (unsigned k = 0; k < G; ++k) {
      row.cosine[k] += other.cosine[k];
      row.sine[k] += other.sine[k];
    }
  }
  EPSFLOW_HOST_DEVICE void finish(const Cluster& cluster, const Row& row) const noexcept {
    for (unsigned k = 0; k < G; ++k) {
      if (axis + k >= of.dims) continue;
      const std::size_t to = cluster.number * of.dims + axis + k;
      const bool closed = of.period(axis + k) > 0;
      const bool even = closed && std::hypot(row.cosine[k], row.sine[k]) < kEven;
      of.goes_round[to] = even ? 1 : 0;
      of.references[to] = of.at(cluster.first, axis + k);
      if (!closed || even) continue;
      const double turn = std::atan2(row.sine[k], row.cosine[k]) / (2 * std::numbers::pi);
      of.references[to] = of.low[axis + k] + turn * of.period(axis + k);
    }
  }
};

/// Computes center, lower and upper of the catalogue, for up to G axes starting at `axis`. Also computes the values
/// that Spreads needs: means, and the intermediate values in spread and radius.
template <class T, unsigned G>
struct Means {
  struct Row {
    double mean[G];
    double lower[G];
    double upper[G];
  };
  Measured<T> of;
  std::size_t axis = 0;

  [[nodiscard]] EPSFLOW_HOST_DEVICE Row empty() const noexcept {
    Row row;
    for (unsigned k = 0; k < G; ++k) {
      row.mean[k] = 0;
      row.lower[k] = kInfinity;
      row.upper[k] = -kInfinity;
    }
    return row;
  }
  EPSFLOW_HOST_DEVICE void add(Row& row, const Cluster& cluster, std::uint32_t i) const noexcept {
    const double share = of.shares.of(cluster, i);
    for (unsigned k = 0; k < G; ++k) {
      if (axis + k >= of.dims) continue;
      const double away = of.difference(cluster, i, axis + k);
      row.mean[k] += share * away;
      // On open sides the ends are the coordinates themselves, so they are exact.
      const double end = of.period(axis + k) > 0 ? away : of.at(i, axis + k);
      row.lower[k] = least(row.lower[k], end);
      row.upper[k] = most(row.upper[k], end);
    }
  }
  EPSFLOW_HOST_DEVICE void combine(Row& row, const Row& other) const noexcept {
    for (unsigned k = 0; k < G; ++k) {
      row.mean[k] += other.mean[k];
      row.lower[k] = least(row.lower[k], other.lower[k]);
      row.upper[k] = most(row.upper[k], other.upper[k]);
    }
  }
  EPSFLOW_HOST_DEVICE void finish(const Cluster& cluster, const Row& row) const noexcept {
    for (unsigned k = 0; k < G; ++k) {
      if (axis + k >= of.dims) continue;
      const std::size_t to = cluster.number * of.dims + axis + k;
      const double length = of.period(axis + k);
      const double reference = of.reference(cluster, axis + k);
      const double mean = length > 0 && of.goes_round[to] != 0 ? 0 : row.mean[k];
      of.means[to] = mean;
      // On a closed side, the mean direction has an error that is proportional to the length of the side.
      const double extent = most(row.upper[k] - row.lower[k], length * 0x1p-50);
      of.spread[to] = unit_of(extent);
      const double scaled = of.cosine ? 0 : extent * (of.scale != nullptr ? of.scale[axis + k] : 1);
      of.radius[cluster.number] = axis + k == 0 ? scaled : most(of.radius[cluster.number], scaled);
      of.center[to] = reference + mean;
      of.lower[to] = (length > 0 ? reference : 0) + row.lower[k];
      of.upper[to] = (length > 0 ? reference : 0) + row.upper[k];
      // Moves centre and ends by whole turns of the side, so that the centre is in the box.
      if (length <= 0) continue;
      double turns = std::floor((of.center[to] - of.low[axis + k]) / length);
      if (of.center[to] - turns * length >= of.high[axis + k]) ++turns;  // if rounding reached the end
      of.center[to] -= turns * length;
      of.lower[to] -= turns * length;
      of.upper[to] -= turns * length;
    }
  }
};

/// Computes spread of the catalogue, for up to G axes starting at `axis`, and radius if `axis` is 0. Means must have
/// run for all axes before.
template <class T, unsigned G>
struct Spreads {
  struct Row {
    double square[G];
    double radius;
  };
  Measured<T> of;
  std::size_t axis = 0;

  [[nodiscard]] EPSFLOW_HOST_DEVICE Row empty() const noexcept {
    Row row;
    for (unsigned k = 0; k < G; ++k) row.square[k] = 0;
    row.radius = 0;
    return row;
  }
  EPSFLOW_HOST_DEVICE void add(Row& row, const Cluster& cluster, std::uint32_t i) const noexcept {
    const double share = of.shares.of(cluster, i);
    for (unsigned k = 0; k < G; ++k) {
      if (axis + k >= of.dims) continue;
      const double away = from_center(cluster, i, axis + k) * of.spread[cluster.number * of.dims + axis + k];
      row.square[k] += share * away * away;
    }
    if (axis > 0) return;
    const double distance = of.cosine ? cosine_distance(cluster, i) : norm_distance(cluster, i);
    row.radius += share * distance * distance;
  }
  EPSFLOW_HOST_DEVICE void combine(Row& row, const Row& other) const noexcept {
    for (unsigned k = 0; k < G; ++k) row.square[k] += other.square[k];
    row.radius += other.radius;
  }
  EPSFLOW_HOST_DEVICE void finish(const Cluster& cluster, const Row& row) const noexcept {
    for (unsigned k = 0; k < G; ++k) {
      if (axis + k >= of.dims) continue;
      double& spread = of.spread[cluster.number * of.dims + axis + k];
      spread = std::sqrt(row.square[k]) / spread;
    }
    double& radius = of.radius[cluster.number];
    if (axis == 0) radius = std::sqrt(row.radius) / unit_of(radius);
  }

 private:
  [[nodiscard]] EPSFLOW_HOST_DEVICE double from_center(const Cluster& cluster, std::uint32_t i,
                                                       std::size_t k) const noexcept {
    return of.difference(cluster, i, k) - of.means[cluster.number * of.dims + k];
  }

  /// Returns the term of an axis in the distance rule of core/space.hpp, times `unit`.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double along(const Cluster& cluster, std::uint32_t i, std::size_t k,
                                                 double unit) const noexcept {
    double t = std::fabs(from_center(cluster, i, k));
    if (of.period(k) > 0) t = least(t, std::fabs(of.period(k) - t));
    if (of.scale != nullptr) t *= of.scale[k];
    return t * unit;
  }

  /// Returns the distance of point i from the centre, times unit_of(the largest extent of the cluster).
  [[nodiscard]] EPSFLOW_HOST_DEVICE double norm_distance(const Cluster& cluster, std::uint32_t i) const noexcept {
    const double unit = unit_of(of.radius[cluster.number]);
    double sum = 0;
    for (std::size_t k = 0; k < of.dims; ++k) {
      const double t = along(cluster, i, k, unit);
      if (of.norm == Norm::euclidean) {
        sum += t * t;
      } else if (of.norm == Norm::manhattan) {
        sum += t;
      } else {
        sum = most(sum, t);
      }
    }
    if (of.norm == Norm::euclidean) return std::sqrt(sum);
    if (of.norm != Norm::minkowski || sum == 0) return sum;
    // Powers of fractions of the largest difference do not overflow, and at least one does not underflow.
    const double largest = sum;
    sum = 0;
    for (std::size_t k = 0; k < of.dims; ++k) sum += std::pow(along(cluster, i, k, unit) / largest, of.power);
    return largest * std::pow(sum, 1 / of.power);
  }

  [[nodiscard]] EPSFLOW_HOST_DEVICE double cosine_distance(const Cluster& cluster, std::uint32_t i) const noexcept {
    const double* const center = of.center + cluster.number * of.dims;
    double largest = 0;
    double largest_of_center = 0;
    for (std::size_t k = 0; k < of.dims; ++k) {
      largest = most(largest, std::fabs(of.at(i, k)));
      largest_of_center = most(largest_of_center, std::fabs(center[k]));
    }
    const double unit = unit_of(largest);
    const double unit_of_center = unit_of(largest_of_center);
    double product = 0;
    double own = 0;
    double of_center = 0;
    for (std::size_t k = 0; k < of.dims; ++k) {
      const double x = of.at(i, k) * unit;
      const double m = center[k] * unit_of_center;
      product += x * m;
      own += x * x;
      of_center += m * m;
    }
    return 1 - product / std::sqrt(own * of_center);  // NaN if the mean direction is zero
  }
};

}  // namespace epsflow::sums
