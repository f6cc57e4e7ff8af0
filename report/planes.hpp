// The planes in which points are drawn: one up to two dimensions, three for three, the principal plane for more.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/report/raster.hpp>

namespace epsflow::report {

/// A plane, and the points drawn in it.
struct Plane {
  Axis x;
  Axis y;                 ///< has no name if points have one coordinate
  bool to_scale = false;  ///< whether equal lengths along x and y are drawn equally long
  std::string note = {};  ///< a description of the plane, if the axes do not give it
  Raster raster;          ///< column 0 is at x.from, and row 0 at y.from
};

/// The names and units of the coordinates.
struct Columns {
  std::vector<std::string> names = {};  ///< [d] or empty
  std::vector<std::string> units = {};  ///< [d] or empty; not used on a sphere
};

/// Returns the name of coordinate k. Without a name in `columns`, it is longitude or latitude on a sphere, else x, y or
/// z for up to three dimensions, otherwise x0, x1, …
[[nodiscard]] std::string name_of(const Columns& columns, const Metric& metric, std::size_t dims, std::size_t k);
/// Returns the unit of coordinate k: ° or rad on a sphere, else from `columns`; empty if it has none.
[[nodiscard]] std::string unit_of(const Columns& columns, const Metric& metric, std::size_t k);

/// Returns one plane up to two dimensions, three for three, one for more. Longitude increases to the right, latitude
/// upwards. The longer side has at most 512 pixels, fewer for few points, to keep them visible. For more than three
/// dimensions throws as transform_points(); otherwise coordinates must be finite. O(n · d).
[[nodiscard]] std::vector<Plane> planes_of(PointsView points, const Metric& metric, const Columns& columns);

}  // namespace epsflow::report
