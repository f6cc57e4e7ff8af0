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
/// clustering would have got. Core points themselves get their own. Always runs on the CPU: of the options, only memory and
/// threads may be set; backend may be automatic or cpu. O((m + n)·d + candidates).
///
/// Throws UsageError if sizes or dimensions differ, if a label is negative, if the metric does not fit the points
/// (check_metric()), and if eps is not greater than 0 or is one that moved_radius() refuses; InputError for points that
/// Engine::load() refuses; ResourceError; Cancelled.
[[nodiscard]] Labels predict(const CoreView& core, PointsView points, const EngineOptions& options = {},
                             const Observer& observer = {});

}  // namespace epsflow
