#include <epsflow/windows/window.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <epsflow/clustering/device_window.hpp>
#include <epsflow/core/box_fit.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/windows/moving_clustering.hpp>
#include <epsflow/windows/window_rows.hpp>

namespace epsflow {
namespace {

/// Continuing costs a point that changes about as much as a run costs this many points (benchmarks/results/windows.md).
constexpr std::uint64_t kPointsForOneChange = 20;

void check_options(std::size_t dims, const Sweep& variants, const WindowOptions& options) {
  if (variants.size() == 0) throw UsageError("a window needs at least one variant: give eps and minpts");
  if (dims < 1 || dims > kMaxDims) {
    throw UsageError("points have " + std::to_string(dims) + " dimensions; a window takes 1 to " +
                     std::to_string(kMaxDims));
  }
  check_metric(options.metric, dims);
  for (const Variant& variant : variants.variants()) (void)transformed_radius(canonical(options.metric), variant.eps);
  if (!(options.max_age >= 0)) {
    throw UsageError("max_age is " + format_number(options.max_age) + "; it is a number from 0 on");
  }
  if (std::isfinite(options.max_age) && !options.timed) {
    throw UsageError("max_age is " + format_number(options.max_age) +
                     ", and points have no times: give times, or limit their number");
  }
  if (options.max_points < 1 || options.max_points > kMaxPoints) {
    throw UsageError("max_points is " + format_count(options.max_points) + "; it is a number from 1 to " +
                     format_count(kMaxPoints));
  }
}

void require_values(std::span<const double> values, bool wanted, std::size_t m, const char* what) {
  if (values.size() != (wanted ? m : 0)) {
    throw UsageError(format_count(m, "point") + " arrived with " + format_count(values.size()) + " " + what +
                     (wanted ? ": give one for each point" : ", and the window was made for points without"));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw InputError(std::string(what) + ": row " + std::to_string(i) + " is " + format_number(values[i]) +
                     "; give finite numbers, or leave the row out");
  }
}

}  // namespace

namespace windows {

/// Variants with the same eps: a clustering that continues makes them together.
struct Group {
  double eps;
  std::vector<std::size_t> variants;  ///< indices in the sweep
  std::vector<std::uint32_t> minpts;
  std::unique_ptr<MovingClustering> moving = nullptr;
};

namespace {

std::vector<Group> groups_of(const Sweep& sweep) {
  std::map<double, Group> groups;
  for (std::size_t v = 0; v < sweep.size(); ++v) {
    const Variant& variant = sweep.variants()[v];
    Group& group = groups.try_emplace(variant.eps, Group{variant.eps, {}, {}}).first->second;
    group.variants.push_back(v);
    group.minpts.push_back(variant.minpts);
  }
  std::vector<Group> found;
  found.reserve(groups.size());
  for (auto& [eps, group] : groups) found.push_back(std::move(group));
  return found;
}

}  // namespace

/// The points that a step brings and removes.
struct StepRows {
  std::span<const std::uint32_t> entering;  ///< rows of the arriving points, ascending
  std::span<const std::uint32_t> leaving;   ///< rows of the window, ascending
  std::optional<double> latest;
  StepSummary summary;
};

/// The change of the rows of the host, which may go on while a GPU works.
class HostRows {
 public:
  /// change: may throw.
  explicit HostRows(std::function<void()> change)
      : change_(std::move(change)), changed_(std::async(std::launch::deferred, change_)) {}

  void begin() { changed_ = std::async(change_); }
  /// Waits for the change, or makes it if it has not begun. Throws its error, in each call.
  void finish() const { changed_.get(); }

 private:
  std::function<void()> change_;
  std::shared_future<void> changed_;
};

/// The core points that the clusters of each variant share with the clusters before the step.
using SharedCores = std::vector<std::vector<SharedCore>>;

/// How the points of a step are clustered.
enum class Way : std::uint8_t { run, begin_continuing, go_on };

}  // namespace windows

using windows::Group;
using windows::HostRows;
using windows::MovingClustering;
using windows::SharedCores;
using windows::StepRows;
using windows::Way;
using windows::WindowRows;

struct WindowParts {
  WindowParts(std::size_t d, const Sweep& variants, const WindowOptions& given)
      : dims(d),
        sweep(variants),
        options(given),
        metric(canonical(given.metric)),
        engine(given.engine),
        rows(d, given.timed, given.weighted),
        groups(windows::groups_of(variants)),
        results(variants.size()),
        next_ids(variants.size(), 0) {
    options.engine = engine.options();
    for (std::size_t v = 0; v < results.size(); ++v) results[v].variant = sweep.variants()[v];
    const bool plain = transformed_space(metric).plain();
    const bool has_gpu = engine.backend() == "gpu";
    can_continue = plain && !options.weighted && !has_gpu && transformed_dims(metric, d) <= 3;
    std::vector<Variant> moved = sweep.variants();
    for (Variant& variant : moved) variant.eps = transformed_radius(metric, variant.eps);
    radii = Sweep(moved);
    stays_on_gpu = plain && has_gpu && radii.size() == sweep.size();
    if (options.labels == MemorySpace::device && !stays_on_gpu) {
      throw UsageError("labels stay on a GPU only if the points do, which takes " +
                       std::string(has_gpu ? "a metric without a periodic box whose transformed points have the "
                                             "Euclidean distance"
                                           : "a GPU, and this engine works on the CPU") +
                       ": let labels come to the host");
    }
  }

  StepSummary step(const WindowStep& step, const CancelToken& cancel);
  void restore(const WindowState& saved);

  /// Decides which points a step brings and removes, and puts them into `chosen`.
  void select(const WindowStep& step);
  [[nodiscard]] std::span<const std::uint32_t> first_numbers(std::size_t count) {
    if (numbers.size() < count) {
      numbers.resize(count);
      std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
    }
    return {numbers.data(), count};
  }
  void on_threads(const CancelToken& cancel, const std::function<void()>& body) const {
    EngineLock(engine, cancel).on_threads(body);
  }
  void charge(std::size_t n);
  [[nodiscard]] Way choose_way(const WindowStep& step);
  /// Makes `next` of the rows, into which `host` changes them by `chosen`.
  [[nodiscard]] SharedCores cluster(Way way, PointsView arriving, HostRows& host, const CancelToken& cancel);
  /// Returns false, and has done nothing, if cells do not hold the points.
  [[nodiscard]] bool begin_continuing();
  void go_on();
  /// Takes the memory of the cells from the budget. Returns false if it does not fit.
  [[nodiscard]] bool charge_moving();
  /// Makes `next` of the cells. Returns the core points that clusters share with those before.
  SharedCores read_all();
  void run_all(const CancelToken& cancel);
  /// Does the work of cluster() on the GPU, where points and labels stay. Returns nullopt if they cannot stay there.
  [[nodiscard]] std::optional<SharedCores> cluster_on_gpu(PointsView arriving, HostRows& host,
                                                          const CancelToken& cancel);
  /// Changes the points on the GPU, and clusters them there.
  void run_on_gpu(PointsView arriving, HostRows& host, const CancelToken& cancel);
  void commit() {
    rows.commit();
    if (on_gpu != nullptr) on_gpu->commit();
    gpu_has_rows = on_gpu != nullptr;
  }
  void give_ids(std::size_t v, std::span<const SharedCore> shared, std::uint64_t& next_cluster);
  /// Returns transformed coordinates.
  [[nodiscard]] std::vector<double> transformed(PointsView points) const;
  [[nodiscard]] std::vector<double> transformed(std::span<const std::uint32_t> handles) const;
  /// Counts the clusters of `next` by its labels, and by the labels before.
  [[nodiscard]] CountedClusters count(std::size_t v) const;
  /// Makes the clusters of `next`, without ids. Returns the core points that they share with those before.
  [[nodiscard]] std::vector<SharedCore> take(std::size_t v, CountedClusters&& counted);
  void drop_moving() noexcept {
    for (Group& group : groups) group.moving.reset();
    moving_memory = {};
  }

  std::size_t dims;
  Sweep sweep;
  Sweep radii;  ///< the sweep among the transformed points
  WindowOptions options;
  Metric metric;
  Engine engine;
  WindowRows rows;
  std::vector<Group> groups;
  MemoryCharge memory;
  std::uint64_t charged = 0;  ///< bytes of `memory`

  bool can_continue = false;  ///< whether cells can hold points of this kind at all
  bool stays_on_gpu = false;  ///< whether the points and the last labels can be in the memory of a GPU
  std::unique_ptr<DeviceWindow> on_gpu;
  bool gpu_has_rows = false;  ///< whether it has the rows before the step
  /// After points were too far apart for cells, or memory too small: the number of points that have to arrive or leave
  /// before cells, or the memory of the GPU, are tried again.
  std::uint64_t changes_to_wait = 0;
  bool few_changed = false;  ///< whether few points changed in the last step, so that few may in the next one
  MemoryCharge moving_memory;

  StepRows chosen;
  std::vector<std::uint32_t> entering, leaving;  ///< its lists, unless they are the first numbers
  std::vector<std::uint32_t> numbers;            ///< 0, 1, 2, … as far as they were needed so far
  Buffer<double> coordinates;  ///< buffer for the points of a run, which is slow to get anew for each step

  std::uint64_t next_id = 0;
  std::optional<double> latest;
  std::vector<WindowResult> results;
  std::vector<WindowResult> next;  ///< the results of a step until it ends; between steps memory for the next ones
  std::vector<std::uint64_t> next_ids;
};

void WindowParts::select(const WindowStep& step) {
  const std::size_t m = step.arriving.size();
  leaving.clear();
  chosen.summary = {};
  chosen.summary.first_id = next_id;
  chosen.summary.arrived = m;
  chosen.latest = latest;
  const auto see = [&](double time) { chosen.latest = chosen.latest ? std::max(*chosen.latest, time) : time; };
  for (const double time : step.times) see(time);
  if (step.now) see(*step.now);

  for (const std::uint64_t id : step.leaving) {
    const auto row = rows.find(id);
    if (!row) {
      throw UsageError("the point with the id " + std::to_string(id) +
                       " is to leave, and is not in the window: it left before, or never arrived");
    }
    leaving.push_back(*row);
  }
  std::sort(leaving.begin(), leaving.end());
  const auto twice = std::adjacent_find(leaving.begin(), leaving.end());
  if (twice != leaving.end()) {
    throw UsageError("the point with the id " + std::to_string(rows.ids()[rows.handles()[*twice]]) +
                     " is to leave twice in one step: give each id once");
  }
  const auto join = [&](std::vector<std::uint32_t>& more) {
    if (leaving.empty()) return leaving.swap(more);
    const auto middle = static_cast<std::ptrdiff_t>(leaving.size());
    leaving.insert(leaving.end(), more.begin(), more.end());
    std::inplace_merge(leaving.begin(), leaving.begin() + middle, leaving.end());
    leaving.erase(std::unique(leaving.begin(), leaving.end()), leaving.end());
  };
  const double oldest = chosen.latest ? *chosen.latest - options.max_age : -std::numeric_limits<double>::infinity();
  if (std::isfinite(oldest)) {
    std::vector<std::uint32_t> old;
    rows.list_before(oldest, old);
    join(old);
  }
  (void)first_numbers(std::max(m, rows.size()));  // so that no later call moves them
  chosen.entering = first_numbers(m);
  if (std::ranges::any_of(step.times, [&](double time) { return time < oldest; })) {
    entering.clear();
    std::ranges::copy_if(chosen.entering, std::back_inserter(entering),
                         [&](std::uint32_t i) { return step.times[i] >= oldest; });
    chosen.entering = entering;
  }
  chosen.summary.too_old = m - chosen.entering.size();

  const std::uint64_t stay = rows.size() - leaving.size();
  const std::uint64_t all = stay + chosen.entering.size();
  std::uint64_t surplus = all > options.max_points ? all - options.max_points : 0;
  chosen.leaving = leaving;
  if (surplus > 0) {
    const std::uint64_t of_rows = std::min(surplus, stay);
    if (leaving.empty()) {
      chosen.leaving = first_numbers(of_rows);
    } else {
      std::vector<std::uint32_t> first;
      first.reserve(of_rows);
      for (std::uint32_t row = 0, passed = 0; first.size() < of_rows; ++row) {
        if (passed < leaving.size() && leaving[passed] == row) {
          ++passed;
        } else {
          first.push_back(row);
        }
      }
      join(first);
      chosen.leaving = leaving;
    }
    surplus -= of_rows;
    chosen.entering = chosen.entering.subspan(surplus);
    chosen.summary.too_many = surplus;
  }
  chosen.summary.left = chosen.leaving.size();
}

void WindowParts::charge(std::size_t n) {
  const std::uint64_t row_bytes = rows.bytes_per_point() + results.size() * 2 * (sizeof(std::int32_t) + 1);
  const std::uint64_t before = std::exchange(charged, n * row_bytes);
  memory = {};
  try {
    memory = MemoryCharge(EngineLock::budget(engine), charged, "the window");
  } catch (const ResourceError&) {
    charged = before;
    memory = MemoryCharge(EngineLock::budget(engine), charged, "the window");
    throw;
  }
}

Way WindowParts::choose_way(const WindowStep& step) {
  const std::size_t changes = chosen.leaving.size() + chosen.entering.size();
  const std::size_t n = rows.size() - chosen.leaving.size() + chosen.entering.size();
  const bool few_before = std::exchange(few_changed, changes * kPointsForOneChange <= n);
  changes_to_wait -= std::min<std::uint64_t>(changes_to_wait, changes);
  if (!can_continue || !few_changed || changes_to_wait > 0) return Way::run;
  if (groups.front().moving == nullptr) return few_before ? Way::begin_continuing : Way::run;
  std::vector<double> x;
  for (const std::uint32_t i : chosen.entering) {
    for (std::size_t k = 0; k < dims; ++k) x.push_back(step.arriving.at(i, k));
  }
  x = transformed(PointsView(std::span<const double>(x), dims));
  for (const Group& group : groups) {
    if (group.moving->holds(x)) continue;
    changes_to_wait = n;
    return Way::run;
  }
  return Way::go_on;
}

StepSummary WindowParts::step(const WindowStep& step, const CancelToken& cancel) {
  const std::size_t m = step.arriving.size();
  if (m > 0 && step.arriving.dims() != dims) {
    throw UsageError("points with " + std::to_string(step.arriving.dims()) + " dimensions arrived in a window of " +
                     std::to_string(dims) + ": all points of a window have the same number");
  }
  require_values(step.times, options.timed, m, "times");
  require_values(step.weights, options.weighted, m, "weights");
  if (step.now && !(options.timed && std::isfinite(*step.now))) {
    throw UsageError(options.timed ? "the time of the step is " + format_number(*step.now) + ": give a finite number"
                                   : std::string("a step has a time, and the window was made for points without"));
  }
  // If the GPU has the rows, the host checks points and changes its own rows while the GPU works.
  const bool beside_gpu = gpu_has_rows;
  if (m > 0 && !beside_gpu) on_threads(cancel, [&] { require_points(metric, step.arriving); });
  select(step);
  charge(std::max(rows.size() - chosen.leaving.size() + chosen.entering.size(), rows.size()));
  std::vector<std::uint64_t> later_ids = next_ids;
  Way way = Way::run;
  on_threads(cancel, [&] { way = choose_way(step); });
  try {
    HostRows host([&] {
      EngineLock::on_threads_of(engine, [&] {
        if (m > 0 && beside_gpu) require_points(metric, step.arriving);
        rows.change({step.arriving, step.times, step.weights, {}, next_id, chosen.entering}, chosen.leaving);
      });
    });
    if (!beside_gpu) host.finish();
    const SharedCores shared = cluster(way, step.arriving, host, cancel);
    for (std::size_t v = 0; v < results.size(); ++v) give_ids(v, shared[v], later_ids[v]);
    commit();
  } catch (...) {
    drop_moving();
    rows.undo();
    throw;
  }
  results.swap(next);
  next_ids.swap(later_ids);
  next_id += m;
  latest = chosen.latest;
  chosen.summary.from_scratch = way != Way::go_on;
  return chosen.summary;
}

SharedCores WindowParts::cluster(Way way, PointsView arriving, HostRows& host, const CancelToken& cancel) {
  cancel.check();
  next.resize(results.size());
  for (std::size_t v = 0; v < next.size(); ++v) {
    next[v].variant = results[v].variant;
    next[v].device_labels = {};
    next[v].device_core = {};
  }
  if (auto shared = cluster_on_gpu(arriving, host, cancel)) return *std::move(shared);
  SharedCores shared(results.size());
  if (way == Way::go_on) {
    on_threads(cancel, [&] {
      go_on();
      shared = read_all();
    });
    if (charge_moving()) return shared;
    drop_moving();  // these labels are right nevertheless
    changes_to_wait = rows.size();
    return shared;
  }
  bool begun = false;
  if (way == Way::begin_continuing) {
    on_threads(cancel, [&] {
      begun = begin_continuing();
      if (begun) (void)read_all();  // fills `next`; the clustering has just begun and shares no core points
    });
    if (!begun) changes_to_wait = rows.size();
  }
  if (!begun) {
    drop_moving();
    run_all(cancel);
  }
  on_threads(cancel, [&] {
    for (std::size_t v = 0; v < results.size(); ++v) shared[v] = take(v, count(v));
  });
  return shared;
}

CountedClusters WindowParts::count(std::size_t v) const {
  const WindowResult& before = results[v];
  const WindowResult& after = next[v];
  const std::size_t n = rows.size(), clusters = after.summary.clusters;
  // All pieces but the last have this many rows, because a piece has an entry for each cluster, which costs as much as
  // several rows.
  const std::size_t piece = std::max<std::size_t>(1 << 15, 4 * (clusters + before.clusters.size()));
  std::vector<CountedClusters> parts((n + piece - 1) / piece);
  parallel_for(parts.size(), [&](std::size_t p) {
    parts[p].clusters.resize(clusters);
    SharedCoreCounter shared(before.clusters.size());
    rows.for_each_stayed(p * piece, std::min(n, (p + 1) * piece), [&](std::size_t row, std::size_t earlier) {
      if (after.labels[row] == kNoise) return;
      const auto k = static_cast<std::uint32_t>(after.labels[row]);
      ClusterCounts& cluster = parts[p].clusters[k];
      if (after.core[row] == 0) {
        ++cluster.borders;
        return;
      }
      if (cluster.core++ == 0) cluster.first_row = static_cast<std::uint32_t>(row);
      const bool was_core = earlier != WindowRows::kNoRow && before.core[earlier] != 0;
      if (was_core) shared.add(static_cast<std::uint32_t>(before.labels[earlier]), k, 1);
    });
    parts[p].shared = std::move(shared).take();
  });
  CountedClusters all{std::vector<ClusterCounts>(clusters), {}};
  SharedCoreCounter shared(before.clusters.size());
  for (const CountedClusters& part : parts) {
    for (std::size_t k = 0; k < clusters; ++k) {
      if (all.clusters[k].core == 0) all.clusters[k].first_row = part.clusters[k].first_row;
      all.clusters[k].core += part.clusters[k].core;
      all.clusters[k].borders += part.clusters[k].borders;
    }
    for (const SharedCore& pair : part.shared) shared.add(pair.before, pair.after, pair.points);
  }
  all.shared = std::move(shared).take();
  return all;
}

bool WindowParts::begin_continuing() {
  const std::vector<double> x = transformed(rows.handles());
  for (Group& group : groups) {
    group.moving =
        MovingClustering::make(x, transformed_dims(metric, dims), transformed_radius(metric, group.eps), group.minpts);
    if (group.moving == nullptr) break;
    group.moving->step({{}, rows.handles(), x, rows.ids().size()});
  }
  if (groups.back().moving == nullptr || !charge_moving()) {
    drop_moving();
    return false;
  }
  coordinates = {};  // steps that continue need no buffer for all points
  return true;
}

void WindowParts::go_on() {
  const std::vector<double> x = transformed(rows.entered());
  for (Group& group : groups) group.moving->step({rows.left(), rows.entered(), x, rows.ids().size()});
}

bool WindowParts::charge_moving() {
  std::uint64_t bytes = 0;
  for (const Group& group : groups) bytes += group.moving->bytes();
  moving_memory = {};
  try {
    moving_memory = MemoryCharge(EngineLock::budget(engine), bytes, "cells of the window");
  } catch (const ResourceError&) {
    return false;  // a run needs less
  }
  return true;
}

SharedCores WindowParts::read_all() {
  const auto handles = rows.handles();
  SharedCores shared(results.size());
  for (const Group& group : groups) {
    for (std::size_t level = 0; level < group.variants.size(); ++level) {
      const std::size_t v = group.variants[level];
      WindowResult& result = next[v];
      if (result.labels.size() != handles.size()) result.labels = Labels(handles.size());
      result.core.resize(handles.size());
      const windows::RowOutput output{handles, result.labels.span(), result.core};
      shared[v] = take(v, group.moving->read(level, output, results[v].clusters.size()));
    }
  }
  return shared;
}

std::vector<SharedCore> WindowParts::take(std::size_t v, CountedClusters&& counted) {
  WindowResult& result = next[v];
  result.clusters.resize(counted.clusters.size());
  constexpr std::size_t kClusters = 1 << 10;  // each waits for the memory of its first core point
  parallel_ranges(counted.clusters.size(), kClusters, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const ClusterCounts& cluster = counted.clusters[k];
      const std::uint64_t first_core = rows.ids()[rows.handles()[cluster.first_row]];
      result.clusters[k] = {0, std::uint64_t{cluster.core} + cluster.borders, cluster.core, first_core};
    }
  });
  LabelSummary& sums = result.summary;
  sums = {.clusters = counted.clusters.size()};
  for (const ClusterCounts& cluster : counted.clusters) {
    sums.core += cluster.core;
    sums.border += cluster.borders;
    sums.largest = std::max(sums.largest, std::uint64_t{cluster.core} + cluster.borders);
  }
  sums.noise = rows.size() - sums.core - sums.border;
  return std::move(counted.shared);
}

void WindowParts::run_all(const CancelToken& cancel) {
  const auto handles = rows.handles();
  const std::size_t n = handles.size();
  if (coordinates.size() < n * dims) {
    coordinates = {};
    coordinates = Buffer<double>(n * dims);
  }
  const std::span<double> x = coordinates.span().first(n * dims);
  on_threads(cancel, [&] { rows.write_points(x); });
  const std::vector<double> weights = rows.all_weights();
  std::vector<VariantResult> found(results.size());
  if (n > 0) {
    const PointSet points(PointsView(std::span<const double>(x), dims), options.metric, weights);
    const Dataset loaded = load(points, [&] { return engine; }, {.cancel = &cancel});
    found = run(loaded, sweep, {.core_mask = true}, {.cancel = &cancel});
  }
  for (std::size_t v = 0; v < found.size(); ++v) {
    WindowResult& result = next[v];
    result.labels = std::move(found[v].labels);
    result.core = std::move(found[v].core);
    result.summary = found[v].summary;
  }
}

std::optional<SharedCores> WindowParts::cluster_on_gpu(PointsView arriving, HostRows& host, const CancelToken& cancel) {
  if (!stays_on_gpu || changes_to_wait > 0) return std::nullopt;
  const bool on_host = options.labels == MemorySpace::host;
  std::vector<CountedClusters> counted(results.size());
  try {
    run_on_gpu(arriving, host, cancel);
    const EngineLock lock(engine, cancel);
    for (std::size_t v = 0; v < results.size(); ++v) {
      const DeviceLabelling labelling{next[v].device_labels, next[v].device_core,
                                      static_cast<std::size_t>(next[v].summary.clusters)};
      lock.on_threads([&] {
        counted[v] =
            on_host ? on_gpu->count(v, labelling, {next[v].labels, next[v].core}) : on_gpu->count(v, labelling);
        // After a step that was not on the GPU, it does not know the labels before.
        if (!gpu_has_rows && !results[v].clusters.empty()) counted[v] = count(v);
      });
    }
  } catch (const ResourceError&) {
    host.finish();
    if (!on_host) throw;
    on_gpu.reset();
    gpu_has_rows = false;
    for (std::vector<WindowResult>* all : {&results, &next}) {  // which leaves their memory to the other way
      for (WindowResult& result : *all) {
        result.device_labels = {};
        result.device_core = {};
      }
    }
    changes_to_wait = rows.size();
    return std::nullopt;
  } catch (const InputError&) {
    host.finish();  // its error names the row among the points that arrived
    throw;
  }
  host.finish();
  SharedCores shared(results.size());
  on_threads(cancel, [&] {
    for (std::size_t v = 0; v < results.size(); ++v) shared[v] = take(v, std::move(counted[v]));
  });
  return shared;
}

void WindowParts::run_on_gpu(PointsView arriving, HostRows& host, const CancelToken& cancel) {
  const std::size_t width = transformed_dims(metric, dims);
  std::vector<double> moved;
  std::vector<std::uint32_t> all;
  if (!gpu_has_rows) {
    all.resize(rows.size());
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    on_threads(cancel, [&] { moved = transformed(rows.handles()); });
  } else if (!is_identity(metric, arriving, 0, arriving.size())) {
    on_threads(cancel, [&] { moved = transformed(arriving); });
  }
  if (!moved.empty()) arriving = PointsView(std::span<const double>(moved), width);
  DevicePointsView points;
  {
    const EngineLock lock(engine, cancel);
    if (!gpu_has_rows) on_gpu = dynamic_cast<DeviceWindows&>(lock.backend()).make_window(width, results.size());
    lock.on_threads([&] {
      points =
          gpu_has_rows ? on_gpu->change(chosen.leaving, arriving, chosen.entering) : on_gpu->change({}, arriving, all);
    });
  }
  if (gpu_has_rows) host.begin();  // not before, as the copy to the GPU takes all threads
  for (WindowResult& result : next) result.summary = {};
  if (points.size() == 0) return;
  Dataset data = engine.load(points, &cancel);
  if (options.weighted) {
    host.finish();
    data = data.weighted(rows.all_weights(), &cancel);
  }
  std::vector<VariantResult> found =
      run(data, radii, {.core_mask = true, .labels = MemorySpace::device}, {.cancel = &cancel});
  for (std::size_t v = 0; v < found.size(); ++v) {
    next[v].summary = found[v].summary;
    next[v].device_labels = std::move(found[v].device_labels);
    next[v].device_core = std::move(found[v].device_core);
  }
}

void WindowParts::give_ids(std::size_t v, std::span<const SharedCore> shared, std::uint64_t& next_cluster) {
  WindowResult& result = next[v];
  result.earlier = results[v].clusters;
  std::vector<std::uint64_t> ids;
  ids.reserve(result.earlier.size());
  for (const WindowCluster& cluster : result.earlier) ids.push_back(cluster.id);
  const auto continued = continued_clusters(shared, ids, result.clusters.size());
  for (std::size_t k = 0; k < continued.size(); ++k) {
    result.clusters[k].id = continued[k] == kNoCluster ? next_cluster++ : ids[continued[k]];
  }
  result.changes.assign(shared, result.earlier.size(), result.clusters.size());
}

std::vector<double> WindowParts::transformed(PointsView points) const {
  std::vector<double> x(points.size() * transformed_dims(metric, dims));
  transform_all(metric, points, x.data());
  return x;
}

std::vector<double> WindowParts::transformed(std::span<const std::uint32_t> handles) const {
  std::vector<double> x(handles.size() * dims);
  for (std::size_t i = 0; i < handles.size(); ++i) std::copy_n(rows.point(handles[i]), dims, x.data() + i * dims);
  return transformed(PointsView(std::span<const double>(x), dims));
}

void WindowParts::restore(const WindowState& saved) {
  const std::size_t n = saved.ids.size();
  const auto require = [](bool holds) {
    if (holds) return;
    throw InputError("the state of the window is damaged, or was saved with other options: begin a new window");
  };
  const auto finite = [](double value) { return std::isfinite(value); };
  require(std::ranges::all_of(saved.times, finite) && std::ranges::all_of(saved.weights, finite) &&
          (!saved.latest || std::isfinite(*saved.latest)) &&
          (saved.times.empty() || (saved.latest && *saved.latest >= std::ranges::max(saved.times))));
  require(saved.points.size() == n * dims && saved.times.size() == (options.timed ? n : 0) &&
          saved.weights.size() == (options.weighted ? n : 0) && saved.variants.size() == results.size() &&
          n <= options.max_points && std::is_sorted(saved.ids.begin(), saved.ids.end(), std::less_equal<>()) &&
          (n == 0 || saved.ids.back() < saved.next_id));
  const PointsView points = n > 0 ? PointsView(std::span(saved.points), dims) : PointsView();
  charge(n);
  chosen.entering = first_numbers(n);
  HostRows host([&] {
    EngineLock::on_threads_of(engine, [&] {
      rows.change({points, saved.times, saved.weights, saved.ids, 0, chosen.entering}, {});
    });
  });
  host.finish();
  (void)cluster(Way::run, points, host, {});
  commit();
  results.swap(next);
  for (std::size_t v = 0; v < results.size(); ++v) {
    const WindowState::Ids& ids = saved.variants[v];
    std::vector<std::uint64_t> sorted = ids.clusters;
    std::ranges::sort(sorted);
    require(ids.clusters.size() == results[v].clusters.size() && std::ranges::adjacent_find(sorted) == sorted.end());
    for (std::size_t k = 0; k < ids.clusters.size(); ++k) {
      require(ids.clusters[k] < ids.next);
      results[v].clusters[k].id = ids.clusters[k];
    }
    results[v].earlier = results[v].clusters;
    next_ids[v] = ids.next;
  }
  next_id = saved.next_id;
  latest = saved.latest;
}

Window::Window(std::size_t dims, const Sweep& variants, const WindowOptions& options) {
  check_options(dims, variants, options);
  parts_ = std::make_unique<WindowParts>(dims, variants, options);
}

Window::Window(const WindowState& state, const Sweep& variants, const WindowOptions& options)
    : Window(state.dims, variants, options) {
  parts_->restore(state);
}

Window::Window(Window&&) noexcept = default;
Window& Window::operator=(Window&&) noexcept = default;
Window::~Window() = default;

StepSummary Window::step(const WindowStep& step, const CancelToken* cancel) {
  return parts_->step(step, CancelToken(cancel));
}

std::size_t Window::size() const noexcept { return parts_->rows.size(); }
std::size_t Window::dims() const noexcept { return parts_->dims; }
std::span<const WindowResult> Window::results() const noexcept { return parts_->results; }
std::optional<double> Window::latest() const noexcept { return parts_->latest; }
const WindowOptions& Window::options() const noexcept { return parts_->options; }

std::vector<std::uint64_t> Window::ids() const {
  std::vector<std::uint64_t> ids;
  ids.reserve(size());
  for (const std::uint32_t handle : parts_->rows.handles()) ids.push_back(parts_->rows.ids()[handle]);
  return ids;
}

std::vector<double> Window::points() const {
  std::vector<double> x(size() * dims());
  parts_->on_threads({}, [&] { parts_->rows.write_points(x); });
  return x;
}

std::vector<double> Window::times() const { return parts_->rows.all_times(); }
std::vector<double> Window::weights() const { return parts_->rows.all_weights(); }

WindowState Window::state() const {
  WindowState saved{dims(), parts_->next_id, latest(), ids(), points(), times(), weights(), {}};
  for (std::size_t v = 0; v < results().size(); ++v) {
    WindowState::Ids& of_variant = saved.variants.emplace_back();
    of_variant.next = parts_->next_ids[v];
    for (const WindowCluster& cluster : results()[v].clusters) of_variant.clusters.push_back(cluster.id);
  }
  return saved;
}

}  // namespace epsflow
