// Prediction: labels of points that were not clustered.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// The input of predict() from a clustering: core points, their clusters, eps and metric. The arrays must outlive it.
struct CoreView {
  PointsView points;                     ///< [host] [m × d] the core points
  std::span<const std::int32_t> labels;  ///< [m] the cluster of each
  double eps = 0;
  Metric metric = {};
};

/// Assigns points to the clusters of a clustering, repeatedly, by an index of core points. Copies share it.
/// Thread-safe.
class Predictor {
 public:
  /// Works on the CPU, unless the options request a GPU. A GPU is used only in up to three dimensions, with the
  /// Euclidean norm and no box. Copies the data that it needs of `core`. O(m·d) and a sort. Throws UsageError if sizes
  /// differ, if a label is negative, if the metric does not fit the points (check_metric()), or if eps is not greater
  /// than 0, is refused by transformed_radius(), or is too small for the periodic box (core/box_fit.hpp); InputError
  /// for points that Engine::load() refuses; ResourceError; Cancelled.
  explicit Predictor(const CoreView& core, const EngineOptions& options = {}, const Observer& observer = {});

  /// Returns for each of `points`, [host] [n × d], the lowest cluster among the core points within eps, else kNoise:
  /// the label that it would have as a border point. Core points get their own cluster. O(n·d + candidates) if the kept
  /// index can be used. Otherwise each call also sorts core points and new points together, on the CPU: in more than
  /// six dimensions (three with a GPU), for other norms, in a periodic box, and if an axis is cut at gaps. A GPU sorts
  /// them together in every call. Throws UsageError if dimensions differ, or if core points and `points` are more than
  /// kMaxPoints together; InputError, ResourceError, Cancelled.
  [[nodiscard]] Labels predict(PointsView points, const Observer& observer = {}) const;

 private:
  friend Labels predict(const CoreView& core, PointsView points, const EngineOptions& options,
                        const Observer& observer);

  struct State;
  std::shared_ptr<State> state_;
};

/// Returns Predictor(core, options, observer).predict(points, observer).
[[nodiscard]] Labels predict(const CoreView& core, PointsView points, const EngineOptions& options = {},
                             const Observer& observer = {});

}  // namespace epsflow
