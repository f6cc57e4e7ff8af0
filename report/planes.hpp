// Which planes show points: the plane they are in, the three of three dimensions, or that of the principal components of more.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/report/raster.hpp>

namespace epsflow::report {

struct Plane {
  Axis x;
  Axis y;                 ///< no name where points have one coordinate
  bool to_scale = false;  ///< whether a length along x is as long along y
  std::string note = {};  ///< what the plane is, where the axes do not say it
  Raster raster;
};

/// What coordinates are called and measured in.
struct Columns {
  std::vector<std::string> names = {};  ///< d of them, or empty: x, y, z up to three dimensions, else x0, x1, …
  std::vector<std::string> units = {};  ///< d of them, or empty
};

[[nodiscard]] std::string name_of(const Columns& columns, const Metric& metric, std::size_t dims, std::size_t k);
[[nodiscard]] std::string unit_of(const Columns& columns, const Metric& metric, std::size_t k);

/// One of up to two dimensions, three of three, and one of more. Longitude goes to the right, latitude up. Pixels are at most 512 along
/// the longer side, and fewer for few points, so that a point can be seen. O(n · d).
[[nodiscard]] std::vector<Plane> planes_of(PointsView points, const Metric& metric, const Columns& columns);

}  // namespace epsflow::report
