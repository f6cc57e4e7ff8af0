// Places on a sphere: longitude and latitude, directions, and how far one is from another.
#pragma once

#include <cmath>

#include <epsflow/core/host_device.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow {

/// In radians.
struct SkyPlace {
  double longitude = 0;
  double latitude = 0;
};

/// A vector of the length 1.
struct Direction {
  double x = 0;
  double y = 0;
  double z = 0;
};

[[nodiscard]] EPSFLOW_HOST_DEVICE inline Direction direction_of(SkyPlace place) noexcept {
  const double level = std::cos(place.latitude);
  return {level * std::cos(place.longitude), level * std::sin(place.longitude), std::sin(place.latitude)};
}

/// Of a vector of any length but 0. Longitude from −π to π.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline SkyPlace place_of(const Direction& v) noexcept {
  return {std::atan2(v.y, v.x), std::atan2(v.z, std::hypot(v.x, v.y))};
}

/// Where a place is, seen from another.
struct SkyOffset {
  double distance = 0;  ///< along the great circle, radians
  double east = 0;      ///< its two components in the plane that touches the sphere there
  double north = 0;
};

/// to − from. Exact to a few units in the last place at any distance, the other side of the sphere included.
[[nodiscard]] EPSFLOW_HOST_DEVICE inline SkyOffset sky_offset(SkyPlace from, SkyPlace to) noexcept {
  // Components of `to` in a frame whose third axis is `from`; Vincenty's form of the distance, which is good at any angle.
  const double turn = to.longitude - from.longitude;
  const double east = std::cos(to.latitude) * std::sin(turn);
  // sin(a − b) + 2·cos·sin·sin²(turn/2): small angles lose nothing.
  const double half = std::sin(turn / 2);
  const double lift = 2 * half * half;
  const double north = std::sin(to.latitude - from.latitude) + std::sin(from.latitude) * std::cos(to.latitude) * lift;
  const double along = std::cos(to.latitude - from.latitude) - std::cos(from.latitude) * std::cos(to.latitude) * lift;
  const double across = std::hypot(east, north);
  const double distance = std::atan2(across, along);
  if (across == 0) return {distance, 0, distance == 0 ? 0 : distance};
  return {distance, distance * (east / across), distance * (north / across)};
}

/// Radians of one unit of the coordinates: 1 for haversine, else those of a degree.
[[nodiscard]] double radians_of_coordinates(const Metric& metric) noexcept;

}  // namespace epsflow
