// Finds the columns of longitude and latitude in a table, by their names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/metric.hpp>

namespace epsflow {

/// Finds the columns of longitude and latitude by their names. Returns their two numbers, in the order in which the
/// metric takes them. Returns an empty list
///   if no two names are a pair (see the last paragraph for tables of two columns),
///   if there are just two columns and Metric::latitude_first is set, because the caller has then given their order,
///   if there are fewer than two columns, and
///   for metrics other than greatcircle and haversine, which take no longitude and latitude.
///
/// Two names are a pair if one has a known word for longitude, the other a known word for latitude, and both words are
/// of the same coordinate system: lon and lat, ra and dec, RAJ2000 and DEJ2000, l and b, elon and elat, sgl and sgb,
/// and the like. The other words of both names must be equal, as in pickup_lon and pickup_lat. Units (RAdeg) and case
/// are ignored. The name of an error or of a motion (e_RAJ2000, pm_dec) is not the name of a coordinate. A name may
/// also be a UCD (unified content descriptor), as in pos.eq.ra;meta.main.
///
/// Throws UsageError that names the columns if there is more than one pair. Throws it also for a table of just two
/// columns that are not a pair although at least one name is known, as in `dec, lon`. The caller then chooses other
/// columns, or gives latitude first and sets Metric::latitude_first.
[[nodiscard]] std::vector<std::size_t> sky_columns(std::span<const std::string> names, const Metric& metric);

/// Throws UsageError for names with another unit than the metric takes, such as lat_rad for greatcircle, which takes
/// degrees; haversine takes radians. lat_km, ra_hours and the like are in neither. names: of the columns that are used,
/// except columns whose unit is known otherwise. Unknown names are ignored, and all names for other metrics.
void require_unit_of_names(std::span<const std::string> names, const Metric& metric);

/// Returns true unless two lists of column names are of different coordinate systems: false only if both have a known
/// name, and the first known names of the two lists are of different systems, as ra and l are.
[[nodiscard]] bool may_be_one_system(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace epsflow
