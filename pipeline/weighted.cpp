#include <epsflow/pipeline/weighted.hpp>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include <epsflow/clustering/cluster_source.hpp>
#include <epsflow/clustering/label_clusters.hpp>
#include <epsflow/clustering/searched_source.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/pipeline/in_order.hpp>
#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {
namespace {

constexpr std::uint32_t kBlockRows = 512;

/// Points of one eps, searched on the CPU.
class Searched {
 public:
  Searched(PointsView points, const Space& space, double radius, const CancelToken& cancel)
      : grid_(points, radius, Cells::reach, cancel, space), rows_(grid_), cancel_(cancel) {}

  [[nodiscard]] static std::uint64_t bytes(std::uint64_t n, std::size_t dims) {
    constexpr std::uint64_t kEachPoint = 2 * 16 + 4 + 12 + 8 + 2 * 4;  // sort items, ids, cells, sum, clusters twice
    return n * (dims * sizeof(double) + kEachPoint) + index::RowSearch::most_bytes(n, dims);
  }

  /// Of the weights of each point's neighbours. [n] by id
  [[nodiscard]] Buffer<double> sums(const WholeWeights& weights) const {
    const std::uint32_t n = grid_.size();
    const auto order = grid_.order();
    Buffer<double> sums(n);
    tbb::parallel_for(std::uint32_t{0}, n / kBlockRows + 1, [&](std::uint32_t b) {
      if (cancel_.cancelled()) return;
      std::vector<std::uint32_t> ids;
      const std::uint32_t first = std::min(n, b * kBlockRows);
      const Range block{first, first + std::min(kBlockRows, n - first)};
      index::for_each_bundle(grid_, block, [&](Range bundle, std::span<const Range> candidates) {
        std::uint64_t most = 0;
        for (const Range& range : candidates) most += range.size();
        ids.resize(std::max(ids.size(), most + index::RowSearch::kSlack));
        for (std::uint32_t row = bundle.begin; row < bundle.end; ++row) {
          std::uint32_t count = 0;
          (void)rows_.ids({row, row + 1}, candidates, ids.data(), most, &count);
          WholeWeights::Sum sum = 0;
          for (std::uint32_t i = 0; i < count; ++i) sum += weights[order[ids[i]]];
          sums[order[row]] = weights.weight_of(sum);
        }
      });
    });
    cancel_.check();
    return sums;
  }

  /// The lowest cluster of each point's core neighbours, its own where it is core. cluster_of: by id, kNoise for points that
  /// are not core. labels: by id.
  void label(std::span<const std::int32_t> cluster_of, Labels& labels) const {
    const std::size_t n = grid_.size();
    const auto order = grid_.order();
    Buffer<std::uint32_t> known(n), found(n);
    for (std::size_t p = 0; p < n; ++p) known[p] = static_cast<std::uint32_t>(cluster_of[order[p]]);
    static_assert(static_cast<std::uint32_t>(kNoise) == clustering::kNoCluster);
    clustering::find_lowest_clusters(grid_, rows_, known.data(), found.data(), cancel_);
    for (std::size_t p = 0; p < n; ++p) labels[order[p]] = static_cast<std::int32_t>(found[p]);
  }

 private:
  index::Grid grid_;
  index::RowSearch rows_;
  const CancelToken& cancel_;
};

/// The points of a mask.
Points chosen(PointsView points, std::span<const std::uint8_t> mask, std::size_t count) {
  Points subset(count, points.dims(), points.precision());
  const std::size_t row = points.dims() * bytes_of(points.precision());
  const auto* from = static_cast<const std::byte*>(points.data());
  auto* to = points.precision() == Precision::float32 ? std::as_writable_bytes(subset.values<float>()).data()
                                                      : std::as_writable_bytes(subset.values<double>()).data();
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    std::copy_n(from + i * row, row, to);
    to += row;
  }
  return subset;
}

}  // namespace

std::vector<VariantResult> run_weighted(const Dataset& data, std::span<const double> weights, const Sweep& sweep,
                                        const RunOptions& given, const Observer& observer) {
  using Clock = std::chrono::steady_clock;
  if (weights.size() != data.size()) {
    throw UsageError("there are " + format_count(data.size(), "point") + " and " +
                     format_count(weights.size(), "weight") + ": give one for each");
  }
  const WholeWeights whole(weights);
  RunOptions options = given;
  if (options.labels == MemorySpace::device) {
    throw UsageError("labels of points with weights are made on the host: leave RunOptions::labels out");
  }
  if (options.verify) {
    throw UsageError("RunOptions::verify does not know weights: leave it out");
  }
  const bool keep_core = std::exchange(options.core_mask, false);
  const CancelToken cancel(observer.cancel);
  Reporter reporter(observer, sweep.size());
  const std::size_t n = data.size();
  // The engine's turn is taken for each step: runs of core points take it for themselves.
  PointsView points;
  const Metric metric = metric_of_moved(data.metric());
  std::vector<stages::EpsGroup> groups;
  {
    Session session(data, options, observer);
    points = session.points().host();
    groups = stages::group_by_eps(sweep, session.metric());
  }
  return in_order(sweep, [&](const OnResult& on_result) {
    for (const stages::EpsGroup& group : groups) {
      const auto begin = Clock::now();
      MemoryCharge memory;
      std::unique_ptr<const Searched> searched;
      Buffer<double> sums;
      const auto on_engine = [&](const auto& work) {
        Session session(data, options, observer);
        if (searched == nullptr) {
          memory = MemoryCharge(session.budget(), Searched::bytes(n, points.dims()), "the sums of weights");
        }
        session.on_threads(work);
      };
      on_engine([&] {
        searched = std::make_unique<const Searched>(points, moved_space(metric), group.radius, cancel);
        sums = searched->sums(whole);
      });
      double share =
          std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(group.minpts.size());
      for (const std::uint32_t minpts : group.minpts) {
        const auto started = Clock::now();
        std::vector<std::uint8_t> core(n);
        for (std::size_t i = 0; i < n; ++i) core[i] = sums[i] >= minpts ? 1 : 0;
        const auto count = static_cast<std::size_t>(std::count(core.begin(), core.end(), std::uint8_t{1}));
        Labels cluster_of(std::vector<std::int32_t>(n, kNoise));
        std::uint64_t clusters = 0;
        if (count > 0) {
          // Among themselves all core points are core: their clusters are those of one point each or more.
          const Points subset = chosen(points, core, count);
          const Dataset loaded = data.engine().load(subset.view(), metric, &cancel);
          const VariantResult found = std::move(
              run(loaded, grid({group.radius}, {1}), options, {.cancel = &cancel, .trace = observer.trace}).front());
          clusters = found.summary.clusters;
          std::size_t next = 0;
          for (std::size_t i = 0; i < n; ++i) {
            if (core[i] != 0) cluster_of[i] = found.labels[next++];
          }
        }
        VariantResult result;
        result.variant = {group.eps, minpts};
        result.labels = Labels(n);
        on_engine([&] { searched->label(cluster_of, result.labels); });
        result.summary = clustering::summarise(result.labels, core, clusters);
        if (keep_core) result.core = std::move(core);
        result.seconds = share + std::chrono::duration<double>(Clock::now() - started).count();
        reporter.done([&] { on_result(std::move(result)); });
      }
    }
  });
}

}  // namespace epsflow
