#include <epsflow/parts/sweep.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/trace.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/parts/held_engines.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/point_copies.hpp>
#include <epsflow/parts/rank_sweep.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/pipeline/host_bytes.hpp>
#include <epsflow/pipeline/reporter.hpp>
#include <epsflow/pipeline/run_dataset.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {
namespace parts {
namespace {

/// Serialises the callbacks, and cancels all engines once one has failed.
class Together {
 public:
  Together(const Observer& observer, const OnResult& on_result, std::size_t variants)
      : observer_(observer), on_result_(on_result), stop_(observer.cancel), reporter_(observer, variants) {}

  /// Returns the observer of a run of a data set, which gives no notices.
  [[nodiscard]] Observer observer() {
    return {.cancel = &stop_, .trace = observer_.trace, .before_stage = observer_.before_stage};
  }

  void take(VariantResult&& result) {
    try {
      reporter_.done([&] {
        const Variant variant = result.variant;
        on_result_(std::move(result));
        done_.insert({variant.eps, variant.minpts});
      });
    } catch (...) {
      refused_ = true;
      throw;
    }
  }

  /// True if on_result or on_progress threw.
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  /// True if some minpts of an eps were delivered and others not.
  [[nodiscard]] bool within_eps(const Sweep& sweep) const {
    const Sweep left = missing(sweep);
    return std::ranges::any_of(left.variants(), [&](const Variant& v) {
      const auto same = done_.lower_bound({v.eps, 0});
      return same != done_.end() && same->first == v.eps;
    });
  }
  /// Returns the variants that were not delivered yet.
  [[nodiscard]] Sweep missing(const Sweep& sweep) const {
    std::vector<Variant> variants = sweep.variants();
    std::erase_if(variants, [&](const Variant& v) { return done_.contains({v.eps, v.minpts}); });
    return Sweep(variants);
  }

  /// Calls body(e) for each engine, each on a thread of its own.
  void run(std::size_t bodies, const std::function<void(std::size_t)>& body) { run_together(bodies, stop_, body); }
  [[nodiscard]] CancelToken& stop() noexcept { return stop_; }

 private:
  const Observer& observer_;
  const OnResult& on_result_;
  CancelToken stop_;
  Reporter reporter_;
  std::set<std::pair<double, std::uint32_t>> done_;
  std::atomic<bool> refused_ = false;
};

/// The eps of a sweep, from the largest down. Most are assigned to engines in advance, alternately forwards and
/// backwards, because each takes longer than the next. Engines take the last ones as they become idle, so that none
/// waits long for the others.
class Queue {
 public:
  Queue(const Sweep& sweep, const Metric& metric, std::size_t engines) : sweep_(sweep) {
    std::vector<stages::EpsGroup> groups = stages::group_by_eps(sweep, metric);
    dealt_.resize(std::min(engines, groups.size()));
    const std::size_t deal = groups.size() * 3 / 4 / dealt_.size() * dealt_.size();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t i = g % dealt_.size();
      const std::size_t engine = g / dealt_.size() % 2 == 0 ? i : dealt_.size() - 1 - i;
      (g < deal ? dealt_[engine] : left_).push_back(std::move(groups[g]));
    }
  }

  [[nodiscard]] const Sweep& sweep() const noexcept { return sweep_; }
  /// The number of engines that get some.
  [[nodiscard]] std::size_t engines() const noexcept { return dealt_.size(); }

  /// Implements MoreGroups for an engine. Returns none ahead of time if fewer groups than engines are left.
  [[nodiscard]] std::optional<stages::EpsGroup> next(std::size_t engine, bool ahead) {
    const std::scoped_lock lock(mutex_);
    std::deque<stages::EpsGroup>& from = dealt_[engine].empty() ? left_ : dealt_[engine];
    if (from.empty() || (&from == &left_ && ahead && left_.size() < dealt_.size())) return std::nullopt;
    std::optional<stages::EpsGroup> group = std::move(from.front());
    from.pop_front();
    return group;
  }

 private:
  const Sweep sweep_;
  std::mutex mutex_;
  std::vector<std::deque<stages::EpsGroup>> dealt_;  ///< [engines]
  std::deque<stages::EpsGroup> left_;
};

/// The arguments of a sweep on the engines of this process.
class SharedSweep {
 public:
  SharedSweep(PointSet given, const Sweep& of_variants, const RunOptions& by_options)
      : points(std::move(given)), sweep(of_variants), options(by_options) {}

  PointSet points;
  const Sweep& sweep;
  const RunOptions& options;

  [[nodiscard]] const PointRows& rows() const { return points.host_rows(); }
  /// Reads all rows of a source into memory.
  void load_all() {
    if (rows().in_memory()) return;
    brought_ = bring(*rows().source());
    points.rows = PointRows(*brought_);
  }

 private:
  std::optional<Points> brought_;
};

/// Copies points to GPUs that load them all (copy_to_gpus()). Returns none for points with weights, slices or a metric
/// of their own, and if each GPU would need the points on the host too.
std::vector<PointsCopy> copies_of(const SharedSweep& given, std::span<const Engine> engines, Together& together) {
  const PointSet& points = given.points;
  if (points.metric != Metric{} || !points.weights.empty() || !points.slices.empty()) return {};
  if (given.options.verify || points.host_rows().dims() > index::kMostIndexedDims) return {};
  const auto began = Trace::Clock::now();
  std::vector<PointsCopy> copies = copy_to_gpus(points.host_rows().view(), engines, together.stop());
  Trace* const trace = together.observer().trace;
  if (trace != nullptr && !copies.empty()) {
    trace->record(Stage::load_points, began, Trace::Clock::now(), 0, {"points", points.size()});
  }
  return copies;
}

void share_eps(SharedSweep& given, Queue& queue, std::span<const Engine> engines, Together& together) {
  given.load_all();
  const std::vector<PointsCopy> copies = copies_of(given, engines.first(queue.engines()), together);
  together.run(queue.engines(), [&](std::size_t e) {
    const Observer observer = together.observer();
    const auto loaded = [&] {
      if (copies.empty()) {
        return load(
            given.points, [&] { return engines[e]; }, observer);
      }
      if (observer.before_stage) observer.before_stage(Stage::load_points);
      return engines[e].load(copies[e].points, observer.cancel);
    };
    run_dataset(
        loaded(), queue.sweep(), [&](VariantResult&& result) { together.take(std::move(result)); }, given.options,
        observer, [&](bool ahead) { return queue.next(e, ahead); });
  });
}

void share_space(const LocalSweep& what, std::span<const Engine> engines, const RunOptions& options,
                 Together& together) {
  const HeldEngines held(engines, together.stop());
  std::vector<PartWorker> workers;
  LocalSweep all = what;
  all.memory = ~std::uint64_t{0};
  for (const auto& [identity, engine, backend] : held.different()) {
    workers.push_back({*backend, engine->options().threads});
    const std::uint64_t memory = engine->options().memory;
    const bool host = EngineLock::device_memory(*engine) == 0;
    all.memory = std::min(all.memory, memory / (host ? kHostLabelShare : 2));
    if (!host) continue;
    all.budget += memory;
    all.part_bytes = host_bytes(most_levels(what.sweep), !what.weights.empty()) + kHostBytesPerPartPoint;
  }
  run_local(
      all, workers, [&](VariantResult&& result) { together.take(std::move(result)); }, options, together.stop());
}

/// Returns the given engines, or makes as many as the answer needs.
std::vector<Engine> engines_for(const SharingAnswer& answer, std::span<const EngineOptions> settings,
                                const Devices& devices, const SharedSweep& given, const Observer& observer) {
  if (!devices.engines.empty()) return {devices.engines.begin(), devices.engines.end()};
  std::size_t used = settings.size();
  if (answer.sharing == Sharing::one) used = 1;
  if (answer.sharing == Sharing::eps)
    used = std::min(used, stages::group_by_eps(given.sweep, given.points.metric).size());
  return make_engines(settings.first(used), observer);
}

/// Returns the options of all engines: with the memory of a GPU's engine, and with a single engine's backend chosen.
std::vector<EngineOptions> settings_of(const Devices& devices, const PointSet& points, const RunOptions& options) {
  std::vector<EngineOptions> settings(devices.options.begin(), devices.options.end());
  for (const Engine& engine : devices.engines) {
    settings.push_back(engine.options());
    settings.back().gpu_memory = EngineLock::device_memory(engine);
  }
  if (settings.empty()) settings.emplace_back();
  for (const EngineOptions& engine : settings) check_options(engine, options);
  if (settings.size() == 1 && devices.engines.empty())
    settings.front() = with_backend(points, settings.front(), options);
  return settings;
}

/// Clusters by parts. If they do not fit into memory, tries more parts, and then one run.
void share_parts(SharedSweep& given, std::span<const Engine> engines, const SharingAnswer& answer, Together& together) {
  check_parts_have(given.options, !given.points.slices.empty());
  const PointRows points = given.rows();
  const Metric& metric = given.points.metric;
  const bool host = EngineLock::device_memory(engines.front()) == 0;
  if (answer.parts == 0) throw UsageError("SharingAnswer::parts is 0: give one or more");
  const std::size_t most = std::min(kMostParts * engines.size(), kMostPartsOfAll);
  if (answer.parts > most) {
    throw ResourceError("the points would have to be cut into " + format_count(answer.parts) +
                        " parts to fit EngineOptions::gpu_memory, and " + format_count(most) +
                        " are possible: raise it, or use EngineOptions::backend = BackendChoice::cpu");
  }
  std::optional<std::uint64_t> least;
  // Runs without parts if parts need too much memory: it fits, or its error reports how much it needs.
  const auto at_once = [&] {
    Queue queue(together.missing(given.sweep), metric, answer.fits_one ? engines.size() : 1);
    share_eps(given, queue, engines, together);
  };
  for (std::size_t parts = answer.parts;; parts *= 2) {
    const Sweep missing = together.missing(given.sweep);
    try {
      return share_space(
          {.points = points, .weights = given.points.weights, .metric = metric, .sweep = missing, .parts = parts},
          engines, given.options, together);
    } catch (const InputError&) {
      // Finds the row again, because the error counts rows within a part.
      if (!points.in_memory()) require_finite_rows(points);
      if (points.in_memory()) require_points(metric, points.view());
      throw;
    } catch (const PartsBeyondBudget& error) {
      // More parts are smaller, but have more ghosts. So the number of parts that needs the least memory is in between.
      const bool more_may_do = !least || error.needed() < *least;
      least = error.needed();
      if (more_may_do && parts < 8 * answer.parts && 2 * parts <= most) continue;
      if (!points.in_memory()) throw;  // one run would need more memory than parts
      return at_once();
    } catch (const UsageError&) {
      // The box may be too narrow for parts. One run either works or throws its own error.
      if (!host || together.refused() || together.missing(given.sweep).size() < given.sweep.size()) throw;
      return at_once();
    } catch (const ResourceError&) {
      // With clusters all minpts of an eps must come from one clustering.
      if (given.options.clusters && together.within_eps(given.sweep)) throw;
      if (answer.fits_one && !together.refused()) return at_once();
      if (together.refused()) throw;
      if (parts < 8 * answer.parts && 2 * parts <= most) continue;
      if (!host || !points.in_memory()) throw;
      return at_once();  // its error reports how much memory is enough
    }
  }
}

void run_on_engines(const PointSet& points, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                    const OnResult& on_result, const Observer& observer) {
  if (observer.cancel != nullptr) observer.cancel->check();
  const PointRows& rows = points.host_rows();
  const std::vector<EngineOptions> settings = settings_of(devices, points, options);
  require_row_count(rows);
  if (sweep.size() == 0) return;
  if (!points.weights.empty() && points.weights.size() != rows.size()) {
    throw UsageError("there are " + format_count(rows.size(), "point") + " and " +
                     format_count(points.weights.size(), "weight") + ": give one for each");
  }
  SharedSweep given(points, sweep, options);
  if (may_move(points.metric)) given.load_all();
  const SharingAnswer answer =
      devices.sharing != nullptr ? *devices.sharing : choose_sharing(given.points, sweep, settings, options);
  const auto engines_of = [&] { return engines_for(answer, settings, devices, given, observer); };
  if (answer.sharing == Sharing::one) {
    given.load_all();
    const Dataset data = load(
        given.points, [&] { return engines_of().front(); }, observer);
    return run_dataset(data, sweep, on_result, options, observer);
  }
  const std::vector<Engine> engines = engines_of();
  Together together(observer, on_result, sweep.size());
  if (answer.sharing == Sharing::parts) return share_parts(given, engines, answer, together);
  Queue queue(sweep, points.metric, engines.size());
  share_eps(given, queue, engines, together);
}

/// Throws UsageError if members contradict each other.
void check_given(const PointSet& points, const Devices& devices) {
  const auto refuse = [](bool wrong, const char* why) {
    if (wrong) throw UsageError(why);
  };
  check_loaded(points);
  const bool loaded = std::holds_alternative<Dataset>(points.rows);
  const bool ranks = devices.ranks != nullptr;
  refuse(loaded && (!devices.engines.empty() || !devices.options.empty() || ranks || devices.sharing != nullptr ||
                    devices.cuts != nullptr),
         "the points are loaded by an engine, which sweeps them: leave Devices empty");
  refuse(!devices.engines.empty() && !devices.options.empty(),
         "Devices::options are in place of Devices::engines: leave one of them out");
  refuse(ranks && devices.sharing != nullptr,
         "Devices::sharing is of the engines of a process without ranks: leave it out");
  refuse(!ranks && devices.cuts != nullptr,
         "Devices::cuts lie between ranks, and Devices::ranks is null: leave them out");
}

}  // namespace
}  // namespace parts

PartFigures run_each(const PointSet& points, const Devices& devices, const Sweep& sweep, const RunOptions& options,
                     const OnResult& on_result, const Observer& observer) {
  parts::check_given(points, devices);
  if (const auto* data = std::get_if<Dataset>(&points.rows)) {
    run_dataset(*data, sweep, on_result, options, observer);
    return {};
  }
  if (devices.ranks != nullptr) return parts::run_rank(points, devices, sweep, options, on_result, observer);
  parts::run_on_engines(points, devices, sweep, options, on_result, observer);
  return {};
}

}  // namespace epsflow
