// Which velocities bring points together: one data set clustered under many velocities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow {

/// One data set and many velocities. Under velocity v, point i lies at p_i − t_i · u_v: all points that move with the velocity u_v then
/// lie in one place. The product and the difference are rounded once each, in float64. float32 points are widened first.
struct MovingPoints {
  PointsView points;                   ///< p: [n × d], row-major
  std::span<const double> times;       ///< t: [n], from any moment on
  std::span<const double> velocities;  ///< u: [count × d], row-major; coordinates per unit of time

  /// The number of velocities.
  [[nodiscard]] std::size_t count() const noexcept { return velocities.size() / points.dims(); }
  /// Writes the points under one velocity. out: [n × d]. O(n · d).
  void at_velocity(std::size_t v, std::span<double> out) const noexcept;
};

/// The clusters of one variant under the velocities [first, first + counts.size()).
struct VelocityClusters {
  Variant variant;
  std::size_t first = 0;
  std::vector<LabelSummary> counts = {};  ///< of each velocity

  // The clusters of at least `least` points, velocity after velocity. Its first core point identifies a cluster.
  std::vector<std::uint32_t> velocity = {};    ///< as a number among all
  std::vector<std::uint32_t> first_core = {};  ///< row of the data set
  std::vector<std::uint32_t> core = {};        ///< its core points
  std::vector<std::uint32_t> size = {};        ///< its points: core and border
};

using OnVelocities = std::function<void(VelocityClusters&&)>;

/// DBSCAN of the points under each velocity with every variant, by the plain Euclidean distance: the clusters are those of a run of the points
/// under that velocity alone. As many velocities are clustered together, as slices, as suit the device and EngineOptions::memory. No labels are
/// made: a run of at_velocity() returns which points a cluster has. For each such group of velocities, on_found is called once for every
/// variant, on the calling thread and with velocities ascending. least: smaller clusters are counted, but not listed. on_progress counts
/// variants of velocities. O(count · n) beside the clustering.
///
/// Throws as Engine::load() and run() do, and what on_found throws; UsageError if lengths contradict each other; InputError for a time
/// or a velocity that is NaN or infinite.
void sweep_velocities(const Engine& engine, const MovingPoints& moving, const Sweep& sweep,
                      const OnVelocities& on_found, std::uint32_t least = 0, const Observer& observer = {});

}  // namespace epsflow
