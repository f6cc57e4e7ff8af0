// Whether eps is in the unit that it is taken for: an angle in too large a one makes nearly all points neighbours.
#pragma once

#include <optional>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

/// A field of the sky, or of the earth, that is no larger than eps. Angles are in degrees.
struct SkyField {
  double width = 0;   ///< of longitude, across 0° or across the date line where that is less
  double height = 0;  ///< of latitude
  double eps = 0;
  std::vector<ArcUnit> meant = {};  ///< units in which eps would be smaller than the field
};

/// The field of the points where eps, the smallest of a run, is at least as large; nothing where it is smaller, where all points are
/// in one place, and for metrics of other coordinates. A field around a pole is as wide as the whole sky.
///
/// points: [host] [n × 2], as Engine::load() has found them good. O(n) at most, O(1) where a sample is larger than eps already.
[[nodiscard]] std::optional<SkyField> field_within(const Metric& metric, PointsView points, double eps);

}  // namespace epsflow
