#include <epsflow/parts/part_sweep.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/index/distance.hpp>
#include <epsflow/parts/merge.hpp>
#include <epsflow/parts/part.hpp>
#include <epsflow/pipeline/make_backend.hpp>
#include <epsflow/pipeline/workers.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow::parts {
namespace {

using Clock = std::chrono::steady_clock;

/// More than what rounds in distances of points from cuts.
constexpr double kSlack = 1 + 0x1p-10;

double reach_of(double radius) { return index::neighbor_reach(radius) * kSlack; }

void check(const RunOptions& options) {
  const auto refuse = [](bool wanted, const char* what) {
    if (wanted) throw UsageError(std::string(what) + " is not to be had of points in parts: leave it out");
  };
  refuse(options.verify, "RunOptions::verify");
  refuse(options.clusters, "RunOptions::clusters");
  refuse(options.keep != Keep::labels, "RunOptions::keep = Keep::summary");
  refuse(options.labels != MemorySpace::host, "RunOptions::labels = MemorySpace::device");
  refuse(options.strategy == StrategyChoice::table || table_wanted(options), "a neighbour table");
}

/// Throws UsageError on every rank where they differ.
void require_same(Exchange& exchange, std::span<const double> values, const char* what) {
  std::vector<double> most(values.begin(), values.end()), least = most;
  exchange.max(std::span(most));
  exchange.min(std::span(least));
  if (most != least) throw UsageError(std::string("the ranks differ in ") + what + ": give all of them the same");
}

void require_same(Exchange& exchange, PointsView share, const Sweep& sweep, const Metric& metric) {
  const auto text = describe(metric);
  const double shape[] = {static_cast<double>(sweep.size()), static_cast<double>(std::hash<std::string>()(text) >> 12)};
  require_same(exchange, shape, "the number of variants or the metric");
  std::vector<double> variants;
  for (const Variant& v : sweep.variants()) variants.insert(variants.end(), {v.eps, static_cast<double>(v.minpts)});
  require_same(exchange, variants, "eps or minpts");
  // A rank without points has any dimensions.
  const double dims[] = {static_cast<double>(share.dims()), static_cast<double>(bytes_of(share.precision()))};
  require_same(exchange, dims, "the dimensions of their points, or in their precision");
}

/// The share as it is searched; `room` holds it where the metric moves it.
PointsView moved(Exchange& exchange, PointsView share, const Metric& metric, Points& room) {
  const std::uint64_t moves = stay(metric, share, 0, share.size()) ? 0 : 1;
  if (exchange.max(moves) == 0) {
    require_finite(share);
    return share;
  }
  const std::size_t d = moved_dims(metric, share.dims());
  room = Points(share.size(), d, Precision::float64);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, share.size(), 1 << 14), [&](const auto& range) {
    move_points(metric, share, range.begin(), range.end(), room.values<double>().data() + range.begin() * d);
  });
  return room.view();
}

/// The clusterings of one eps.
class GroupOfParts {
 public:
  GroupOfParts(Exchange& exchange, const Distribution& distribution, std::uint64_t points, const Part::View& view,
               const Index& index, const DirectOptions& options)
      : exchange_(exchange),
        distribution_(distribution),
        points_(points),
        view_(view),
        options_(options),
        counted_(index.count(options)),
        place_(index.place(options)) {
    share_levels();
  }

  void cluster(double eps, const OnResult& on_result) {
    std::span<const std::uint32_t> minpts = options_.minpts;
    while (!minpts.empty()) {
      const auto levels = minpts.first(std::min(counted_->levels_at_once(), minpts.size()));
      minpts = minpts.subspan(levels.size());
      const Clock::time_point begin = Clock::now();
      United* united = nullptr;
      std::vector<MergedClusters> merged;
      std::vector<LabelTarget> targets;
      for (const std::uint32_t level : levels) {
        united = &counted_->unite(level);
        merged.push_back(merge(*united));
        targets.push_back(place_->next());
      }
      std::vector<ClusterNumbers> numbers;
      for (MergedClusters& one : merged) numbers.push_back(std::move(one.local));
      std::vector<LevelResult> results = united->label(targets, numbers);
      std::size_t l = 0;
      const auto take = [&](VariantResult&& result) {
        finish(result, merged[l], results[l]);
        result.seconds =
            std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(levels.size());
        on_result(std::move(result));
        ++l;
      };
      for (const std::uint32_t level : levels) {
        VariantResult result;
        result.variant = {eps, level};
        place_->take(std::move(result), take);
      }
      place_->finish(take);
    }
  }

 private:
  /// Which ghosts are core, by what their parts have counted.
  void share_levels() {
    const std::vector<std::uint16_t> levels = counted_->lent_levels();
    Letters<std::uint16_t> letters(view_.lent_to.size());
    std::size_t at = 0;
    for (std::size_t r = 0; r < letters.size(); ++r) {
      letters[r].assign(levels.begin() + static_cast<std::ptrdiff_t>(at),
                        levels.begin() + static_cast<std::ptrdiff_t>(at + view_.lent_to[r]));
      at += view_.lent_to[r];
    }
    letters = all_to_all(exchange_, letters);
    std::vector<std::uint16_t> borrowed;
    for (const auto& letter : letters) borrowed.insert(borrowed.end(), letter.begin(), letter.end());
    counted_->borrow_levels(borrowed);
  }

  MergedClusters merge(United& united) {
    std::vector<std::uint64_t> first;
    for (const std::uint32_t id : united.first_cores()) {
      // A cluster of ghosts alone has its first core point in another part.
      first.push_back(id < distribution_.ids().size() ? distribution_.ids()[id] : ~std::uint64_t{0});
    }
    return merge_clusters(exchange_, first, united.shared_clusters(), view_, points_);
  }

  /// Counts of all parts, and labels where the points came from.
  void finish(VariantResult& result, const MergedClusters& merged, const LevelResult& level) {
    std::uint64_t counts[] = {level.summary.core, level.summary.border, level.summary.noise};
    exchange_.sum(std::span(counts));
    result.summary = {.clusters = merged.count,
                      .noise = counts[2],
                      .core = counts[0],
                      .border = counts[1],
                      .largest = largest_cluster(exchange_, merged, level.clusters.size)};
    std::int32_t* const labels = result.labels.data();
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, result.labels.size(), 1 << 14), [&](const auto& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        if (labels[i] != kNoise) {
          labels[i] = static_cast<std::int32_t>(merged.global[static_cast<std::size_t>(labels[i])]);
        }
      }
    });
    Labels back(distribution_.share());
    distribution_.bring_back<std::int32_t>(exchange_, result.labels.span(), back.data());
    result.labels = std::move(back);
    if (!options_.core_mask) return;
    std::vector<std::uint8_t> core(distribution_.share());
    distribution_.bring_back<std::uint8_t>(exchange_, result.core, core.data());
    result.core = std::move(core);
  }

  Exchange& exchange_;
  const Distribution& distribution_;
  std::uint64_t points_;
  const Part::View& view_;
  const DirectOptions& options_;
  std::unique_ptr<Counted> counted_;
  std::unique_ptr<LabelPlace> place_;
};

}  // namespace

PartFigures run_each(Exchange& exchange, PointsView share, const Metric& metric, const Sweep& sweep,
                     const OnResult& on_result, const EngineOptions& engine, const RunOptions& options,
                     const Observer& observer, const Partition* partition) {
  check_options(engine, options);
  check(options);
  check_metric(metric, share.dims());
  EngineOptions numbers = settled(engine);
  PartFigures figures;
  CancelToken none;
  const CancelToken& cancel = observer.cancel != nullptr ? *observer.cancel : none;
  const std::unique_ptr<Backend> backend = make_backend(numbers, observer.on_notice);
  tbb::task_arena arena(static_cast<int>(numbers.threads));
  arena.execute([&] {
    require_same(exchange, share, sweep, metric);
    if (sweep.size() == 0) return;
    const std::vector<stages::EpsGroup> groups = stages::group_by_eps(sweep, metric);
    const Space space = moved_space(metric);
    const Space open{space.norm, space.power};
    const Clock::time_point begin = Clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    std::optional<Points> room(std::in_place);
    const PointsView searched = moved(exchange, share, metric, *room);
    const Partition cuts = partition != nullptr ? *partition : cut_space(exchange, searched);
    const Distribution distribution(exchange, searched, cuts);
    room.reset();
    const std::uint64_t points = exchange.sum(share.size());
    Part part(exchange, distribution, cuts, space, reach_of(groups.front().radius));
    figures.points = part.own();
    figures.ghosts = part.ghosts();
    figures.distribute_seconds = seconds();
    for (const stages::EpsGroup& group : groups) {
      cancel.check();
      const Part::View view = part.view(reach_of(group.radius));
      const SharedPoints shared{view.lent, static_cast<std::uint32_t>(view.points.size() - part.own())};
      const DirectOptions direct{.minpts = group.minpts, .core_mask = options.core_mask, .shared = &shared};
      const std::unique_ptr<LoadedPoints> loaded = backend->load(view.points, open);
      const bool cliques = loaded->dims() <= index::kMostCliqueDims;
      const std::unique_ptr<Index> index = loaded->build_index({.eps = group.radius,
                                                                .cells = cliques ? Cells::clique : Cells::reach,
                                                                .index = options.search.index,
                                                                .decide = options.search.decide},
                                                               cancel);
      GroupOfParts(exchange, distribution, points, view, *index, direct).cluster(group.eps, on_result);
    }
    figures.cluster_seconds = seconds() - figures.distribute_seconds;
  });
  figures.sent_bytes = exchange.sent_bytes();
  return figures;
}

}  // namespace epsflow::parts
