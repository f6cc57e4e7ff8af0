// The sums of a catalogue over points on a sphere, with the same interface as the sums in cluster_sums.hpp: a Row is
// started by empty(), summed by add() and combine(), and turned into results by finish().
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include <epsflow/catalog/cluster_sums.hpp>
#include <epsflow/catalog/sphere.hpp>
#include <epsflow/core/host_device.hpp>

namespace epsflow::sums {

/// The units and columns of points on a sphere.
struct Sky {
  double unit = 1;              ///< the radians of one unit of the coordinates
  double arc = 1;               ///< the radians of one unit of eps
  std::uint32_t longitude = 0;  ///< the column of longitudes
  std::uint32_t latitude = 1;   ///< the column of latitudes
  /// [2] The first entry is 1 if some longitude is below 0, else 0. If the first is 0, the second is 1 if some
  /// longitude is above half a turn, else 0. The array is in the same memory as the points, host or device.
  const std::uint32_t* ways = nullptr;

  /// Returns the position of point i, in radians.
  template <class T>
  [[nodiscard]] EPSFLOW_HOST_DEVICE SkyPosition position(const Measured<T>& of, std::uint32_t i) const noexcept {
    return {of.at(i, longitude) * unit, of.at(i, latitude) * unit};
  }
  /// Returns half a turn in the unit of the coordinates.
  [[nodiscard]] EPSFLOW_HOST_DEVICE double half_turn() const noexcept { return std::numbers::pi / unit; }
  /// Returns true if longitudes count from 0° to 360°, and false if they count from −180° to 180°.
  [[nodiscard]] EPSFLOW_HOST_DEVICE bool from_0() const noexcept { return ways[0] == 0 && ways[1] != 0; }
};

/// Computes the centres of clusters on a sphere: the direction of the weighted sum of unit vectors, or the first point
/// of a cluster whose vectors cancel. Stores them in Measured::means, as longitudes and latitudes in radians.
template <class T>
struct SkyMeans {
  /// The weighted sum of unit vectors.
  struct Row {
    double x = 0;
    double y = 0;
    double z = 0;
  };
  Measured<T> of;
  Sky sky;

  [[nodiscard]] EPSFLOW_HOST_DEVICE Row empty() const noexcept { return {}; }
  EPSFLOW_HOST_DEVICE void add(Row& row, const Cluster& cluster, std::uint32_t i) const noexcept {
    const double share = of.shares.of(cluster, i);
    const Direction v = direction_of(sky.position(of, i));
    row.x += share * v.x;
    row.y += share * v.y;
    row.z += share * v.z;
  }
  EPSFLOW_HOST_DEVICE void combine(Row& row, const Row& other) const noexcept {
    row.x += other.x;
    row.y += other.y;
    row.z += other.z;
  }
  EPSFLOW_HOST_DEVICE void finish(const Cluster& cluster, const Row& row) const noexcept {
    const bool even = std::hypot(std::hypot(row.x, row.y), row.z) < kEven;
    const SkyPosition center = even ? sky.position(of, cluster.first) : position_of({row.x, row.y, row.z});
    of.means[cluster.number * 2] = center.longitude;
    of.means[cluster.number * 2 + 1] = center.latitude;
  }
};

/// Computes center, spread, lower and upper of the catalogue in the unit of the coordinates, and radius in the unit of
/// eps. Lower and upper longitudes are at most half a turn away from the centre, so they may exceed the range of
/// longitudes. If a pole may be in the cluster, they span a whole turn. SkyMeans must have run before.
template <class T>
struct SkySpreads {
  struct Row {
    // All angles are in radians.
    double east = 0;  ///< the sum of share · square(offset to the east); the next two are summed in the same way
    double north = 0;
    double distance = 0;
    double farthest = 0;          ///< the largest distance of a point from the centre
    double west_end = kInfinity;  ///< the least longitude minus the longitude of the centre
    double east_end = -kInfinity;
    double south_end = kInfinity;  ///< the least latitude
    double north_end = -kInfinity;
  };
  Measured<T> of;
  Sky sky;

  [[nodiscard]] EPSFLOW_HOST_DEVICE Row empty() const noexcept { return {}; }
  EPSFLOW_HOST_DEVICE void add(Row& row, const Cluster& cluster, std::uint32_t i) const noexcept {
    constexpr double kTurn = 2 * std::numbers::pi;
    const double share = of.shares.of(cluster, i);
    const SkyPosition center = center_of(cluster);
    const SkyPosition at = sky.position(of, i);
    const SkyOffset offset = sky_offset(center, at);
    row.east += share * square(offset.east);
    row.north += share * square(offset.north);
    row.distance += share * square(offset.distance);
    row.farthest = most(row.farthest, offset.distance);
    const double away = at.longitude - center.longitude;
    const double turned = away - kTurn * std::round(away / kTurn);
    row.west_end = least(row.west_end, turned);
    row.east_end = most(row.east_end, turned);
    row.south_end = least(row.south_end, at.latitude);
    row.north_end = most(row.north_end, at.latitude);
  }
  EPSFLOW_HOST_DEVICE void combine(Row& row, const Row& other) const noexcept {
    row.east += other.east;
    row.north += other.north;
    row.distance += other.distance;
    row.farthest = most(row.farthest, other.farthest);
    row.west_end = least(row.west_end, other.west_end);
    row.east_end = most(row.east_end, other.east_end);
    row.south_end = least(row.south_end, other.south_end);
    row.north_end = most(row.north_end, other.north_end);
  }
  EPSFLOW_HOST_DEVICE void finish(const Cluster& cluster, Row row) const noexcept {
    constexpr double kTurn = 2 * std::numbers::pi;
    constexpr double kQuarter = std::numbers::pi / 2;
    SkyPosition center = center_of(cluster);
    center.longitude -= sky.from_0() ? kTurn * std::floor(center.longitude / kTurn)
                                     : kTurn * std::ceil((center.longitude - std::numbers::pi) / kTurn);
    const bool north = row.farthest > 0 && center.latitude + row.farthest >= kQuarter;
    const bool south = row.farthest > 0 && center.latitude - row.farthest <= -kQuarter;
    if (north) row.north_end = kQuarter;
    if (south) row.south_end = -kQuarter;
    if (north || south) {
      row.west_end = -std::numbers::pi;
      row.east_end = std::numbers::pi;
    }
    const std::size_t lon = cluster.number * 2 + sky.longitude;
    const std::size_t lat = cluster.number * 2 + sky.latitude;
    const bool single = cluster.size == 1;
    of.center[lon] = single ? of.at(cluster.first, sky.longitude) : center.longitude / sky.unit;
    of.center[lat] = single ? of.at(cluster.first, sky.latitude) : center.latitude / sky.unit;
    of.spread[lon] = root(row.east) / sky.unit;
    of.spread[lat] = root(row.north) / sky.unit;
    of.lower[lon] = (center.longitude + row.west_end) / sky.unit;
    of.upper[lon] = (center.longitude + row.east_end) / sky.unit;
    of.lower[lat] = row.south_end / sky.unit;
    of.upper[lat] = row.north_end / sky.unit;
    of.radius[cluster.number] = root(row.distance) / sky.arc;
  }

 private:
  /// Angles are multiplied by this before they are squared, so that the squares of tiny angles do not underflow.
  static constexpr double kUnit = 0x1p480;
  [[nodiscard]] static EPSFLOW_HOST_DEVICE double square(double angle) noexcept {
    return (kUnit * angle) * (kUnit * angle);
  }
  [[nodiscard]] static EPSFLOW_HOST_DEVICE double root(double sum) noexcept { return std::sqrt(sum) / kUnit; }

  [[nodiscard]] EPSFLOW_HOST_DEVICE SkyPosition center_of(const Cluster& cluster) const noexcept {
    return {of.means[cluster.number * 2], of.means[cluster.number * 2 + 1]};
  }
};

}  // namespace epsflow::sums
