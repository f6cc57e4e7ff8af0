#include <epsflow/pipeline/predict.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <string>

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

void check_core(const CoreView& core, PointsView points) {
  (void)Sweep({{core.eps, 1}});  // checks eps
  if (core.labels.size() != core.points.size()) {
    throw UsageError("there are " + std::to_string(core.points.size()) + " core points and " +
                     std::to_string(core.labels.size()) + " labels: give one for each");
  }
  if (points.size() > 0 && core.points.size() > 0 && points.dims() != core.points.dims()) {
    throw UsageError("the points have " + std::to_string(points.dims()) + " dimensions and the core points " +
                     std::to_string(core.points.dims()) + ": give both the same columns");
  }
  if (core.points.size() + points.size() > kMaxPoints) {
    throw UsageError("core points and points are more than " + std::to_string(kMaxPoints) +
                     " together: give the points in parts");
  }
  const auto bad = std::find_if(core.labels.begin(), core.labels.end(), [](std::int32_t label) { return label < 0; });
  if (bad != core.labels.end()) {
    throw UsageError("core point " + std::to_string(bad - core.labels.begin()) + " has the label " +
                     std::to_string(*bad) + ", and a core point is in a cluster: give core points alone");
  }
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

Labels predict(const CoreView& given, PointsView points, const EngineOptions& options, const Observer& observer) {
  Workers workers(options, "predict()");
  check_core(given, points);
  check_metric(given.metric, given.points.size() > 0 ? given.points.dims() : points.dims());
  const CoreView core{given.points, given.labels, given.eps, canonical(given.metric)};
  Labels labels(points.size());
  if (points.size() == 0) return labels;
  const CancelToken cancel(observer.cancel);
  cancel.check();
  const MemoryCharge inputs(workers.budget, core.points.bytes() + points.bytes(), "the points");
  workers.arena.execute([&] { predict_all(core, points, workers.budget, cancel, labels); });
  return labels;
}

}  // namespace epsflow
