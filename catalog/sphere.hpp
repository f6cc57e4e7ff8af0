// Places on a sphere: longitude and latitude, directions, and how far one is from another.
#pragma once

#include <array>

#include <epsflow/core/metric.hpp>

namespace epsflow {

/// In radians.
struct SkyPlace {
  double longitude = 0;
  double latitude = 0;
};

using Direction = std::array<double, 3>;  ///< a vector of the length 1

[[nodiscard]] Direction direction_of(SkyPlace place) noexcept;
/// Of a vector of any length but 0. Longitude from −π to π.
[[nodiscard]] SkyPlace place_of(const Direction& vector) noexcept;

/// Where a place is, seen from another.
struct SkyOffset {
  double distance = 0;  ///< along the great circle, radians
  double east = 0;      ///< its two components in the plane that touches the sphere there
  double north = 0;
};
/// to − from. Exact to a few units in the last place at any distance, the other side of the sphere included.
[[nodiscard]] SkyOffset sky_offset(SkyPlace from, SkyPlace to) noexcept;

/// Radians of one unit of the coordinates: 1 for haversine, else those of a degree.
[[nodiscard]] double radians_of_coordinates(const Metric& metric) noexcept;
/// Longitude and latitude of a point whose coordinates are as the metric takes them, in radians.
[[nodiscard]] SkyPlace sky_place(const Metric& metric, double first, double second) noexcept;

}  // namespace epsflow
