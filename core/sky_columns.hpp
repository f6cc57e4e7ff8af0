// Which columns of a table are longitude and latitude, by their names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/metric.hpp>

namespace epsflow {

/// The two of these columns that are longitude and latitude, in the order in which the metric takes them. Nothing where names do
/// not tell, or tell less than Metric::latitude_first, and of metrics of other coordinates.
///
/// Two names are a pair where they are of one system, as lon and lat, ra and dec, RAJ2000 and DEJ2000, l and b, elon and elat, sgl
/// and sgb are, and whatever else they say is the same, as in pickup_lon and pickup_lat. Units do not count (RAdeg), nor case, and
/// what is an error of a coordinate or a motion (e_RAJ2000, pm_dec) is none. UCDs are names, too (pos.eq.ra;meta.main).
///
/// Throws UsageError that names the columns where several pairs are there, and where two columns are not one of them although a
/// name of theirs is known, as of `dec, lon`: then it is the caller who knows, and may say so by Metric::latitude_first.
[[nodiscard]] std::vector<std::size_t> sky_columns(std::span<const std::string> names, const Metric& metric);

/// Whether two lists of columns may be of one system: not where each has a name that is known, as ra and l are, of another one.
[[nodiscard]] bool may_be_one_system(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace epsflow
