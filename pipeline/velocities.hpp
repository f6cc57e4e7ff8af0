// Which velocities bring points together: one data set clustered under many velocities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/moving_points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow {

/// One variant under the velocities [first, first + counts.size()).
struct VelocityClusters {
  Variant variant;
  std::size_t first = 0;
  std::vector<LabelSummary> counts = {};  ///< of each velocity

  // The clusters of at least `least` points, velocity after velocity, each known by its first core point.
  std::vector<std::uint32_t> velocity = {};    ///< as a number among all
  std::vector<std::uint32_t> first_core = {};  ///< row of the data set
  std::vector<std::uint32_t> core = {};        ///< its core points
  std::vector<std::uint32_t> size = {};        ///< its points: core and border
};

using OnVelocities = std::function<void(VelocityClusters&&)>;

/// DBSCAN of the points under each velocity with every variant, by the plain Euclidean distance: each tells the clusters that a run of the moved
/// points alone would. So many velocities at a time as suit the device and EngineOptions::memory: on a GPU the points are moved where they
/// are clustered. No label is made: which points a cluster has is what a run of move_slice() tells. on_found is called on the calling thread,
/// velocities ascending, for each turn once with every variant. least: smaller clusters are counted, and not listed.
/// O(count · n) beside the clustering. Throws as Engine::load() and run() do, and what on_found throws. on_progress counts variants of
/// velocities.
void sweep_velocities(const Engine& engine, const MovingPoints& moving, const Sweep& sweep,
                      const OnVelocities& on_found, std::uint32_t least = 0, const Observer& observer = {});

}  // namespace epsflow
