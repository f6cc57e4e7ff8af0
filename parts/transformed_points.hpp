// The points of a rank, as the metric transforms them before they are cut into parts.
#pragma once

#include <functional>
#include <span>

#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::parts {

/// Holds a float64 copy of the points in two cases: if the metric transforms the points of any rank, and if float32
/// points have a periodic axis. (Ghosts across a periodic face are points moved by a side of the box, which float32
/// would round.) Otherwise it refers to the given points.
class TransformedPoints {
 public:
  /// points: the points of this rank. points, metric: must outlive the object. max: replaces each number by the largest
  /// of all ranks; it is collective, and so is the constructor. Runs in parallel. Throws InputError for a point outside
  /// a periodic box; if points are copied, as transform_points() and BoxFit::require_fit(). So NaN is found only then.
  TransformedPoints(PointsView points, const Metric& metric, const std::function<void(std::span<double>)>& max);

  [[nodiscard]] PointsView view() const noexcept { return view_; }
  /// True if the points are not copied, and for a rank without points.
  [[nodiscard]] bool identity() const noexcept { return buffer_.size() == 0; }
  /// Throws UsageError if the periodic box is so large that the rounding of coordinates in it is small neither against
  /// them nor against this eps (core/box_fit.hpp).
  void require_fit(double eps) const { fit_.require_fit(eps); }

 private:
  Points buffer_;
  PointsView view_;
  BoxFit fit_;  ///< the figures of all ranks; empty unless points are transformed into a periodic box
};

}  // namespace epsflow::parts
