#include <epsflow/pipeline/predict.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/searched_source.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow {
namespace {

constexpr std::size_t kGrain = 1 << 13;

void check_core(const CoreView& core) {
  (void)Sweep({{core.eps, 1}});  // checks eps
  if (core.labels.size() != core.points.size()) {
    throw UsageError("there are " + std::to_string(core.points.size()) + " core points and " +
                     std::to_string(core.labels.size()) + " labels: give one for each");
  }
  const auto bad = std::find_if(core.labels.begin(), core.labels.end(), [](std::int32_t label) { return label < 0; });
  if (bad != core.labels.end()) {
    throw UsageError("core point " + std::to_string(bad - core.labels.begin()) + " has the label " +
                     std::to_string(*bad) + ", and a core point is in a cluster: give core points alone");
  }
}

/// core, dims: how many core points there are, and of how many dimensions.
void check_points(std::uint64_t core, std::size_t dims, PointsView points) {
  if (points.size() > 0 && core > 0 && points.dims() != dims) {
    throw UsageError("the points have " + std::to_string(points.dims()) + " dimensions and the core points " +
                     std::to_string(dims) + ": give both the same columns");
  }
  if (core + points.size() > kMaxPoints) {
    throw UsageError("core points and points are more than " + std::to_string(kMaxPoints) +
                     " together: give the points in parts");
  }
}

/// Moves points on the threads of the arena. out: [n × moved_dims()].
void move_all(const Metric& metric, PointsView points, double* out) {
  const std::size_t width = moved_dims(metric, points.dims());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, points.size(), kGrain), [&](const auto& range) {
    move_points(metric, points, range.begin(), range.end(), out + range.begin() * width);
  });
}

Points copy_of(PointsView points) {
  Points copy(points.size(), points.dims(), points.precision());
  points.visit([&](auto values) {
    using T = std::remove_cv_t<typename decltype(values)::value_type>;
    std::copy(values.begin(), values.end(), copy.values<T>().begin());
  });
  return copy;
}

/// The core points, and behind them the others, moved.
Points join(const CoreView& core, PointsView points) {
  const std::size_t n = core.points.size();
  // Without a box the metric tells it alone, and no row is looked at.
  const bool single = core.metric.box.empty() && stay(core.metric, core.points, 0, 0) &&
                      core.points.precision() == Precision::float32 && points.precision() == Precision::float32;
  const std::size_t width = moved_dims(core.metric, points.dims());
  Points all(n + points.size(), width, single ? Precision::float32 : Precision::float64);
  const auto part = [&](PointsView from, std::size_t first) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, from.size(), kGrain), [&](const auto& range) {
      const std::size_t at = (first + range.begin()) * width;
      if (single) {
        require_finite(from, range.begin(), range.end());
        const auto* values = static_cast<const float*>(from.data());
        std::copy(values + range.begin() * width, values + range.end() * width, all.values<float>().data() + at);
      } else {
        move_points(core.metric, from, range.begin(), range.end(), all.values<double>().data() + at);
      }
    });
  };
  part(core.points, 0);
  part(points, n);
  return all;
}

void predict_all(const CoreView& core, PointsView points, MemoryBudget& budget, const CancelToken& cancel,
                 Labels& labels) {
  const std::uint64_t n = core.points.size() + points.size();
  const std::size_t width = moved_dims(core.metric, points.dims());
  constexpr std::uint64_t kIndexBytes = 2 * 16 + 4 + 12 + 2 * 4;  // sort items, ids, cells, clusters twice
  const MemoryCharge memory(budget,
                            n * (2 * width * sizeof(double) + kIndexBytes) + index::RowSearch::most_bytes(n, width),
                            "the search of core points");
  const Points all = join(core, points);
  cancel.check();
  const index::Grid grid(all.view(), moved_radius(core.metric, core.eps), Cells::reach, cancel,
                         moved_space(core.metric));
  const index::RowSearch rows(grid);
  Buffer<std::uint32_t> cluster_of(n), clusters(n);
  const auto order = grid.order();
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, kGrain), [&](const auto& range) {
    for (std::size_t p = range.begin(); p < range.end(); ++p) {
      cluster_of[p] =
          order[p] < core.labels.size() ? static_cast<std::uint32_t>(core.labels[order[p]]) : clustering::kNoCluster;
    }
  });
  clustering::find_lowest_clusters(grid, rows, cluster_of.data(), clusters.data(), cancel);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, kGrain), [&](const auto& range) {
    for (std::size_t p = range.begin(); p < range.end(); ++p) {
      if (order[p] < core.labels.size()) continue;
      labels[order[p] - core.labels.size()] =
          clusters[p] == clustering::kNoCluster ? kNoise : static_cast<std::int32_t>(clusters[p]);
    }
  });
}

}  // namespace

struct Predictor::State {
  State(const CoreView& core, const EngineOptions& options)
      : workers(options, "predict()"), metric(canonical(core.metric)) {}

  Workers workers;
  Metric metric;
  double eps = 0;
  std::uint64_t count = 0;  ///< of core points
  std::size_t dims = 0;     ///< of core points as they were given
  MemoryCharge memory;
  /// Where the core points are searched in place.
  std::unique_ptr<const index::Grid> grid;
  std::unique_ptr<const index::RowSearch> rows;
  Buffer<std::uint32_t> cluster_of;  ///< [m] by position
  /// Else they are joined with others.
  Points points;
  std::vector<std::int32_t> labels;
};

Predictor::Predictor(const CoreView& core, const EngineOptions& options, const Observer& observer)
    : state_(std::make_shared<State>(core, options)) {
  State& state = *state_;
  check_core(core);
  if (core.points.size() > 0) check_metric(core.metric, core.points.dims());
  const CancelToken cancel(observer.cancel);
  cancel.check();
  const std::uint64_t m = core.points.size();
  state.eps = core.eps;
  state.count = m;
  state.dims = core.points.dims();
  if (m == 0) return;
  const std::size_t width = moved_dims(state.metric, core.points.dims());
  constexpr std::uint64_t kIndexBytes = 2 * 16 + 4 + 12 + 4;  // sort items, ids, cells, clusters
  MemoryCharge making(state.workers.budget, core.points.bytes() + m * (2 * width * sizeof(double) + kIndexBytes),
                      "the core points");
  const Space space = moved_space(state.metric);
  const double radius = moved_radius(state.metric, core.eps);
  state.workers.arena.execute([&] {
    if (space.plain() && width <= index::kMostIndexedDims) {
      const bool as_they_are = state.metric.box.empty() && stay(state.metric, core.points, 0, 0) &&
                               core.points.precision() == Precision::float32;
      Points moved;
      if (as_they_are) {
        require_finite(core.points, 0, m);
      } else {
        moved = Points(m, width, Precision::float64);
        move_all(state.metric, core.points, moved.values<double>().data());
      }
      state.grid = std::make_unique<const index::Grid>(as_they_are ? core.points : moved.view(), radius, Cells::reach,
                                                       cancel, space);
      if (!clustering::finds_clusters_at(*state.grid)) state.grid = nullptr;
    }
    if (state.grid == nullptr) {
      state.points = copy_of(core.points);
      state.labels.assign(core.labels.begin(), core.labels.end());
      return;
    }
    state.rows = std::make_unique<const index::RowSearch>(*state.grid);
    state.cluster_of = Buffer<std::uint32_t>(m);
    for (std::size_t p = 0; p < m; ++p) {
      state.cluster_of[p] = static_cast<std::uint32_t>(core.labels[state.grid->order()[p]]);
    }
  });
  making = {};
  const std::uint64_t held = state.grid != nullptr
                                 ? state.grid->bytes() + state.rows->bytes() + state.cluster_of.bytes()
                                 : state.points.view().bytes() + m * sizeof(std::int32_t);
  state.memory = MemoryCharge(state.workers.budget, held, "the core points");
}

Labels Predictor::predict(PointsView points, const Observer& observer) const {
  State& state = *state_;
  const CancelToken cancel(observer.cancel);
  cancel.check();
  check_points(state.count, state.dims, points);
  check_metric(state.metric, points.dims());
  Labels labels(points.size());
  if (points.size() == 0) return labels;
  const MemoryCharge inputs(state.workers.budget, points.bytes(), "the points");
  if (state.grid == nullptr) {
    const CoreView core{state.points.view(), state.labels, state.eps, state.metric};
    state.workers.arena.execute([&] { predict_all(core, points, state.workers.budget, cancel, labels); });
    return labels;
  }
  const std::uint64_t n = points.size();
  const std::size_t width = state.grid->dims();
  const MemoryCharge memory(state.workers.budget,
                            n * (width * sizeof(double) + sizeof(std::uint32_t)) + clustering::places_bytes(n),
                            "the search of core points");
  state.workers.arena.execute([&] {
    Buffer<double> places(n * width);
    move_all(state.metric, points, places.data());
    Buffer<std::uint32_t> clusters(n);
    clustering::find_lowest_clusters_at(*state.grid, *state.rows, state.cluster_of.data(), places.span(),
                                        clusters.data(), cancel);
    for (std::size_t i = 0; i < n; ++i) {
      labels[i] = clusters[i] == clustering::kNoCluster ? kNoise : static_cast<std::int32_t>(clusters[i]);
    }
  });
  return labels;
}

Labels predict(const CoreView& core, PointsView points, const EngineOptions& options, const Observer& observer) {
  check_core(core);
  check_points(core.points.size(), core.points.dims(), points);  // before the core points are sorted in vain
  return Predictor(core, options, observer).predict(points, observer);
}

}  // namespace epsflow
