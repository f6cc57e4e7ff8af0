#include <epsflow/pipeline/predict.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/lowest_clusters.hpp>
#include <epsflow/core/backend.hpp>
#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/pipeline/make_backend.hpp>
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

/// core, dims: number and dimensions of the core points.
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

/// Returns true if all points of this precision are searched untransformed. Without a box no row is read.
bool unchanged(const Metric& metric, PointsView points) {
  return metric.box.empty() && is_identity(metric, points, 0, 0);
}

/// Returns true if the options request a GPU. Otherwise none is started, which would take longer than the assignment.
bool asks_for_gpu(const EngineOptions& options) {
  if (options.backend != BackendChoice::automatic) return options.backend == BackendChoice::gpu;
  return options.gpu || options.gpu_memory != 0;
}

EngineOptions of_backend(EngineOptions options) {
  if (!asks_for_gpu(options)) options.backend = BackendChoice::cpu;
  return resolved(options);
}

/// Returns the options of threads and host memory, for Workers.
EngineOptions of_workers(const EngineOptions& options) {
  return asks_for_gpu(options) ? EngineOptions{.memory = options.memory, .threads = options.threads} : options;
}

Points copy_of(PointsView points) {
  Points copy(points.size(), points.dims(), points.precision());
  points.visit(
      [&]<class T>(std::span<const T> values) { std::copy(values.begin(), values.end(), copy.values<T>().begin()); });
  return copy;
}

/// Returns the transformed core points, followed by the transformed other points.
Points join(const CoreView& core, PointsView points) {
  const std::size_t n = core.points.size();
  const bool single = unchanged(core.metric, core.points) && core.points.precision() == Precision::float32 &&
                      points.precision() == Precision::float32;
  const std::size_t width = transformed_dims(core.metric, points.dims());
  Points all(n + points.size(), width, single ? Precision::float32 : Precision::float64);
  const auto part = [&](PointsView from, std::size_t first) {
    parallel_ranges(from.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      const std::size_t at = (first + begin) * width;
      if (single) {
        require_finite(from, begin, end);
        const auto* values = static_cast<const float*>(from.data());
        std::copy(values + begin * width, values + end * width, all.values<float>().data() + at);
      } else {
        transform_points(core.metric, from, begin, end, all.values<double>().data() + at);
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
  const std::size_t width = transformed_dims(core.metric, points.dims());
  constexpr std::uint64_t kIndexBytes = 2 * 16 + 4 + 12 + 2 * 4;  // sort items, ids, cells, clusters twice
  const MemoryCharge memory(budget,
                            n * (2 * width * sizeof(double) + kIndexBytes) + index::RowSearch::most_bytes(n, width),
                            "the search of core points");
  const Points all = join(core, points);
  cancel.check();
  const index::Grid grid(all.view(), transformed_radius(core.metric, core.eps), Cells::eps, cancel,
                         transformed_space(core.metric));
  const index::RowSearch rows(grid);
  Buffer<std::uint32_t> cluster_of(n), clusters(n);
  const auto order = grid.order();
  parallel_ranges(n, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      cluster_of[p] =
          order[p] < core.labels.size() ? static_cast<std::uint32_t>(core.labels[order[p]]) : clustering::kNoCluster;
    }
  });
  clustering::find_lowest_clusters(grid, rows, cluster_of.data(), clusters.data(), cancel);
  parallel_ranges(n, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      if (order[p] < core.labels.size()) continue;
      labels[order[p] - core.labels.size()] =
          clusters[p] == clustering::kNoCluster ? kNoise : static_cast<std::int32_t>(clusters[p]);
    }
  });
}

}  // namespace

struct Predictor::State {
  State(const CoreView& core, const EngineOptions& options, const Observer& observer)
      : workers(of_workers(options), "predict()"),
        metric(canonical(core.metric)),
        eps(core.eps),
        count(core.points.size()),
        dims(core.points.dims()),
        backend(make_backend(of_backend(options), observer.on_notice)) {}

  Workers workers;
  Metric metric;
  double eps;
  std::uint64_t count;  ///< number of core points
  std::size_t dims;     ///< of the core points as given
  std::unique_ptr<Backend> backend;
  std::unique_ptr<const StoredCore> stored;  ///< null if the backend cannot keep them
  /// Core points that predict() joins with its points if `stored` is null or cannot search them.
  Points points;
  std::vector<std::int32_t> labels;
  MemoryCharge memory;
};

Predictor::Predictor(const CoreView& core, const EngineOptions& options, const Observer& observer) {
  check_core(core);
  if (core.points.size() > 0) check_metric(core.metric, core.points.dims());
  state_ = std::make_shared<State>(core, options, observer);
  State& state = *state_;
  const CancelToken cancel(observer.cancel);
  cancel.check();
  const std::uint64_t m = state.count;
  if (m == 0) return;
  const std::size_t width = transformed_dims(state.metric, state.dims);
  constexpr std::uint64_t kIndexBytes = 2 * 16 + 4 + 12 + 4;  // sort items, ids, cells, clusters
  MemoryCharge making(state.workers.budget, core.points.bytes() + m * (2 * width * sizeof(double) + kIndexBytes),
                      "the index of the core points");
  const double radius = transformed_radius(state.metric, core.eps);
  BoxFit fit(state.metric);
  if (!state.metric.box.empty()) {
    require_finite(core.points);
    fit.add(core.points, 0, m);
  }
  fit.require_fit(core.eps);
  state.workers.arena.execute([&] {
    Points moved;
    PointsView searched = core.points;
    if (unchanged(state.metric, core.points)) {
      require_finite(core.points);
    } else {
      moved = Points(m, width, Precision::float64);
      transform_all(state.metric, core.points, moved.values<double>().data());
      searched = moved.view();
    }
    cancel.check();
    if (transformed_space(state.metric).plain())
      state.stored = state.backend->keep({searched, core.labels, radius}, cancel);
  });
  if (state.stored == nullptr || state.backend->device() >= 0) {
    state.points = copy_of(core.points);
    state.labels.assign(core.labels.begin(), core.labels.end());
  }
  making = {};
  state.memory = MemoryCharge(state.workers.budget,
                              (state.stored != nullptr ? state.stored->bytes() : 0) + state.points.view().bytes() +
                                  state.labels.size() * sizeof(std::int32_t),
                              "the index of the core points");
}

Labels Predictor::predict(PointsView points, const Observer& observer) const {
  State& state = *state_;
  const CancelToken cancel(observer.cancel);
  cancel.check();
  check_points(state.count, state.dims, points);
  if (state.count == 0) check_metric(state.metric, points.dims());
  const std::uint64_t n = points.size();
  if (n == 0) return {};
  const MemoryCharge inputs(state.workers.budget, points.bytes(), "the points");
  Labels labels;
  if (state.stored != nullptr) {
    const bool as_they_are = points.precision() == Precision::float64 && unchanged(state.metric, points);
    const std::uint64_t moved = as_they_are ? 0 : n * transformed_dims(state.metric, state.dims);
    const MemoryCharge memory(state.workers.budget,
                              moved * sizeof(double) + n * sizeof(std::int32_t) + state.stored->bytes_for(n),
                              "the search of core points");
    state.workers.arena.execute([&] {
      Buffer<double> transformed(moved);
      if (as_they_are) {
        require_finite(points);
      } else {
        transform_all(state.metric, points, transformed.data());
      }
      const std::span<const double> given(static_cast<const double*>(points.data()), as_they_are ? n * state.dims : 0);
      if (auto found = state.stored->assign(as_they_are ? given : transformed.span(), cancel))
        labels = std::move(*found);
    });
    if (!labels.empty()) return labels;
  }
  labels = Labels(n);
  const CoreView core{state.points.view(), state.labels, state.eps, state.metric};
  state.workers.arena.execute([&] { predict_all(core, points, state.workers.budget, cancel, labels); });
  return labels;
}

Labels predict(const CoreView& core, PointsView points, const EngineOptions& options, const Observer& observer) {
  check_core(core);
  check_points(core.points.size(), core.points.dims(), points);  // before the core points are sorted needlessly
  const Predictor predictor(core, options, observer);
  const MemoryCharge given(predictor.state_->workers.budget, core.points.bytes(), "the clustering of the core points");
  return predictor.predict(points, observer);
}

}  // namespace epsflow
