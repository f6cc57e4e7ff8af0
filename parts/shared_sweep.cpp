#include <epsflow/parts/shared_sweep.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <epsflow/core/device_part.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/index/cell_axes.hpp>
#include <epsflow/parts/host_bytes.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/shared_run.hpp>
#include <epsflow/pipeline/workers.hpp>
#include <epsflow/stages/group_by_eps.hpp>

namespace epsflow {

template <>
std::span<const Option<parts::DeviceOptions>> options_of<parts::DeviceOptions>() noexcept {
  static constexpr std::array kOptions{option<parts::DeviceOptions>(
      {.library = "DeviceOptions::gpus",
       .program = "gpus",
       .python = "gpus",
       .placeholder = "LIST",
       .may_be_empty = true,
       .meaning =
           "GPUs that share the sweep: all, or numbers as in 0,1; each takes some of the eps, or a part of space"},
      [](auto& options) -> auto& { return options.gpus; })};
  return kOptions;
}

}  // namespace epsflow

namespace epsflow::parts {
namespace {

/// Beside coordinates, which are there twice, of clustering without a table: what index and sets take at most, and labels. Measured: 27 to 36,
/// counts of several minpts 4, labels 4.
constexpr std::uint64_t kBytesPerPoint = 44;
/// Besides, where clusters are asked for as objects; and of a point of a part.
constexpr std::uint64_t kBytesOfLineage = 12;
constexpr std::uint64_t kBytesPerPartPoint = 8;
/// Of a point of a part besides, on the CPU.
constexpr std::uint64_t kHostBytesPerPartPoint = 24;
/// Where a point lies among the parts.
constexpr std::uint64_t kHostBytesPerPlace = 2;
/// Share of the memory that labels may take there, as a divisor, if those of one minpts take less.
constexpr std::uint64_t kHostLabelShare = 4;
/// The memory of a GPU is asked for, which starts it, where more is needed.
constexpr std::uint64_t kFitsAnyGpu = 2_GiB;
/// Devices that cut points themselves lose some 10 ms, in which one clusters as many points.
constexpr std::uint64_t kFewestCutByDevices = 32'000'000;
/// By eps less than a fifth of them may be idle.
constexpr std::size_t kShareOfIdle = 5;
/// Of an engine, and of all: each part has ghosts of others, which are kept by pairs.
constexpr std::size_t kMostParts = 256;
constexpr std::size_t kMostPartsOfAll = 1024;

/// Whether parts are searched as one device would search all.
bool grid_wanted(const RunOptions& run) {
  return (run.search.index == IndexChoice::automatic || run.search.index == IndexChoice::grid) &&
         (run.search.decide == DecideChoice::automatic || run.search.decide == DecideChoice::scalar);
}

/// Whether each engine has a GPU of its own.
bool apart(std::span<const EngineOptions> engines) {
  std::set<unsigned> gpus;
  return std::ranges::all_of(
      engines, [&](const EngineOptions& engine) { return engine.gpu && gpus.insert(*engine.gpu).second; });
}

bool parts_can(const RunOptions& run) {
  return !run.verify && run.keep != Keep::core && run.labels == MemorySpace::host &&
         run.strategy != StrategyChoice::table && !table_wanted(run);
}

std::vector<unsigned> numbers_of(const std::string& list) {
  if (list == "all") return usable_gpus();
  std::vector<unsigned> numbers;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    if (word.empty() || word.size() > 4 ||
        !std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      throw UsageError("DeviceOptions::gpus is '" + list + "': give all, or numbers of GPUs as in 0,1");
    }
    numbers.push_back(static_cast<unsigned>(std::stoul(word)));
    at = end + 1;
  }
  return numbers;
}

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
    return Sweep(std::move(variants));
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

std::size_t most_levels(const Sweep& sweep) {
  std::map<double, std::size_t> levels;
  std::size_t most = 1;
  for (const Variant& variant : sweep.variants()) most = std::max(most, ++levels[variant.eps]);
  return most;
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

std::uint64_t bytes_needed(const SharingQuestion& question, const RunOptions& run) {
  return 2 * question.bytes + question.points * (kBytesPerPoint + (question.weights ? kBytesPerWeight : 0) +
                                                 (run.clusters ? kBytesOfLineage : 0));
}

/// What clustering parts takes, with some for ghosts and for parts that are not quite equal.
std::uint64_t with_ghosts(std::uint64_t bytes) { return bytes + bytes / 7; }

/// Parts of which two at a time fit each device.
std::size_t parts_in_turns(std::uint64_t needed, std::uint64_t device_memory, std::size_t engines) {
  const double parts =
      static_cast<double>(kTogether) * static_cast<double>(with_ghosts(needed)) / static_cast<double>(device_memory);
  const auto of_engine = static_cast<std::size_t>(std::ceil(parts / static_cast<double>(engines)));
  return std::max<std::size_t>(2, of_engine) * engines;
}

/// Of points that the CPU clusters within the budget.
SharingAnswer choose_host_sharing(const SharingQuestion& question, const RunOptions& run) noexcept {
  constexpr SharingAnswer kOne{Sharing::one, "all points fit the one device"};
  const std::uint64_t needed = question.bytes + question.points * host_bytes(question.levels, question.weights);
  const std::uint64_t held = question.in_memory ? question.bytes : 0;
  if (question.device_memory == 0 || question.bytes + needed <= question.device_memory) return kOne;
  const std::uint64_t labels = labels_kept(run) ? question.points * kBytesPerLabel : 0;
  const std::uint64_t kept = held + question.points * kHostBytesPerPlace +
                             std::clamp(question.device_memory / kHostLabelShare, labels, labels * question.levels);
  // Then one run says how much it takes.
  constexpr SharingAnswer kTooMuch{Sharing::one, "points and labels alone are more than the memory holds"};
  if (kept >= question.device_memory) return kTooMuch;
  const std::uint64_t of_parts = needed + question.bytes + question.points * kHostBytesPerPartPoint;
  const std::size_t parts = parts_in_turns(of_parts, question.device_memory - kept, 1);
  if (parts > kMostParts) return kTooMuch;
  return {Sharing::parts, "clustering all points takes more than the memory holds", parts};
}

}  // namespace

bool on_the_host(const EngineOptions& engine) {
  return engine.backend == BackendChoice::cpu ||
         (engine.backend == BackendChoice::automatic && !engine.gpu && usable_gpus().empty());
}

std::vector<EngineOptions> engines_on(const DeviceOptions& devices, const EngineOptions& engine) {
  if (devices.gpus.empty()) return {engine};
  if (engine.gpu) throw UsageError("give either EngineOptions::gpu or DeviceOptions::gpus, not both");
  if (engine.backend == BackendChoice::cpu) {
    throw UsageError(
        "DeviceOptions::gpus names GPUs, and EngineOptions::backend = BackendChoice::cpu uses none: leave one of them "
        "out");
  }
  const std::vector<unsigned> numbers = numbers_of(devices.gpus);
  if (numbers.empty()) throw ResourceError("DeviceOptions::gpus is all, and no GPU can be used here: leave it out");
  const EngineOptions all = settled(engine);
  std::vector<EngineOptions> engines;
  engines.reserve(numbers.size());
  for (const unsigned number : numbers) {
    EngineOptions one = all;
    one.backend = BackendChoice::gpu;
    one.gpu = number;
    check_backend(one);
    const auto sharers = static_cast<std::uint64_t>(std::count(numbers.begin(), numbers.end(), number));
    one.gpu_memory =
        sharers == 1 && all.gpu_memory == 0 ? 0 : (all.gpu_memory == 0 ? gpu_memory_of(one) : all.gpu_memory) / sharers;
    one.threads = std::max(1U, all.threads / static_cast<unsigned>(numbers.size()));
    one.memory = all.memory / numbers.size();
    engines.push_back(one);
  }
  return engines;
}

std::vector<Engine> make_engines(std::span<const EngineOptions> options, const Observer& observer) {
  std::vector<std::optional<Engine>> made(options.size());
  CancelToken stop(observer.cancel);
  std::mutex mutex;
  bool noticed = false;
  run_together(options.size(), stop, [&](std::size_t e) {
    made[e].emplace(options[e], [&](const std::string& text) {
      const std::scoped_lock lock(mutex);
      if (observer.on_notice && !std::exchange(noticed, true)) observer.on_notice(text);
    });
  });
  std::vector<Engine> engines;
  for (std::optional<Engine>& engine : made) engines.push_back(std::move(*engine));
  return engines;
}

SharingAnswer choose_sharing(const SharingQuestion& question, const RunOptions& run) noexcept {
  const auto whole = [&](std::string_view of_one_eps, std::string_view of_several) {
    return question.engines < 2 || question.eps < 2 ? SharingAnswer{Sharing::one, of_one_eps}
                                                    : SharingAnswer{Sharing::eps, of_several};
  };
  if (!parts_can(run)) {
    constexpr std::string_view kLacking = "parts of space do not have what is asked for";
    return whole(kLacking, kLacking);
  }
  if (question.host) return choose_host_sharing(question, run);
  const std::uint64_t whole_needs = bytes_needed(question, run);
  if (question.device_memory != 0 && whole_needs > question.device_memory) {
    const std::uint64_t needed = whole_needs + question.points * kBytesPerPartPoint;
    if (with_ghosts(needed) <= question.device_memory * question.engines) {
      return {Sharing::parts, "all points are more than one device holds", question.engines};
    }
    return {Sharing::parts, "all points are more than the memory of GPUs holds",
            parts_in_turns(needed, question.device_memory, question.engines)};
  }
  if (question.engines < 2) return {Sharing::one, "all points fit the one device"};
  const std::size_t rounds = (question.eps + question.engines - 1) / question.engines;
  if (question.cut_by_devices && question.points >= kFewestCutByDevices &&
      kShareOfIdle * (rounds * question.engines - question.eps) >= rounds * question.engines) {
    return {Sharing::parts, "each device clusters a part, which the devices cut themselves", question.engines, true};
  }
  return whole("all points fit one device, which is done with one eps before they are in parts",
               "all points fit each device, and nothing has to be sent");
}

SharingAnswer choose_sharing(const PointRows& points, const Metric& metric, const Sweep& sweep,
                             std::span<const EngineOptions> engines, const RunOptions& run, bool weights) {
  std::vector<double> eps;
  eps.reserve(sweep.size());
  for (const Variant& variant : sweep.variants()) eps.push_back(variant.eps);
  std::sort(eps.begin(), eps.end());
  SharingQuestion question{.engines = engines.size(),
                           .eps = static_cast<std::size_t>(std::unique(eps.begin(), eps.end()) - eps.begin()),
                           .points = points.size(),
                           .bytes = std::uint64_t{points.size()} * points.row_bytes(),
                           .weights = weights,
                           .in_memory = points.in_memory()};
  if (engines.size() == 1 && on_the_host(engines.front())) {
    question.host = true;
    question.device_memory = settled(engines.front()).memory;
    question.levels = most_levels(sweep);
    return choose_sharing(question, run);
  }
  const bool small = bytes_needed(question, run) < kFitsAnyGpu;
  for (const EngineOptions& engine : engines) {
    if (small && engine.gpu_memory == 0) continue;
    const std::uint64_t memory = gpu_memory_of(engine);
    question.device_memory = question.device_memory == 0 ? memory : std::min(question.device_memory, memory);
  }
  // In more dimensions, and with tiles, parts lack what one device has; a box makes images of points, which the host finds.
  question.cut_by_devices = !weights && points.in_memory() && metric.box.empty() &&
                            points.dims() <= index::kMostCliqueDims && engines.size() <= kMostDeviceParts &&
                            grid_wanted(run) && apart(engines);
  return choose_sharing(question, run);
}

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
      if (together.refused() || parts >= 8 * answer.parts || 2 * parts > most) throw;
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
