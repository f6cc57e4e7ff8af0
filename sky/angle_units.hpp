// Units of angles by the names that files give them.
#pragma once

#include <string_view>

namespace epsflow {

struct AngleUnit {
  std::string_view name;  ///< as messages call it
  double degrees = 1;     ///< one of it in degrees
  double radians = 1;     ///< one of it in radians
  /// Hours of right ascension, 15 degrees each. Only longitudes are counted so.
  bool of_longitudes = false;
};

/// The unit that a text names: deg, rad, arcmin, arcsec, mas, uas or hourangle, or a longer or plural form of it. One pair of brackets
/// around it does not count, nor the case of words that mean nothing else in another. Null for any other text. "h" is an hour of time,
/// and "h:m:s" is the form of a text: neither says what a number is.
[[nodiscard]] const AngleUnit* find_angle_unit(std::string_view text) noexcept;

/// A name by which units are compared: that of find_angle_unit(), else the text itself without brackets and blanks around it.
[[nodiscard]] std::string_view name_of_unit(std::string_view text) noexcept;

}  // namespace epsflow
