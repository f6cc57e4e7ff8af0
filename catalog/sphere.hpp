// Positions on a sphere: longitude and latitude, directions, and the offset from one position to another.
#pragma once

#include <cmath>

#include <epsflow/core/host_device.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

/// A position in radians.
struct SkyPosition {
  double longitude = 0;
  double latitude = 0;
};

/// A vector from the centre of the sphere. x points to longitude 0 on the equator, z to the north pole.
struct Direction {
  double x = 0;
  double y = 0;
  double z = 0;
};

/// Returns the vector of length 1 to a position.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline Direction direction_of(SkyPosition position) noexcept {
  const double level = std::cos(position.latitude);
  return {level * std::cos(position.longitude), level * std::sin(position.longitude), std::sin(position.latitude)};
}

/// Returns the position in the direction of a vector that is not 0. The longitude is from −π to π.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline SkyPosition position_of(const Direction& v) noexcept {
  return {std::atan2(v.y, v.x), std::atan2(v.z, std::hypot(v.x, v.y))};
}

/// The offset of one position from another.
struct SkyOffset {
  double distance = 0;  ///< along the great circle, in radians
  double east = 0;      ///< distance · sine of the bearing, which is counted from north to east at the first position
  double north = 0;     ///< distance · cosine of the bearing
};

/// Returns the offset of `to` from `from`. Errors are a few ulp of the distance, or of 2π if the longitudes differ by
/// about 2π. Near the antipode, errors of east and north are larger.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline SkyOffset sky_offset(SkyPosition from, SkyPosition to) noexcept {
  // The frame of the components of `to` has `from` as third axis. Vincenty's form is accurate at any angle.
  const double turn = to.longitude - from.longitude;
  const double east = std::cos(to.latitude) * std::sin(turn);
  // The form sin(a − b) + 2·cos·sin·sin²(turn/2) keeps the precision of small angles.
  const double half = std::sin(turn / 2);
  const double lift = 2 * half * half;
  const double north = std::sin(to.latitude - from.latitude) + std::sin(from.latitude) * std::cos(to.latitude) * lift;
  const double along = std::cos(to.latitude - from.latitude) - std::cos(from.latitude) * std::cos(to.latitude) * lift;
  const double across = std::hypot(east, north);
  const double distance = std::atan2(across, along);
  if (across == 0) return {distance, 0, distance == 0 ? 0 : distance};
  return {distance, distance * (east / across), distance * (north / across)};
}

/// Returns the radians of one unit of the coordinates: 1 for haversine, otherwise the radians of a degree.
[[nodiscard]] double radians_of_coordinates(const Metric& metric) noexcept;

}  // namespace epsflow
