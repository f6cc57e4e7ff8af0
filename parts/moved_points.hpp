// The points of a part or of all as they are searched.
#pragma once

#include <functional>
#include <span>

#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow::parts {

/// Where the metric moves points, they are held here, in float64; and where a side of its box is closed: images beyond a face are then as
/// exact as on one engine.
class MovedPoints {
 public:
  /// points, metric: must outlive it. max: makes each number the largest of all ranks'. Collective. In parallel. Throws InputError as
  /// move_points() and BoxFit::require_fit().
  MovedPoints(PointsView points, const Metric& metric, const std::function<void(std::span<double>)>& max);

  [[nodiscard]] PointsView view() const noexcept { return view_; }
  /// Whether they are where they were.
  [[nodiscard]] bool stayed() const noexcept { return room_.size() == 0; }
  /// Throws UsageError where the box is too coarse for this eps.
  void require_fit(double eps) const { fit_.require_fit(eps); }

 private:
  Points room_;
  PointsView view_;
  BoxFit fit_;  ///< where any are moved
};

}  // namespace epsflow::parts
