#include <epsflow/pipeline/point_set.hpp>

#include <optional>

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/session.hpp>

namespace epsflow {

void check_loaded(const PointSet& points) {
  if (!std::holds_alternative<Dataset>(points.rows)) return;
  if (points.metric == Metric{} && points.weights.empty() && points.slices.empty()) return;
  throw UsageError(
      "the points are loaded by an engine, and PointSet::metric, weights or slices are given beside them: load the "
      "points with these (Engine::load(), Dataset::weighted())");
}

Dataset load(const PointSet& points, const std::function<Engine()>& engine, const Observer& observer) {
  if (observer.before_stage) observer.before_stage(Stage::load_points);
  const TraceScope scope(observer.trace, Stage::load_points, 0, {"points", points.size()});
  const PointsView view = points.host_rows().view();
  const Engine loader = engine();
  Dataset data = points.slices.empty() ? loader.load(view, points.metric, observer.cancel)
                                       : loader.load(view, points.slices, points.metric, observer.cancel);
  return points.weights.empty() ? data : data.weighted(points.weights, observer.cancel);
}

EngineOptions with_backend(const PointSet& points, EngineOptions engine, const RunOptions& run) {
  const PointRows& rows = points.host_rows();
  check_metric(points.metric, rows.dims());
  engine.backend = choose_backend(rows.size(), transformed_dims(points.metric, rows.dims()),
                                  transformed_space(points.metric), engine, run, preferred_backend());
  return engine;
}

LoadedSet::LoadedSet(const PointSet& points, const EngineOptions& engine, const RunOptions& run,
                     const Observer& observer)
    : data_(made(points, engine, run, observer)) {}

Dataset LoadedSet::made(const PointSet& points, const EngineOptions& engine, const RunOptions& run,
                        const Observer& observer) {
  check_loaded(points);
  if (const auto* const loaded = std::get_if<Dataset>(&points.rows)) {
    if (engine != EngineOptions{}) {
      throw UsageError("the points are loaded by an engine with options of its own: leave EngineOptions out");
    }
    return *loaded;
  }
  if (observer.cancel != nullptr) observer.cancel->check();
  check_options(engine, run);
  require_row_count(points.host_rows());
  PointSet all = points;
  if (const PointsSource* const source = points.host_rows().source())
    all.rows = PointRows(brought_.emplace(bring(*source)));
  return load(
      all, [&] { return Engine(with_backend(all, engine, run), observer.on_notice); }, observer);
}

}  // namespace epsflow
