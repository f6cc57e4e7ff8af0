// Clusters one data set under many velocities, to find the velocities that bring points together.
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

/// One data set and many velocities. Under velocity v, point i lies at p_i − t_i · u_v, so all sightings of an object
/// that moves with the velocity u_v lie at one point. The product and the difference are rounded once each, in float64;
/// float32 is widened first.
struct MovingPoints {
  PointsView points;                   ///< p: [n × d], row-major
  std::span<const double> times;       ///< t: [n], relative to any moment
  std::span<const double> velocities;  ///< u: [count × d], row-major; coordinates per unit of time

  /// Returns the number of velocities.
  [[nodiscard]] std::size_t count() const noexcept { return velocities.size() / points.dims(); }
  /// Writes the points under velocity v. out: [n × d]. O(n · d).
  void at_velocity(std::size_t v, std::span<double> out) const noexcept;
};

/// The clusters of one variant under the velocities [first, first + counts.size()).
struct VelocityClusters {
  Variant variant;
  std::size_t first = 0;
  std::vector<LabelSummary> counts = {};  ///< [velocities]

  // The clusters of at least `least` points, velocity after velocity. A cluster is identified by its first core point.
  std::vector<std::uint32_t> velocity = {};    ///< index of the velocity among all
  std::vector<std::uint32_t> first_core = {};  ///< row of the data set
  std::vector<std::uint32_t> core = {};        ///< number of its core points
  std::vector<std::uint32_t> size = {};        ///< number of its points: core and border
};

using OnVelocities = std::function<void(VelocityClusters&&)>;

/// Clusters the points under each velocity with every variant, by the plain Euclidean distance: the clusters are equal
/// to the clusters of a run on the points under that velocity alone. As many velocities as suit the device and
/// EngineOptions::memory are clustered together, as slices. No labels are made: use a run on at_velocity() to find the
/// points of a cluster. For each such group of velocities, on_found is called once for every variant, in the order of
/// the sweep, on the calling thread. The groups come by ascending velocity. least: smaller clusters are counted but not
/// listed. on_progress counts pairs of a velocity and a variant. O(count · n) beside the clustering.
///
/// Throws as Engine::load() and run() do; the exceptions of on_found; UsageError if lengths contradict each other;
/// InputError for a time or a velocity that is NaN or infinite, or if points under a velocity exceed float64.
void sweep_velocities(const Engine& engine, const MovingPoints& moving, const Sweep& sweep,
                      const OnVelocities& on_found, std::uint32_t least = 0, const Observer& observer = {});

}  // namespace epsflow
