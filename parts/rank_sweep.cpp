#include <epsflow/parts/rank_sweep.hpp>

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <epsflow/core/backend.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/parts/device_rank.hpp>
#include <epsflow/parts/distribution.hpp>
#include <epsflow/parts/gathered_clusters.hpp>
#include <epsflow/parts/host_rank.hpp>
#include <epsflow/parts/level_totals.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/merge.hpp>
#include <epsflow/parts/part_reach.hpp>
#include <epsflow/parts/part_weights.hpp>
#include <epsflow/parts/resident_part.hpp>
#include <epsflow/parts/transformed_points.hpp>
#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow::parts {
namespace {

/// Throws UsageError on every rank if the values differ between ranks.
void require_same(Communicator& communicator, std::span<const double> values, const char* what) {
  std::vector<double> most(values.begin(), values.end()), least = most;
  communicator.max(std::span(most));
  communicator.min(std::span(least));
  if (most != least) throw UsageError(std::string("the ranks differ in ") + what + ": give all of them the same");
}

void require_same(Communicator& communicator, const Sweep& sweep, const Metric& metric) {
  const auto text = describe(metric);
  const double shape[] = {static_cast<double>(sweep.size()), static_cast<double>(std::hash<std::string>()(text) >> 12)};
  require_same(communicator, shape, "the number of variants or the metric");
  std::vector<double> variants;
  for (const Variant& v : sweep.variants()) variants.insert(variants.end(), {v.eps, static_cast<double>(v.minpts)});
  require_same(communicator, variants, "eps or minpts");
}

/// Returns the share of this rank. A share without points gets the dimensions and precision of the points of other
/// ranks. Throws UsageError on every rank if these differ.
PointsView with_same_shape(Communicator& communicator, PointsView share) {
  const bool empty = share.size() == 0;
  const auto dims = static_cast<double>(share.dims());
  const auto bytes = static_cast<double>(bytes_of(share.precision()));
  double most[] = {empty ? 0 : dims, empty ? 0 : bytes, dims, bytes};
  communicator.max(std::span(most));
  // If no rank has points, all take the largest shape.
  const std::span<const double> shape = std::span(most).subspan(most[0] > 0 ? 0 : 2, 2);
  const double own[] = {empty ? shape[0] : dims, empty ? shape[1] : bytes};
  require_same(communicator, own, "the dimensions of their points, or in their precision");
  if (!empty) return share;
  const auto columns = static_cast<std::size_t>(shape[0]);
  return shape[1] == bytes_of(Precision::float32) ? PointsView(std::span<const float>(), columns)
                                                  : PointsView(std::span<const double>(), columns);
}

/// The host memory of one rank.
class RankBudget {
 public:
  /// share: the points of this rank, which the caller holds.
  RankBudget(PointsView share, const RankPart& part, std::span<const stages::EpsGroup> groups)
      : held_(share.bytes() + part.held_bytes()), clustering_(part.clustering_bytes(stages::most_levels(groups))) {}

  /// Throws ResourceError on every rank if one of them has too little memory.
  void require(Communicator& communicator, std::uint64_t memory) const {
    const std::uint64_t needed = held_ + clustering_;
    double most[] = {needed > memory ? static_cast<double>(needed) : 0};
    communicator.max(std::span(most));
    if (most[0] == 0) return;
    double who[] = {needed > memory && static_cast<double>(needed) == most[0] ? communicator.rank() : -1.0};
    communicator.max(std::span(who));
    throw ResourceError(
        "the part of rank " + format_count(static_cast<std::uint64_t>(who[0])) + " needs " +
        format_bytes(static_cast<std::uint64_t>(most[0])) +
        " for its points, ghosts included, and for clustering them, which is more than the rank's memory "
        "budget: raise EngineOptions::memory, or spread the ranks over more machines");
  }
  /// True if there is memory to count for one eps while another is clustered.
  [[nodiscard]] bool two_fit(std::uint64_t memory) const noexcept { return held_ + 2 * clustering_ <= memory; }

 private:
  std::uint64_t held_;        ///< bytes held for the whole sweep
  std::uint64_t clustering_;  ///< bytes to cluster one eps
};

/// The part of a rank after counting, the part of the work for one eps that needs no other rank.
class LoadedPart {
 public:
  LoadedPart(RankPart& part, const stages::EpsGroup& eps, const RunOptions& options, const CancelToken& cancel)
      : LoadedPart(part.load(PartReach(eps.radius)), part, eps, options, cancel) {}
  LoadedPart(const LoadedPart&) = delete;
  LoadedPart& operator=(const LoadedPart&) = delete;

  const stages::EpsGroup& group;

  [[nodiscard]] const PartView& view() const noexcept { return view_; }
  [[nodiscard]] ResidentPart& visit() noexcept { return resident_; }

 private:
  LoadedPart(RankPart::Loaded&& loaded, const RankPart& part, const stages::EpsGroup& eps, const RunOptions& options,
             const CancelToken& cancel)
      : group(eps),
        view_(std::move(loaded.view)),
        resident_(std::move(loaded.points), view_, part.scale(), {eps.radius, options.search, cancel},
                  {.minpts = eps.minpts, .core_mask = masks_made(options), .labels = part.labels()}) {}

  PartView view_;
  ResidentPart resident_;
};

/// Clusters one eps after another on a rank.
class GroupsOfParts {
 public:
  GroupsOfParts(Communicator& communicator, RankPart& part, const RunOptions& options, std::uint64_t points,
                const OnResult& on_result)
      : communicator_(communicator), part_(part), options_(options), points_(points), on_result_(on_result) {}

  /// Clusters all variants of one eps. Collective.
  void cluster(LoadedPart& part) {
    const stages::EpsGroup& group = part.group;
    if (options_.clusters) clusters_.emplace(communicator_, *part_.distribution(), group.minpts.back());
    // As many levels as all ranks can hold: each level is merged by all ranks together.
    double at_once[] = {static_cast<double>(part.visit().levels_at_once())};
    communicator_.min(std::span(at_once));
    for (std::size_t first = 0; first < group.minpts.size();) {
      const std::size_t count = std::min(static_cast<std::size_t>(at_once[0]), group.minpts.size() - first);
      const auto levels = std::span(group.minpts).subspan(first, count);
      first += count;
      const Stopwatch time;
      const std::vector<PartClusters> found = part.visit().unite(levels, part.view(), false);
      std::vector<MergedClusters> merged;
      std::vector<ClusterNumbers> numbers;
      std::vector<Variant> variants;
      for (std::size_t l = 0; l < levels.size(); ++l) {
        std::vector<std::uint64_t> first_cores = part_.ids(found[l].first);
        first_cores.resize(found[l].count, ~std::uint64_t{0});
        merged.push_back(merge_clusters(communicator_, first_cores, found[l].shared, part.view(), points_));
        numbers.push_back(merged.back().local);
        variants.push_back({group.eps, levels[l]});
      }
      part.visit().label(variants, numbers, [&](VariantResult&& result, std::size_t l, const LevelResult& of_level) {
        const PartView& view = part.view();
        const OwnCounts owned(of_level, part_.read(result, view.owned, view.inner),
                              std::span(found[l].shared).subspan(view.send_list.size()));
        if (clusters_) clusters_->add(result.labels, result.core, merged[l], owned.sizes);
        count_all(result, merged[l], owned);
        return_labels(result, merged[l]);
        if (clusters_) result.clusters = clusters_->gather(result.variant.minpts);
        result.seconds = time.seconds() / static_cast<double>(levels.size());
        on_result_(std::move(result));
      });
    }
  }

 private:
  void count_all(VariantResult& result, const MergedClusters& merged, const OwnCounts& owned) const {
    std::uint64_t counts[] = {owned.counts.core, owned.counts.border, owned.counts.noise};
    communicator_.sum(std::span(counts));
    result.summary = {.clusters = merged.count,
                      .noise = counts[2],
                      .core = counts[0],
                      .border = counts[1],
                      .largest = largest_cluster(communicator_, merged, owned.sizes)};
  }

  /// Returns the labels and masks to the ranks of their rows, if they are stored.
  void return_labels(VariantResult& result, const MergedClusters& merged) const {
    if (options_.keep != Keep::summary) return part_.return_labels(result, merged.global, options_.core_mask);
    result.labels = {};
    result.core.clear();
    result.device_labels = {};
    result.device_core = {};
  }

  Communicator& communicator_;
  RankPart& part_;
  const RunOptions& options_;
  const std::uint64_t points_;
  const OnResult& on_result_;
  std::optional<GatheredClusters> clusters_;  ///< of the current eps, if clusters are requested
};

/// Sends points to the parts of their ranks. moved: the transformed share; reset as soon as it is not needed.
std::unique_ptr<RankPart> make_part(const RankSetting& setting, std::optional<TransformedPoints>& moved,
                                    PointsView share, std::optional<RankWeights> weights, const RunOptions& options,
                                    const Observer& observer) {
  if (!options.clusters && !weights && setting.space.axes.empty()) {
    if (auto part = DeviceRank::make(setting, moved->view(), share, options, observer)) return part;
  }
  Distribution moves(setting.communicator, moved->view(), setting.cuts);
  moved.reset();
  return std::make_unique<HostRank>(setting, std::move(moves), std::move(weights));
}

/// Clusters one eps after another. ahead: the CPU counts for the next eps while threads wait for other ranks.
void cluster_groups(std::span<const stages::EpsGroup> groups, bool ahead, GroupsOfParts& clusterings,
                    const std::function<std::unique_ptr<LoadedPart>(const stages::EpsGroup&)>& count) {
  std::unique_ptr<LoadedPart> next = count(groups.front());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::unique_ptr<LoadedPart> now = std::move(next);
    const bool more = g + 1 < groups.size();
    tbb::task_group beside;
    if (more && ahead) beside.run([&] { next = count(groups[g + 1]); });
    try {
      // While this thread waits, it must not take up the next eps, because other ranks wait for it.
      tbb::this_task_arena::isolate([&] { clusterings.cluster(*now); });
    } catch (...) {
      // Waits to the end. Destroying the group would cancel it, while loops in its tasks would continue.
      try {
        beside.wait();
      } catch (...) {  // the first error is thrown
      }
      throw;
    }
    now.reset();
    beside.wait();
    if (more && !ahead) next = count(groups[g + 1]);
  }
}

/// Throws UsageError if more than one engine is given.
Engine engine_of(const Devices& devices, const Observer& observer) {
  if (devices.engines.size() + devices.options.size() > 1) {
    throw UsageError("a rank has one engine, and " + format_count(devices.engines.size() + devices.options.size()) +
                     " are given: give one, or make more ranks");
  }
  if (!devices.engines.empty()) return devices.engines.front();
  return Engine(devices.options.empty() ? EngineOptions{} : devices.options.front(), observer.on_notice);
}

void check_count(const RunOptions& options, std::uint64_t points) {
  if (!options.clusters || points <= kMaxPoints) return;
  throw ResourceError("RunOptions::clusters knows at most " + format_count(kMaxPoints) + " points, and these are " +
                      format_count(points) + ": leave it out");
}

}  // namespace

PartFigures run_rank(const PointSet& given, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                     const OnResult& on_result, const Observer& observer) {
  const Engine engine = engine_of(devices, observer);
  Communicator& communicator = *devices.ranks;
  const Metric& metric = given.metric;
  const PointRows& rows = given.host_rows();
  const EngineOptions& numbers = engine.options();
  check_options(numbers, options);
  check_parts_have(options, !given.slices.empty());
  if (rows.size() > 0) check_metric(metric, rows.dims());
  PartFigures figures;
  CancelToken none;
  const CancelToken& cancel = observer.cancel != nullptr ? *observer.cancel : none;
  const EngineLock engine_lock(engine, cancel);
  tbb::task_arena arena(static_cast<int>(numbers.threads));
  arena.execute([&] {
    std::optional<Points> brought;
    if (!rows.in_memory()) brought = bring(*rows.source());
    require_same(communicator, sweep, metric);
    const PointsView share = with_same_shape(communicator, brought ? brought->view() : rows.view());
    check_metric(metric, share.dims());
    if (sweep.size() == 0) return;
    const std::vector<stages::EpsGroup> groups = stages::group_by_eps(sweep, metric);
    const Space space = transformed_space(metric);
    std::optional<RankWeights> weights = scale_weights(communicator, given.weights, share.size());
    check_weights(options, weights && weights->scale.negative());
    const Stopwatch time;
    Reporter reporter(observer, sweep.size());
    std::optional<TransformedPoints> moved(std::in_place, share, metric,
                                           [&](std::span<double> most) { communicator.max(most); });
    for (const Variant& variant : sweep.variants()) moved->require_fit(variant.eps);
    const Partition cuts = devices.cuts != nullptr ? *devices.cuts : cut_space(communicator, moved->view());
    const std::uint64_t points = communicator.sum(share.size());
    check_count(options, points);
    const std::vector<double> reaches = reaches_of(groups);
    const std::unique_ptr<RankPart> part = make_part({communicator, engine_lock.backend(), cuts, space, reaches}, moved,
                                                     share, std::move(weights), options, observer);
    moved.reset();
    const RankBudget budget(share, *part, groups);
    budget.require(communicator, numbers.memory);
    figures.points = part->owned();
    figures.ghosts = part->ghosts();
    figures.distribute_seconds = time.seconds();
    const OnResult take = [&](VariantResult&& result) { reporter.done([&] { on_result(std::move(result)); }); };
    GroupsOfParts clusterings(communicator, *part, options, points, take);
    cluster_groups(groups, part->loads_alone() && budget.two_fit(numbers.memory), clusterings,
                   [&](const stages::EpsGroup& group) {
                     cancel.check();
                     return std::make_unique<LoadedPart>(*part, group, options, cancel);
                   });
    part->leave();
    figures.cluster_seconds = time.seconds() - figures.distribute_seconds;
    figures.sent_bytes = part->sent_bytes();
  });
  figures.sent_bytes += communicator.sent_bytes();
  return figures;
}

}  // namespace epsflow::parts
