#include <epsflow/parts/shared_sweep.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/pipeline/host_bytes.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/shared_run.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow::parts {
namespace {

/// Callbacks one at a time, and a token that ends all engines once one has failed.
class Together {
 public:
  Together(const Observer& observer, const OnResult& on_result, std::size_t variants)
      : observer_(observer), on_result_(on_result), stop_(observer.cancel), variants_(variants) {}

  [[nodiscard]] Observer observer() {
    Observer mine{.cancel = &stop_, .trace = observer_.trace, .before_stage = observer_.before_stage};
    if (observer_.on_notice) {
      mine.on_notice = [this](const std::string& text) {
        const std::scoped_lock lock(mutex_);
        if (!std::exchange(noticed_, true)) observer_.on_notice(text);
      };
    }
    return mine;
  }

  void take(VariantResult&& result) {
    const std::scoped_lock lock(mutex_);
    const Variant variant = result.variant;
    refused_ = true;
    on_result_(std::move(result));
    refused_ = false;
    done_.insert({variant.eps, variant.minpts});
    if (observer_.on_progress) {
      observer_.on_progress({.variants_done = done_.size(),
                             .variants = variants_,
                             .seconds = std::chrono::duration<double>(Clock::now() - begin_).count()});
    }
  }

  /// Whether a result was not taken.
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  /// Whether some minpts of an eps were taken and others not.
  [[nodiscard]] bool within_eps(const Sweep& sweep) const {
    const Sweep left = missing(sweep);
    return std::ranges::any_of(left.variants(), [&](const Variant& v) {
      const auto same = done_.lower_bound({v.eps, 0});
      return same != done_.end() && same->first == v.eps;
    });
  }
  /// What was not taken yet.
  [[nodiscard]] Sweep missing(const Sweep& sweep) const {
    std::vector<Variant> variants = sweep.variants();
    std::erase_if(variants, [&](const Variant& v) { return done_.contains({v.eps, v.minpts}); });
    return Sweep(variants);
  }

  /// One body for each engine, on a thread of its own.
  void run(std::size_t bodies, const std::function<void(std::size_t)>& body) { run_together(bodies, stop_, body); }
  [[nodiscard]] const CancelToken& stop() const noexcept { return stop_; }

 private:
  using Clock = std::chrono::steady_clock;

  const Observer& observer_;
  const OnResult& on_result_;
  const Clock::time_point begin_ = Clock::now();
  CancelToken stop_;
  std::mutex mutex_;
  std::size_t variants_;
  std::set<std::pair<double, std::uint32_t>> done_;
  bool noticed_ = false;
  bool refused_ = false;
};

/// The eps of a sweep, from the largest down. Most are dealt, in turns to and fro, as each takes longer than the next. The last are taken as
/// engines have room for them, so that none waits long for the others.
class Queue {
 public:
  Queue(const Sweep& sweep, const Metric& metric, std::size_t engines) : sweep_(sweep) {
    std::vector<stages::EpsGroup> groups = stages::group_by_eps(sweep, metric);
    dealt_.resize(std::min(engines, groups.size()));
    const std::size_t deal = groups.size() * 3 / 4 / dealt_.size() * dealt_.size();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t place = g % dealt_.size();
      const std::size_t engine = g / dealt_.size() % 2 == 0 ? place : dealt_.size() - 1 - place;
      (g < deal ? dealt_[engine] : left_).push_back(std::move(groups[g]));
    }
  }

  [[nodiscard]] const Sweep& sweep() const noexcept { return sweep_; }
  /// Engines that get some.
  [[nodiscard]] std::size_t engines() const noexcept { return dealt_.size(); }

  /// MoreGroups of an engine: none ahead where less than one is left for each.
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

void share_eps(PointsView points, const Metric& metric, Queue& queue, std::span<const Engine> engines,
               const RunOptions& options, std::span<const double> weights, Together& together) {
  together.run(engines.size(), [&](std::size_t e) {
    const Observer observer = together.observer();
    Dataset data = engines[e].load(points, metric, observer.cancel);
    if (!weights.empty()) data = data.weighted(weights, observer.cancel);
    run_some(
        data, queue.sweep(), [&](bool ahead) { return queue.next(e, ahead); },
        [&](VariantResult&& result) { together.take(std::move(result)); }, options, observer);
  });
}

void share_space(const LocalSweep& what, std::span<const Engine> engines, const RunOptions& options,
                 Together& together) {
  // In one order everywhere, so that two sweeps never wait for each other, and once.
  std::map<const void*, const Engine*> different;
  for (const Engine& engine : engines) different[EngineTurn::identity(engine)] = &engine;
  std::deque<EngineTurn> turns;
  std::vector<PartWorker> workers;
  LocalSweep all = what;
  all.memory = ~std::uint64_t{0};
  for (const auto& [identity, engine] : different) {
    workers.push_back({turns.emplace_back(*engine, together.stop()).backend(), engine->options().threads});
    const std::uint64_t memory = engine->options().memory;
    const bool host = EngineTurn::device_memory(*engine) == 0;
    all.memory = std::min(all.memory, memory / (host ? kHostLabelShare : 2));
    if (!host) continue;
    all.budget += memory;
    all.part_bytes = host_bytes(most_levels(what.sweep), !what.weights.empty()) + kHostBytesPerPartPoint;
  }
  run_local(
      all, workers, [&](VariantResult&& result) { together.take(std::move(result)); }, options, together.stop());
}

}  // namespace

namespace {

/// Calls run(engines, answer) with engines of these options, as many as are needed.
template <class Run>
void with_engines(const PointRows& points, const Metric& metric, const Sweep& sweep,
                  std::span<const EngineOptions> engines, const RunOptions& options, const Observer& observer,
                  bool weights, const SharingAnswer* sharing, Run&& run) {
  if (engines.empty()) throw UsageError("no engine is there to sweep: give one or more");
  for (const EngineOptions& engine : engines) check_options(engine, options);
  if (observer.cancel != nullptr) observer.cancel->check();
  if (sweep.size() == 0) return;
  const SharingAnswer answer =
      sharing != nullptr ? *sharing : choose_sharing(points, metric, sweep, engines, options, weights);
  std::size_t used = engines.size();
  if (answer.sharing == Sharing::one) used = 1;
  if (answer.sharing == Sharing::eps) used = std::min(used, stages::group_by_eps(sweep, metric).size());
  run(make_engines(engines.first(used), observer), answer);
}

}  // namespace

bool may_move(const Metric& metric) { return !metric.box.empty() || !stay(metric, {}, 0, 0); }

void run_each(PointsView points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const EngineOptions> engines, const RunOptions& options, const Observer& observer,
              std::span<const double> weights, const SharingAnswer* sharing) {
  with_engines(points, metric, sweep, engines, options, observer, !weights.empty(), sharing,
               [&](const std::vector<Engine>& made, const SharingAnswer& answer) {
                 run_each(points, metric, sweep, on_result, made, options, observer, weights, &answer);
               });
}

void run_each(const PointsSource& points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const EngineOptions> engines, const RunOptions& options, const Observer& observer,
              std::span<const double> weights, const SharingAnswer* sharing) {
  if (may_move(metric)) {
    return run_each(bring(points).view(), metric, sweep, on_result, engines, options, observer, weights, sharing);
  }
  with_engines(PointRows(points), metric, sweep, engines, options, observer, !weights.empty(), sharing,
               [&](const std::vector<Engine>& made, const SharingAnswer& answer) {
                 run_each(points, metric, sweep, on_result, made, options, observer, weights, &answer);
               });
}

namespace {

/// in_memory: all points there, which are brought if they are not.
void run_shared(const PointRows& points, const std::function<PointsView()>& in_memory, const Metric& metric,
                const Sweep& sweep, const OnResult& on_result, std::span<const Engine> engines,
                const RunOptions& options, const Observer& observer, std::span<const double> weights,
                const SharingAnswer* sharing) {
  if (engines.empty()) throw UsageError("no engine is there to sweep: give one or more");
  std::vector<EngineOptions> settings;
  for (const Engine& engine : engines) {
    settings.push_back(engine.options());
    settings.back().gpu_memory = EngineTurn::device_memory(engine);
  }
  for (const EngineOptions& engine : settings) check_options(engine, options);
  if (points.size() > kMaxPoints) {
    throw ResourceError("there are " + format_count(points.size(), "point") + ", and a process takes at most " +
                        format_count(kMaxPoints) + ": share them between several (MPI), or cluster fewer");
  }
  if (observer.cancel != nullptr) observer.cancel->check();
  if (sweep.size() == 0) return;
  if (!weights.empty() && weights.size() != points.size()) {
    throw UsageError("there are " + format_count(points.size(), "point") + " and " +
                     format_count(weights.size(), "weight") + ": give one for each");
  }
  const SharingAnswer answer =
      sharing != nullptr ? *sharing : choose_sharing(points, metric, sweep, settings, options, !weights.empty());
  Together together(observer, on_result, sweep.size());
  if (answer.sharing != Sharing::parts) {
    Queue queue(sweep, metric, answer.sharing == Sharing::one ? 1 : engines.size());
    return share_eps(in_memory(), metric, queue, engines.first(queue.engines()), options, weights, together);
  }
  if (answer.parts == 0) throw UsageError("SharingAnswer::parts is 0: give one or more");
  const std::size_t most = std::min(kMostParts * engines.size(), kMostPartsOfAll);
  if (answer.parts > most) {
    throw ResourceError("the points would have to be cut into " + format_count(answer.parts) +
                        " parts to fit EngineOptions::gpu_memory, and " + format_count(most) +
                        " are possible: raise it, or use EngineOptions::backend = BackendChoice::cpu");
  }
  std::optional<std::uint64_t> least;
  // Of parts that take too much: it fits, or says how much it takes.
  const auto at_once = [&] {
    Queue queue(together.missing(sweep), metric, answer.fits_one ? engines.size() : 1);
    share_eps(in_memory(), metric, queue, engines.first(queue.engines()), options, weights, together);
  };
  for (std::size_t parts = answer.parts;; parts *= 2) {
    const Sweep missing = together.missing(sweep);
    try {
      return share_space({.points = points, .weights = weights, .metric = metric, .sweep = missing, .parts = parts},
                         engines, options, together);
    } catch (const InputError&) {
      // Whose rows are counted from the first of all, and not of a part's.
      if (!points.in_memory()) require_finite_rows(points);
      if (points.in_memory()) require_points(metric, points.view());
      throw;
    } catch (const PartsBeyondBudget& error) {
      // More parts are smaller, and have more ghosts: the number that takes the least is somewhere between.
      const bool more_may_do = !least || error.needed() < *least;
      least = error.needed();
      if (more_may_do && parts < 8 * answer.parts && 2 * parts <= most) continue;
      if (!points.in_memory()) throw;  // all at once they would take more than parts do
      return at_once();
    } catch (const UsageError&) {
      // As of a box that is too narrow for parts; what one run does not do either it says itself.
      const bool host = settings.front().gpu_memory == 0;
      if (!host || together.refused() || together.missing(sweep).size() < sweep.size()) throw;
      return at_once();
    } catch (const ResourceError&) {
      // With clusters all minpts of an eps must come from one clustering.
      if (options.clusters && together.within_eps(sweep)) throw;
      if (answer.fits_one && !together.refused()) return at_once();
      if (together.refused()) throw;
      if (parts < 8 * answer.parts && 2 * parts <= most) continue;
      const bool host = settings.front().gpu_memory == 0;
      if (!host || !points.in_memory()) throw;
      return at_once();  // which says how much is enough
    }
  }
}

}  // namespace

void run_each(PointsView points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const Engine> engines, const RunOptions& options, const Observer& observer,
              std::span<const double> weights, const SharingAnswer* sharing) {
  run_shared(
      points, [&] { return points; }, metric, sweep, on_result, engines, options, observer, weights, sharing);
}

void run_each(const PointsSource& points, const Metric& metric, const Sweep& sweep, const OnResult& on_result,
              std::span<const Engine> engines, const RunOptions& options, const Observer& observer,
              std::span<const double> weights, const SharingAnswer* sharing) {
  std::optional<Points> all;
  const auto in_memory = [&] {
    if (!all) all = bring(points);
    return all->view();
  };
  run_shared(may_move(metric) ? PointRows(in_memory()) : PointRows(points), in_memory, metric, sweep, on_result,
             engines, options, observer, weights, sharing);
}

}  // namespace epsflow::parts
