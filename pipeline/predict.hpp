// Labels of points that were not clustered.
#pragma once

#include <cstdint>
#include <memory>
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

/// A clustering that is ready to assign points to its clusters, as often as they come: it keeps its core points in an index. Copies are
/// the same one. Thread-safe.
class Predictor {
 public:
  /// Works on the CPU, unless the options ask for a GPU: then there, as far as points lie in up to three dimensions in which no norm
  /// but the Euclidean and no box is asked for. Copies what it needs of `core`. O(m·d) and a sort. Throws UsageError if
  /// sizes differ, if a label is negative, if the metric does not fit the points (check_metric()), and if eps is not greater than 0
  /// or is one that moved_radius() refuses, or that a periodic box is too large for (core/box_fit.hpp); InputError for points that
  /// Engine::load() refuses; ResourceError; Cancelled.
  explicit Predictor(const CoreView& core, const EngineOptions& options = {}, const Observer& observer = {});

  /// For each of `points`, [host] [n × d], the lowest cluster among the core points within eps, else kNoise: what a border point of
  /// the clustering would have got. Core points themselves get their own. O(n·d + candidates) where the kept index serves. Otherwise
  /// each call also sorts core points and new points together, on the CPU: in more than six dimensions (three with a GPU), for
  /// other norms, in a periodic box, and where an axis is cut at gaps. A GPU sorts them together in every call. Throws UsageError
  /// if dimensions differ, InputError, ResourceError, Cancelled.
  [[nodiscard]] Labels predict(PointsView points, const Observer& observer = {}) const;

 private:
  friend Labels predict(const CoreView& core, PointsView points, const EngineOptions& options,
                        const Observer& observer);

  struct State;
  std::shared_ptr<State> state_;
};

/// Predictor(core, options, observer).predict(points, observer).
[[nodiscard]] Labels predict(const CoreView& core, PointsView points, const EngineOptions& options = {},
                             const Observer& observer = {});

}  // namespace epsflow
