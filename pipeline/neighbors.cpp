#include <epsflow/pipeline/neighbors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/index/distance.hpp>
#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/session.hpp>

namespace epsflow {
namespace {

/// Computes distances of points in their space, in the unit of eps.
class Distance {
 public:
  Distance(const LoadedPoints& points, const Metric& metric)
      : points_(points.host()), metric_(metric), space_(points.space()) {
    for (std::size_t k = 0; k < space_.axes.size(); ++k) periods_.push_back(space_.period(k));
  }

  [[nodiscard]] double operator()(std::uint32_t a, std::uint32_t b) const {
    constexpr double kLeastSum = 0x1p-1000;  // terms of smaller sums lose digits, or vanish
    const double sum = sum_by(space_.norm, a, b, 0, points_.dims());
    return original_distance(metric_, sum < kLeastSum ? near_distance(a, b) : space_.distance(sum));
  }

 private:
  /// Returns the sum over `count` axes from `axis` on.
  [[nodiscard]] double sum_by(Norm norm, std::uint32_t a, std::uint32_t b, std::size_t axis, std::size_t count) const {
    const index::SpaceView view{norm, space_.power, periods_.empty() ? nullptr : periods_.data() + axis};
    return index::norm_sum<0>(
        view, [&](std::size_t k) { return points_.at(a, axis + k); },
        [&](std::size_t k) { return points_.at(b, axis + k); }, count);
  }

  /// Returns a small distance from shares of the largest difference, whose powers do not all vanish.
  [[nodiscard]] double near_distance(std::uint32_t a, std::uint32_t b) const {
    const double largest = sum_by(Norm::chebyshev, a, b, 0, points_.dims());
    if (largest == 0 || space_.norm == Norm::chebyshev) return largest;
    const double power = space_.norm == Norm::euclidean ? 2 : space_.norm == Norm::minkowski ? space_.power : 1;
    double sum = 0;
    for (std::size_t k = 0; k < points_.dims(); ++k)
      sum += std::pow(sum_by(Norm::chebyshev, a, b, k, 1) / largest, power);
    return largest * std::pow(sum, 1 / power);
  }

  PointsView points_;
  const Metric& metric_;
  const Space& space_;
  std::vector<double> periods_;
};

/// Converts rows by position to rows by input id. distance: null if distances are not requested.
Neighbors to_input_order(const Distance* distance, const stages::EpsJob& job, MemoryBudget& budget,
                         const CancelToken& cancel) {
  const NeighborTable& table = *job.table;
  const auto order = job.order.ids;
  const std::uint64_t pairs = table.pairs();
  const MemoryCharge memory(budget, pairs * (distance != nullptr ? 12 : 4) + table.size() * 8,
                            "the neighbour table by input id");
  Neighbors result{Buffer<std::uint64_t>(table.size() + std::uint64_t{1}), Buffer<std::uint32_t>(pairs), {}};
  if (distance != nullptr) result.distances = Buffer<double>(pairs);
  for (std::uint32_t row = 0; row < table.size(); ++row)
    result.offsets[order[row] + std::size_t{1}] = table.counts()[row];
  result.offsets[0] = 0;
  for (std::size_t i = 0; i < table.size(); ++i) result.offsets[i + 1] += result.offsets[i];
  parallel_for(table.blocks().size(), [&](std::size_t b) {
    if (cancel.cancelled()) return;
    table.for_each_row(table.blocks()[b], [&](std::uint32_t row, const RowView& view) {
      const std::uint32_t id = order[row];
      std::uint32_t* const first = result.ids.data() + result.offsets[id];
      std::uint32_t* next = first;
      view.for_each([&](std::uint32_t neighbor) { *next++ = order[neighbor]; });
      std::sort(first, next);
      if (distance == nullptr) return;
      double* out = result.distances.data() + result.offsets[id];
      for (const std::uint32_t* p = first; p < next; ++p) *out++ = (*distance)(id, *p);
    });
  });
  cancel.check();
  return result;
}

/// Returns the options of a run with tables.
RunOptions run_options(const SearchOptions& search) { return {.strategy = StrategyChoice::table, .search = search}; }

}  // namespace

Neighbors neighbors(const PointSet& points, double eps, Distances distances, const EngineOptions& engine,
                    const SearchOptions& options, const Observer& observer) {
  const Sweep sweep({{eps, 1}});
  const RunOptions by_table = run_options(options);
  const LoadedSet loaded(points, engine, by_table, observer);
  const Dataset& data = loaded.data();
  Session session(data, by_table, observer);
  std::optional<Distance> distance;
  if (distances == Distances::include) distance.emplace(session.points(), session.metric());
  Reporter reporter(observer, 1);
  Neighbors result;
  // Memory for the result is charged once the pairs are counted.
  session.run(session.groups(sweep),
              {.result = nullptr,
               .progress = [&](double table_eps, double share) { reporter.progress(table_eps, share); },
               .table =
                   [&](const stages::EpsJob& job) {
                     result = to_input_order(distance ? &*distance : nullptr, job, session.budget(), session.stop());
                     reporter.done([] {});
                   }});
  return result;
}

}  // namespace epsflow
