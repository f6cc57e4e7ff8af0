// Whether a periodic box fits the points in it. Coordinates on its closed sides are rounded to a grain (core/metric.hpp) that grows with
// the box. In a box about as large as the points that is what float64 rounds to anyway. In one that is far larger, as a side of 1e17
// written for "none", points would be moved by more than eps.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// What is known of the coordinates on each axis, scaled as the metric scales them. Gathered from parts of the points.
class BoxFit {
 public:
  /// The metric must be one that check_metric() accepts, and outlive it.
  explicit BoxFit(const Metric& metric) noexcept : metric_(metric) {}

  /// Looks at the points [first, last), which must be finite and in the box. O((last − first)·d); nothing to do without a box.
  void add(PointsView points, std::size_t first, std::size_t last);
  /// Those of another part.
  void add(const BoxFit& other);

  /// All that is known, as numbers whose largest over several parts are those of all: three for each column of the box.
  [[nodiscard]] std::vector<double> maxima() const;
  void set_maxima(const std::vector<double>& maxima);

  /// Throws InputError, naming column, box and remedy, where a grain changes coordinates and is neither small against them nor against
  /// the extent of the points.
  void require_fit() const;
  /// Throws UsageError likewise, where it is not small against eps.
  void require_fit(double eps) const;

 private:
  struct Axis {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    bool is_rounded = false;  ///< some coordinate is no multiple of the grain
  };

  /// The column of the coarsest grain that changes distances by more than float64 does, or the number of columns.
  [[nodiscard]] std::size_t coarsest() const;

  const Metric& metric_;
  std::vector<Axis> axes_;  ///< empty without a box, and without points
};

}  // namespace epsflow
