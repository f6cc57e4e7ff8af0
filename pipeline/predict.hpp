// Labels of points that were not clustered.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// What predict() needs of a clustering: its core points with their clusters, and the eps and metric that it was made with. It owns
/// nothing: the arrays must outlive it.
struct CoreView {
  PointsView points;                     ///< [host] [m × d] the core points
  std::span<const std::int32_t> labels;  ///< [m] the cluster of each
  double eps = 0;
  Metric metric = {};
};

/// For each of `points`, [host] [n × d], the lowest cluster among the core points within eps, else kNoise: what a border point of the
/// clustering would have got. Core points themselves get their own. On the CPU: of the options, only
/// memory, threads and backend = cpu may be given. O((m + n)·d + candidates). Throws UsageError where sizes or dimensions differ, a
/// label is no cluster, or eps is not greater than 0, and as moved_radius(); InputError as Engine::load() does; ResourceError; Cancelled.
[[nodiscard]] Labels predict(const CoreView& core, PointsView points, const EngineOptions& options = {},
                             const Observer& observer = {});

}  // namespace epsflow
