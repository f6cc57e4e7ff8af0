// The points after the transformation of the metric.
#pragma once

#include <functional>
#include <span>

#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::parts {

/// Holds a float64 copy of the points if the metric transforms them, or if a float32 point set has a periodic axis:
/// then images of points are as exact as on one engine. Else it refers to the given points.
class TransformedPoints {
 public:
  /// points, metric: must outlive it. max: replaces each number by the largest over all ranks. Collective. In parallel.
  /// Throws InputError as transform_points() and BoxFit::require_fit().
  TransformedPoints(PointsView points, const Metric& metric, const std::function<void(std::span<double>)>& max);

  [[nodiscard]] PointsView view() const noexcept { return view_; }
  /// True if the points are not copied.
  [[nodiscard]] bool identity() const noexcept { return buffer_.size() == 0; }
  /// Throws UsageError if the box is too coarse for this eps.
  void require_fit(double eps) const { fit_.require_fit(eps); }

 private:
  Points buffer_;
  PointsView view_;
  BoxFit fit_;  ///< filled if points were transformed into a box
};

}  // namespace epsflow::parts
