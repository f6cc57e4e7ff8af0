// Transforms all points of a data set, and checks that a periodic box fits them. Coordinates on its closed sides are
// rounded to a grain (core/metric.hpp) that grows with the box. In a box about as large as the points, float64 rounds
// as much anyway. A far larger box, such as a side of 1e17 written for "none", would move points by more than eps.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The figures of each axis: the smallest and the largest coordinate, as scaled by the metric, and whether rounding to
/// the grain changes a coordinate. They are collected from parts of the points.
class BoxFit {
 public:
  /// metric: accepted by check_metric(); must outlive this.
  explicit BoxFit(const Metric& metric) noexcept : metric_(metric) {}

  /// Adds the points [first, last), which must be finite and in the box. O((last − first)·d); nothing without a box.
  void add(PointsView points, std::size_t first, std::size_t last);
  /// Adds the figures of another part.
  void add(const BoxFit& other);

  /// Returns the figures in a form whose maxima over several parts are the figures of all. For each column of the box:
  /// minus the smallest coordinate, the largest, and 1 if rounding changes a coordinate, else 0.
  [[nodiscard]] std::vector<double> maxima() const;
  /// Sets the figures from such maxima.
  void set_maxima(const std::vector<double>& maxima);

  /// Throws InputError, naming column, box and remedy, if a grain changes coordinates and is small neither against them
  /// nor against the extent of the points.
  void require_fit() const;
  /// Throws UsageError, with the same names, if a grain changes coordinates and is small neither against them nor
  /// against eps.
  void require_fit(double eps) const;

 private:
  struct AxisRange {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    bool is_rounded = false;  ///< some coordinate is not a multiple of the grain
  };

  /// Returns the column of the coarsest grain that changes distances more than float64 does, or the number of columns.
  [[nodiscard]] std::size_t coarsest() const;

  const Metric& metric_;
  std::vector<AxisRange> axes_;  ///< empty without a box or without points
};

/// Returns true if is_identity() holds for all points. Parallel. Throws as is_identity(), but does not check all points
/// if it returns false.
[[nodiscard]] bool all_identity(const Metric& metric, PointsView points);

/// Calls transform_points() for all points, in parallel. out: [n × transformed_dims]. fit: null, or gets the points.
void transform_all(const Metric& metric, PointsView points, double* out, BoxFit* fit = nullptr);

}  // namespace epsflow
