// Finds out whether eps may have been meant in a smaller unit than the one it is taken for: nearly all points are then neighbours.
#pragma once

#include <optional>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The extent of points in longitude and latitude, on the sky or on the earth. It is made only where eps is at least as large.
/// Angles are in degrees.
struct SkyField {
  double width = 0;   ///< in longitude, counted from 0° to 360° or from −180° to 180°, whichever gives less
  double height = 0;  ///< in latitude
  double eps = 0;
  std::vector<ArcUnit> meant = {};  ///< units in which eps would be smaller than the field
};

/// The extent of the points, if eps is at least as large as its width and its height. eps: the smallest of a run. Otherwise
/// nullopt; also where there are no points, where all of them are in one place, and for metrics other than greatcircle and
/// haversine. An extent around a pole is as wide as the whole sky.
///
/// points: [host] [n × 2], already checked by Engine::load(). O(n) at most; O(1) where a sample of up to 1000 points is already
/// spread wider than eps.
[[nodiscard]] std::optional<SkyField> field_within(const Metric& metric, PointsView points, double eps);

}  // namespace epsflow
