#include <epsflow/parts/local_sweep.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/parts/device_sweep.hpp>
#include <epsflow/parts/level_totals.hpp>
#include <epsflow/parts/local_merge.hpp>
#include <epsflow/parts/local_parts.hpp>
#include <epsflow/parts/part_reach.hpp>
#include <epsflow/parts/resident_part.hpp>
#include <epsflow/parts/row_clusters.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/parts/transformed_points.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow::parts {
namespace {

ClusterNumbers as_they_are(std::size_t clusters) {
  ClusterNumbers numbers;
  numbers.count = static_cast<std::uint32_t>(clusters);
  numbers.numbers.resize(clusters);
  std::iota(numbers.numbers.begin(), numbers.numbers.end(), 0U);
  return numbers;
}

/// Clusters all variants of one eps.
class LocalGroup {
 public:
  /// The parts of a sweep, and all that is the same for each eps. The objects it refers to must outlive the
  /// clusterings.
  struct Setting {
    const LocalParts& points;
    std::span<const PartWorker> workers;
    const Space& space;
    const WeightScale* scale;  ///< null if points have no weights
    const RunOptions& options;
    std::uint64_t memory;  ///< bytes that the labels of several variants may take
    CancelToken& stop;
  };

  LocalGroup(const Setting& setting, const stages::EpsGroup& group)
      : setting_(setting),
        points_(setting.points),
        workers_(setting.workers),
        group_(group),
        reach_(group.radius),
        options_(setting.options),
        stop_(setting.stop),
        stay_(points_.parts() <= kTogether * workers_.size()),
        // With minpts of at most 2 every point with a core neighbour is core itself, unless points have weights.
        borders_(group.minpts.front() > 2 || setting.scale != nullptr),
        loading_(workers_.size()),
        views_(points_.parts()),
        residents_(points_.parts()),
        owners_(points_.parts()) {}

  void cluster(const OnResult& on_result) {
    std::optional<RowClusters> clusters;
    if (options_.clusters) clusters.emplace(points_.rows().rows(), group_.minpts.back());
    on_parts([&](std::size_t part, std::size_t, std::size_t) {
      views_[part] = points_.view(part, reach_.inner, reach_.outer);
    });
    std::size_t at_once = levels_in_memory();
    if (stay_) {
      on_parts([&](std::size_t part, std::size_t worker, std::size_t) { bring(part, worker, group_.minpts); });
      for (const auto& visit : residents_) at_once = std::min(at_once, visit->levels_at_once());
    }
    for (std::size_t first = 0; first < group_.minpts.size();) {
      stop_.check();
      const Stopwatch time;
      const std::size_t count = std::min(at_once, group_.minpts.size() - first);
      Round round(std::span(group_.minpts).subspan(first, count), points_.parts(), group_.eps);
      first += count;
      make(round);
      for (std::size_t l = 0; l < count; ++l) {
        VariantResult& result = round.results[l];
        std::vector<std::uint32_t> sizes(clusters ? round.merged[l].count : 0, 0);
        put_together(round, l, sizes);
        if (clusters) result.clusters = clusters->take(result, std::move(round.merged[l].first_core), std::move(sizes));
        if (options_.keep == Keep::summary) result.labels = {};
        if (options_.keep == Keep::summary || !options_.core_mask) result.core = {};
        result.seconds = time.seconds() / static_cast<double>(count);
        on_result(std::move(result));
      }
    }
  }

 private:
  /// A border point, its cluster, and another cluster that it could belong to.
  struct Move {
    std::uint32_t point;
    std::uint32_t from;
    std::uint32_t to;
  };
  /// A level of a part. Its labels are retained until the labels of all parts are known.
  struct OfPart {
    Labels labels;  ///< [own or more] numbered by the part's own clusters, or by NumberedSets::local
    std::vector<std::uint8_t> core;
    OwnCounts found;          ///< by the numbers in the labels
    std::vector<Move> moves;  ///< ascending by point
  };
  /// Some levels that are labelled together.
  struct Round {
    Round(std::span<const std::uint32_t> levels, std::size_t parts, double eps)
        : minpts(levels), merged(levels.size()), labelled(parts, 0) {
      for (const std::uint32_t level : levels) {
        variants.push_back({eps, level});
        results.emplace_back().variant = variants.back();
        sets.emplace_back(parts);
        of_parts.emplace_back(parts);
      }
    }

    std::span<const std::uint32_t> minpts;
    std::vector<Variant> variants;
    std::vector<VariantResult> results;
    std::vector<MergedSets> merged;
    std::vector<std::uint8_t> labelled;         ///< [part] 1 if it is labelled by its own clusters
    std::vector<std::vector<PartSets>> sets;    ///< [level][part]
    std::vector<std::vector<OfPart>> of_parts;  ///< [level][part]
  };

  [[nodiscard]] std::size_t levels_in_memory() const {
    if (!labels_retained(options_)) return group_.minpts.size();
    // The labels of parts and of the result, with masks.
    const std::uint64_t bytes = std::max<std::uint64_t>(1, kBytesPerLabel * points_.rows().rows());
    return static_cast<std::size_t>(std::max<std::uint64_t>(1, setting_.memory / bytes));
  }

  /// Calls body(part, worker, left) once for each part. A worker takes its own parts (if all stay loaded, each worker
  /// has some), then parts that no worker holds, until it holds one. left: the number of parts not taken yet.
  template <class F>
  void on_parts(F&& body) {
    std::vector<std::optional<std::size_t>> homes = owners_;
    for (std::size_t p = 0; p < homes.size() && stay_; ++p) homes[p] = p % workers_.size();
    std::deque<std::atomic<bool>> taken(homes.size());
    std::atomic<std::size_t> to_take = homes.size();
    run_together(workers_.size() * kTogether, stop_, [&](std::size_t thread) {
      const std::size_t worker = thread % workers_.size();
      tbb::task_arena arena(static_cast<int>(workers_[worker].threads));
      arena.execute([&] {
        for (const bool mine : {true, false}) {
          for (std::size_t p = 0; p < homes.size(); ++p) {
            if (mine ? homes[p] != worker : homes[p].has_value()) continue;
            if (taken[p].exchange(true)) continue;
            const std::size_t left = --to_take;
            stop_.check();
            body(p, worker, left);
            if (residents_[p] != nullptr && !stay_) return;
          }
        }
      });
    });
  }

  void bring(std::size_t part, std::size_t worker, std::span<const std::uint32_t> minpts) {
    const DirectOptions direct{.minpts = minpts, .core_mask = masks_made(options_)};
    const PointsSource source = points_.source(views_[part], reach_.inner, reach_.outer);
    Backend& backend = workers_[worker].backend;
    PartPoints brought;
    {
      const std::scoped_lock lock(loading_[worker]);
      brought.loaded = backend.load(source, setting_.space);
    }
    if (brought.loaded == nullptr) {
      brought.coordinates = epsflow::bring(source);
      brought.loaded = backend.load(brought.coordinates.view(), setting_.space);
    }
    residents_[part] = std::make_unique<ResidentPart>(std::move(brought), views_[part], setting_.scale,
                                                      PartSearch{group_.radius, options_.search, stop_}, direct);
    owners_[part] = worker;
  }
  void evict(std::size_t part) {
    residents_[part].reset();
    owners_[part].reset();
  }

  void make(Round& round) {
    on_parts([&](std::size_t part, std::size_t worker, std::size_t left) { find(round, part, worker, left); });
    for (std::size_t l = 0; l < round.minpts.size(); ++l) {
      round.merged[l] = merge_sets(views_, round.sets[l]);
    }
    if (std::ranges::any_of(round.labelled, [](std::uint8_t done) { return done == 0; })) {
      on_parts([&](std::size_t part, std::size_t worker, std::size_t) {
        if (round.labelled[part] == 0) label(round, part, worker);
      });
    }
  }

  /// Calls f(first, last) for batches of at most visit.levels_at_once() levels.
  template <class F>
  static void in_batches(const Round& round, const ResidentPart& visit, F&& f) {
    for (std::size_t first = 0; first < round.minpts.size();) {
      const std::size_t last = std::min(round.minpts.size(), first + visit.levels_at_once());
      f(first, last);
      first = last;
    }
  }

  std::vector<PartSets> unite(const Round& round, std::size_t part, std::size_t first, std::size_t last, bool ties) {
    std::vector<PartSets> sets;
    for (auto& found : residents_[part]->unite(round.minpts.subspan(first, last - first), views_[part], ties)) {
      std::vector<std::uint32_t> rows = points_.rows().rows_of(part, found.first);
      sets.emplace_back(std::move(found), std::move(rows));
    }
    return sets;
  }

  /// Finds the clusters of a part. Also labels it by these, if it then need not be loaded again.
  void find(Round& round, std::size_t part, std::size_t worker, std::size_t left) {
    if (!stay_) bring(part, worker, round.minpts);
    ResidentPart& visit = *residents_[part];
    // The last part that a thread takes stays loaded until it is labelled, if all levels fit at once.
    const bool ends = left < kTogether * workers_.size() && visit.levels_at_once() >= round.minpts.size();
    bool labelled = !stay_;
    in_batches(round, visit, [&](std::size_t first, std::size_t last) {
      std::vector<PartSets> sets = unite(round, part, first, last, !stay_ && borders_);
      std::vector<ClusterNumbers> numbers;
      for (std::size_t l = first; l < last; ++l) {
        PartSets& known = round.sets[l][part] = std::move(sets[l - first]);
        labelled = labelled && (!borders_ || known.ties.has_value());
        numbers.push_back(as_they_are(known.first.size()));
      }
      if (labelled) {
        visit.label(std::span(round.variants).subspan(first, last - first), numbers,
                    [&](VariantResult&& result, std::size_t l, const LevelResult& found) {
                      take(round, part, first + l, std::move(result), found);
                      find_moves(round, part, first + l);
                      if (!labels_retained(options_)) round.of_parts[first + l][part].labels = {};
                    });
      } else if (last < round.minpts.size()) {
        visit.leave(numbers);
      }
    });
    round.labelled[part] = labelled ? 1 : 0;
    if (!stay_ && (labelled || !ends)) evict(part);
  }

  void label(Round& round, std::size_t part, std::size_t worker) {
    const bool found = residents_[part] != nullptr;
    if (!found) bring(part, worker, round.minpts);
    ResidentPart& visit = *residents_[part];
    in_batches(round, visit, [&](std::size_t first, std::size_t last) {
      if (!found) (void)unite(round, part, first, last, false);
      std::vector<ClusterNumbers> numbers;
      for (std::size_t l = first; l < last; ++l) numbers.push_back(round.merged[l].of_parts[part].local);
      visit.label(std::span(round.variants).subspan(first, last - first), numbers,
                  [&](VariantResult&& result, std::size_t l, const LevelResult& of_level) {
                    take(round, part, first + l, std::move(result), of_level);
                    if (!labels_retained(options_)) round.of_parts[first + l][part].labels = {};
                  });
    });
    if (!stay_) evict(part);
  }

  /// Stores the labels and counts of own points. result: labelled by the numbers of the part's own clusters or of all
  /// clusters.
  void take(Round& round, std::size_t part, std::size_t level, VariantResult&& result, const LevelResult& found) {
    const PartView& view = views_[part];
    OfPart& owned = round.of_parts[level][part];
    owned.found = {found, result.labels.span().subspan(view.owned, view.inner),
                   std::span(round.sets[level][part].shared).subspan(view.send_list.size())};
    owned.core = std::move(result.core);
    owned.labels = std::move(result.labels);
  }

  /// Turns the border ties of a part into moves, for labels numbered by the part's own clusters.
  static void find_moves(Round& round, std::size_t part, std::size_t level) {
    PartSets& known = round.sets[level][part];
    OfPart& owned = round.of_parts[level][part];
    if (!known.ties) return;
    owned.moves.reserve(known.ties->size());
    for (const auto& [point, cluster] : *known.ties) {
      owned.moves.push_back({point, static_cast<std::uint32_t>(owned.labels[point]), cluster});
    }
    std::ranges::sort(owned.moves, {}, &Move::point);
    known.ties.reset();
  }

  /// Makes the labels and counts of a level from the parts' labels and counts. sizes: [clusters] to add to, or empty.
  void put_together(Round& round, std::size_t level, std::vector<std::uint32_t>& sizes) {
    std::vector<OfPart>& of_parts = round.of_parts[level];
    std::vector<std::vector<std::int32_t>> numbers(points_.parts());  // [local] number of each among all
    LevelTotals totals;
    for (std::size_t part = 0; part < points_.parts(); ++part) {
      const NumberedSets& sets = round.merged[level].of_parts[part];
      OfPart& owned = of_parts[part];
      if (round.labelled[part] != 0) {
        std::vector<std::uint32_t> merged(sets.local.count, 0);
        for (std::size_t k = 0; k < owned.found.sizes.size(); ++k)
          merged[sets.local.numbers[k]] += owned.found.sizes[k];
        owned.found.sizes = std::move(merged);
        numbers[part].reserve(sets.local.numbers.size());
        for (const std::uint32_t local : sets.local.numbers) {
          numbers[part].push_back(static_cast<std::int32_t>(sets.global[local]));
        }
        move_borders(owned, sets, numbers[part]);
      } else {
        numbers[part].assign(sets.global.begin(), sets.global.end());
      }
      totals.add(owned.found, sets, sizes);
    }
    VariantResult& result = round.results[level];
    result.summary = totals.summary(round.merged[level].count);
    if (labels_retained(options_)) {
      result.labels = Labels(points_.rows().rows());
      std::int32_t* const to = result.labels.data();
      points_.rows().for_all([&](std::size_t part, std::size_t row, std::size_t id) {
        const std::int32_t label = of_parts[part].labels[id];
        to[row] = label == kNoise ? kNoise : numbers[part][static_cast<std::size_t>(label)];
      });
    }
    if (masks_made(options_)) {
      result.core.resize(points_.rows().rows());
      std::uint8_t* const to = result.core.data();
      points_.rows().for_all(
          [&](std::size_t part, std::size_t row, std::size_t id) { to[row] = of_parts[part].core[id]; });
    }
    of_parts.clear();
  }

  /// Moves border points to the lowest of their clusters. numbers: [own clusters] number of each among all.
  static void move_borders(OfPart& owned, const NumberedSets& sets, std::span<const std::int32_t> numbers) {
    for (std::size_t m = 0; m < owned.moves.size();) {
      const auto [point, from, first] = owned.moves[m];
      std::uint32_t best = from;
      for (; m < owned.moves.size() && owned.moves[m].point == point; ++m) {
        if (numbers[owned.moves[m].to] < numbers[best]) best = owned.moves[m].to;
      }
      if (best == from) continue;
      --owned.found.sizes[sets.local.numbers[from]];
      ++owned.found.sizes[sets.local.numbers[best]];
      if (!owned.labels.empty()) owned.labels[point] = static_cast<std::int32_t>(best);
    }
  }

  const Setting setting_;
  const LocalParts& points_;
  std::span<const PartWorker> workers_;
  const stages::EpsGroup& group_;
  const PartReach reach_;
  const RunOptions& options_;
  CancelToken& stop_;
  const bool stay_;                 ///< all parts stay loaded by the workers
  const bool borders_;              ///< true if there may be border points
  std::deque<std::mutex> loading_;  ///< [workers] held while a part is loaded, not while one is clustered
  std::vector<PartView> views_;     ///< [parts]
  std::vector<std::unique_ptr<ResidentPart>> residents_;  ///< [parts] null if the part is not loaded
  std::vector<std::optional<std::size_t>> owners_;        ///< [parts] the worker that holds the part
};

/// The memory budget of a sweep in parts.
class PartsBudget {
 public:
  /// input: the points after the transformation of the metric. levels: the largest number of minpts of one eps.
  PartsBudget(const LocalSweep& what, const RunOptions& options, const PointRows& input, bool moved,
              std::size_t workers, std::size_t levels)
      : budget_(what.budget),
        input_(input),
        weights_(!what.weights.empty()),
        // The coordinates of a part are held twice: as collected, and in the order of its index.
        of_part_(kTogether * workers * (what.part_bytes + 2 * input.row_bytes())) {
    const std::uint64_t rows = input.size();
    const std::uint64_t copied = moved ? input.bytes_in_memory() : 0;
    const std::uint64_t units = weights_ ? rows * sizeof(std::int64_t) : 0;
    const std::uint64_t of_level = labels_retained(options) ? rows * kBytesPerLabel : 0;
    fixed_ = what.points.bytes_in_memory() + copied + units + std::clamp(what.memory, of_level, of_level * levels);
  }

  [[nodiscard]] std::uint64_t most_ghosts() const noexcept {
    if (budget_ == 0) return ~std::uint64_t{0};
    return (budget_ - std::min(budget_, fixed_)) / LocalParts::ghost_bytes(input_, weights_);
  }
  /// Throws PartsBeyondBudget if points in parts and the labels held at a time need more.
  void require(const LocalParts& points) const {
    const std::uint64_t needed = fixed_ + points.bytes() + points.most_points() * of_part_;
    if (budget_ == 0 || needed <= budget_) return;
    throw PartsBeyondBudget("points in " + format_count(points.parts(), "part") + " take " + format_bytes(needed) +
                                ", ghosts and labels included; the memory budget is " + format_bytes(budget_) +
                                ": raise EngineOptions::memory to at least what they take, or cluster fewer points",
                            needed);
  }
  [[noreturn]] void refuse_ghosts() const {
    throw PartsBeyondBudget("the ghosts of parts take more than the memory budget of " + format_bytes(budget_) +
                                " leaves: raise EngineOptions::memory, or cluster fewer points",
                            ~std::uint64_t{0});
  }

 private:
  std::uint64_t budget_;
  PointRows input_;
  bool weights_;
  std::uint64_t fixed_ = 0;  ///< bytes for any number of parts
  std::uint64_t of_part_;    ///< bytes for each point of the largest part
};

}  // namespace

void check_parts_have(const RunOptions& options, bool slices) {
  const auto refuse = [](bool wanted, const std::string& what) {
    if (wanted) throw UsageError(what + " is not to be had of points in parts: leave it out");
  };
  refuse(slices, "a data set for each slice");
  refuse(options.verify, "RunOptions::verify");
  refuse(options.keep == Keep::core, "RunOptions::keep = Keep::core");
  refuse(options.labels != MemorySpace::host, "RunOptions::labels = MemorySpace::device");
  refuse(options.strategy == StrategyChoice::table || table_wanted(options), "a neighbour table");
}

std::size_t most_levels(const Sweep& sweep) {
  std::map<double, std::size_t> levels;
  std::size_t most = 1;
  for (const Variant& variant : sweep.variants()) most = std::max(most, ++levels[variant.eps]);
  return most;
}

void run_local(const LocalSweep& what, std::span<const PartWorker> workers, const OnResult& on_result,
               const RunOptions& options, const CancelToken& cancel) {
  check_parts_have(options);
  check_metric(what.metric, what.points.dims());
  if (what.sweep.size() == 0) return;
  const Space space = transformed_space(what.metric);
  const Space open{space.norm, space.power};
  const std::vector<stages::EpsGroup> groups = stages::group_by_eps(what.sweep, what.metric);
  std::optional<WholeWeights> weights;
  if (!what.weights.empty()) weights.emplace(what.weights);
  check_weights(options, weights && weights->negative());
  unsigned threads = 0;
  for (const PartWorker& worker : workers) threads += worker.threads;
  tbb::task_arena arena(static_cast<int>(threads));
  CancelToken stop(&cancel);
  const std::vector<double> reaches = reaches_of(groups);
  std::optional<TransformedPoints> moved;
  std::unique_ptr<DeviceSweep> on_devices;
  std::optional<LocalParts> points;
  arena.execute([&] {
    PointRows input = what.points;
    if (input.in_memory()) {
      moved.emplace(input.view(), what.metric, [](std::span<double>) {});
      for (const Variant& variant : what.sweep.variants()) moved->require_fit(variant.eps);
      input = moved->view();
    }
    const Partition cuts = what.partition != nullptr ? *what.partition : cut_space(input, what.parts);
    if (input.in_memory() && space.axes.empty() && !weights && workers.size() > 1) {
      on_devices = DeviceSweep::make(input.view(), cuts, reaches.back(), options, workers, stop);
      if (on_devices != nullptr) return;
    }
    const PartsBudget budget(what, options, input, moved && !moved->identity(), workers.size(),
                             stages::most_levels(groups));
    try {
      points.emplace(input, weights ? weights->units() : std::span<const std::int64_t>(), cuts, space, reaches,
                     budget.most_ghosts());
    } catch (const TooManyGhosts&) {
      budget.refuse_ghosts();
    }
    budget.require(*points);
  });
  for (const stages::EpsGroup& group : groups) {
    if (on_devices != nullptr) {
      arena.execute([&] { on_devices->cluster(group, open, on_result); });
      continue;
    }
    const WeightScale* const scale = weights ? &weights->scale() : nullptr;
    LocalGroup clusterings({*points, workers, open, scale, options, what.memory, stop}, group);
    arena.execute([&] { clusterings.cluster(on_result); });
  }
}

}  // namespace epsflow::parts
