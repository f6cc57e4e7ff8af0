// Checks whether eps may have been meant in a smaller unit than the metric's: nearly all points are then neighbours.
#pragma once

#include <optional>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// The width and height of the area that points cover on the sky or on the earth, and eps, all in degrees.
/// field_within() returns one only if eps is at least as large as both.
struct SkyField {
  double width = 0;   ///< in longitude, counted from 0° to 360° or from −180° to 180°, whichever gives less
  double height = 0;  ///< in latitude
  double eps = 0;
  std::vector<ArcUnit> meant = {};  ///< units in which eps would be smaller than the larger of width and height
};

/// Returns the area that the points cover, if eps is at least as large as its width and its height; else nullopt.
/// Returns nullopt also without points, if all of them are at one position, and for metrics other than greatcircle
/// and haversine. An area around a pole is as wide as the whole sky.
///
/// eps: the smallest eps of the run, in the unit of the metric. points: [host] [n × 2], already checked by
/// Engine::load(). O(n) at most; O(1) if a sample of up to 1000 points is already spread wider than eps.
[[nodiscard]] std::optional<SkyField> field_within(const Metric& metric, PointsView points, double eps);

}  // namespace epsflow
