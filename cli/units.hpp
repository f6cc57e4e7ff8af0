// The units that files say their columns are in.
#pragma once

#include <string>
#include <vector>

#include <epsflow/cli/arguments.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/io/file_points.hpp>

namespace epsflow::cli {

/// Brings coordinates into the unit in which the metric takes them. Longitude and latitude, which must be in the order of the metric,
/// become degrees or radians, file by file; a line says so, unless --quiet is given. For other metrics nothing is converted; a line
/// tells of columns of different units, unless Metric::scale gives each its factor. A column without a unit is left as it is. Throws
/// UsageError that names file, column and unit: for a unit that is none of angles, for a longitude or latitude without a unit beside one
/// that is converted, and for a column of different units in different files.
void settle_units(const Arguments& arguments, io::FilePoints& points, const Metric& metric);

/// The names of columns, empty for those whose unit all files say: what a name says of a unit does not count there.
[[nodiscard]] std::vector<std::string> names_without_units(const io::FilePoints& points);

/// The unit of each column, by the name that units are compared by; empty where no file says one. For settled points.
[[nodiscard]] std::vector<std::string> units_of(const io::FilePoints& points);

}  // namespace epsflow::cli
