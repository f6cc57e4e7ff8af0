// Which columns of a table are longitude and latitude, by their names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/metric.hpp>

namespace epsflow {

/// Finds the columns of longitude and latitude by their names. Returns their two numbers, in the order in which the metric takes
/// them. Returns an empty list
///   where no two names are a pair (but see the last paragraph for tables of two columns),
///   where there are just two columns and Metric::latitude_first is set: the caller has then said which is which,
///   where there are fewer than two columns, and
///   for metrics other than greatcircle and haversine, which take no longitude and latitude.
///
/// Two names are a pair if one is a known word for longitude, the other a known word for latitude, and both words are of the same
/// coordinate system: lon and lat, ra and dec, RAJ2000 and DEJ2000, l and b, elon and elat, sgl and sgb, and the like. Whatever
/// else the names say must be the same in both, as in pickup_lon and pickup_lat. Units (RAdeg) and case do not count. The name of
/// an error or of a motion (e_RAJ2000, pm_dec) is not the name of a coordinate. A name may also be a UCD (unified content
/// descriptor), as in pos.eq.ra;meta.main.
///
/// Throws UsageError that names the columns where there is more than one pair. Throws it also for a table of just two columns that
/// are no pair although at least one of the names is known, as in `dec, lon`. The caller then chooses other columns, or gives
/// latitude first and sets Metric::latitude_first.
[[nodiscard]] std::vector<std::size_t> sky_columns(std::span<const std::string> names, const Metric& metric);

/// Which names say another unit than the metric takes: "by the names 'lat_rad', 'lon_rad' columns are in radians" for greatcircle,
/// which takes degrees; haversine takes radians. lat_km, ra_hours and the like are in neither. Empty where there is none. `names`
/// are those of the columns that are taken, without those whose unit is known otherwise. Names that are not known say nothing.
[[nodiscard]] std::string other_units_of_names(std::span<const std::string> names, const Metric& metric);

/// Throws UsageError where there are other_units_of_names().
void require_unit_of_names(std::span<const std::string> names, const Metric& metric);

/// Whether two lists of column names may be of one coordinate system. False only where both have a known name, and the first known
/// names of the two lists are of different systems, as ra and l are.
[[nodiscard]] bool may_be_one_system(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace epsflow
