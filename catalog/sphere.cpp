#include <epsflow/catalog/sphere.hpp>

#include <cmath>
#include <numbers>

namespace epsflow {

Direction direction_of(SkyPlace place) noexcept {
  const double level = std::cos(place.latitude);
  return {level * std::cos(place.longitude), level * std::sin(place.longitude), std::sin(place.latitude)};
}

SkyPlace place_of(const Direction& v) noexcept {
  return {std::atan2(v[1], v[0]), std::atan2(v[2], std::hypot(v[0], v[1]))};
}

SkyOffset sky_offset(SkyPlace from, SkyPlace to) noexcept {
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
  return {distance, distance * east / across, distance * north / across};
}

double radians_of_coordinates(const Metric& metric) noexcept {
  return in_radians(metric.kind) ? 1 : std::numbers::pi / 180;
}

SkyPlace sky_place(const Metric& metric, double first, double second) noexcept {
  const double unit = radians_of_coordinates(metric);
  if (latitude_comes_first(metric)) return {second * unit, first * unit};
  return {first * unit, second * unit};
}

}  // namespace epsflow
