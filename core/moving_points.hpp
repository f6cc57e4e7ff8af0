// One data set under many velocities: where its points were, had all of them moved alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/points.hpp>

namespace epsflow {

/// Slice v of count() holds the points p_i − t_i · u_v: what moves with the velocity u_v has one place in it. The product and the difference
/// are rounded once each, in float64, into which float32 is widened first.
struct MovingPoints {
  PointsView points;                   ///< p: [n × d], row-major
  std::span<const double> times;       ///< t: [n], from any moment on
  std::span<const double> velocities;  ///< u: [count × d], row-major; coordinates per unit of time

  [[nodiscard]] std::size_t dims() const noexcept { return points.dims(); }
  [[nodiscard]] std::size_t count() const noexcept { return velocities.size() / points.dims(); }
  /// Points of all slices.
  [[nodiscard]] std::uint64_t size() const noexcept { return std::uint64_t{count()} * points.size(); }
  /// What the points, times and velocities take.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return points.bytes() + times.size_bytes() + velocities.size_bytes();
  }
  /// The slices [first, last).
  [[nodiscard]] MovingPoints slices(std::size_t first, std::size_t last) const noexcept {
    return {points, times, velocities.subspan(first * dims(), (last - first) * dims())};
  }
};

/// Throws UsageError where lengths contradict each other, InputError for a time or a velocity that is NaN or infinite. O(n + count · d).
void check_moving(const MovingPoints& moving);

/// [count + 1] where each slice begins.
[[nodiscard]] std::vector<std::uint64_t> slice_offsets(const MovingPoints& moving);

/// The points of one slice. out: [n × d]. O(n · d).
void move_slice(const MovingPoints& moving, std::size_t slice, std::span<double> out) noexcept;

}  // namespace epsflow
