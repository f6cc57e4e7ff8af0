// Units of angles, found by the names that files use.
#pragma once

#include <string_view>

namespace epsflow {

struct AngleUnit {
  std::string_view name;  ///< name in messages
  double degrees = 1;     ///< one unit in degrees
  double radians = 1;     ///< one unit in radians
  /// True for hours of right ascension, 15 degrees each, a unit of longitudes only.
  bool of_longitudes = false;
};

/// Returns the unit that a text names: deg, rad, arcmin, arcsec, mas, uas or hourangle, or another form of one of
/// these, such as °, degrees_north or arcseconds. Ignores blanks and one pair of brackets, [] or (), around the name.
/// Ignores the case, except in mas, marcsec, uas and uarcsec: "Mas" would be another unit. Returns null for any other
/// text. "h" is an hour of time, and "h:m:s" is a form of text: neither is a unit.
[[nodiscard]] const AngleUnit* find_angle_unit(std::string_view text) noexcept;

/// Returns a name by which units are compared: the name of find_angle_unit(), else a view of the text without outer
/// brackets and blanks.
[[nodiscard]] std::string_view name_of_unit(std::string_view text) noexcept;

}  // namespace epsflow
