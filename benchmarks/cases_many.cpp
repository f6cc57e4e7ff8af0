// Many data sets in one run: slices, one data set under many velocities, and a window that moves.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <span>
#include <vector>

#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/pipeline/velocities.hpp>
#include <epsflow/windows/window.hpp>

#include "cases.hpp"
#include "points.hpp"

namespace epsflow::bench {
namespace {

constexpr double kField = 20;  // degrees
constexpr double kNights = 15;
constexpr double kFastest = 0.1;  // degrees a night

struct Sky {
  std::vector<double> points;
  std::vector<double> times;
  std::vector<double> velocities;
  [[nodiscard]] MovingPoints view() const { return {{std::span<const double>(points), 2}, times, velocities}; }
};

Sky make_sky(std::uint64_t detections, std::uint64_t side) {
  std::mt19937_64 random(1);
  const auto uniform = [&](double lo, double hi) {
    return lo + (hi - lo) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  Sky sky;
  const std::uint64_t moving = detections / 10;
  while (sky.times.size() < moving) {
    const double x = uniform(0, kField);
    const double y = uniform(0, kField);
    const double vx = uniform(-kFastest, kFastest);
    const double vy = uniform(-kFastest, kFastest);
    for (double night = 0; night < kNights && sky.times.size() < moving; ++night) {
      const double t = night + uniform(0, 0.3);
      sky.points.insert(sky.points.end(), {x + vx * t, y + vy * t});
      sky.times.push_back(t);
    }
  }
  while (sky.times.size() < detections) {
    sky.points.insert(sky.points.end(), {uniform(0, kField), uniform(0, kField)});
    sky.times.push_back(std::floor(uniform(0, kNights)) + uniform(0, 0.3));
  }
  const auto component = [&](std::uint64_t i) {
    return kFastest * (2 * static_cast<double>(i) / static_cast<double>(std::max<std::uint64_t>(1, side - 1)) - 1);
  };
  for (std::uint64_t i = 0; i < side * side; ++i) {
    sky.velocities.insert(sky.velocities.end(), {component(i / side), component(i % side)});
  }
  return sky;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Points of clumps that wander, and points anywhere, in a box of side 1.
class Stream {
 public:
  explicit Stream(std::size_t dims) : dims_(dims), centres_(kClumps * dims) {
    for (double& x : centres_) x = unit_(random_);
  }
  std::vector<double> next(std::size_t points) {
    std::normal_distribution<double> bell;
    for (double& x : centres_) x = std::clamp(x + 1e-4 * bell(random_), 0.0, 1.0);
    std::vector<double> x;
    x.reserve(points * dims_);
    for (std::size_t i = 0; i < points; ++i) {
      const bool in_clump = random_() % 5 < 3;
      const std::size_t clump = random_() % kClumps;
      for (std::size_t k = 0; k < dims_; ++k) {
        x.push_back(in_clump ? centres_[clump * dims_ + k] + 0.02 * bell(random_) : unit_(random_));
      }
    }
    return x;
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

 private:
  static constexpr std::size_t kClumps = 50;
  std::size_t dims_;
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> unit_;
  std::vector<double> centres_;
};

/// Returns the least seconds of the repetitions of work() after one warm-up.
double least_seconds(int repeat, const auto& work) {
  return std::ranges::min(seconds_of_each(std::max(1, repeat), work, 1));
}

double mean_separation(std::uint64_t points, std::uint64_t dims) {
  return std::pow(1.0 / static_cast<double>(points), 1.0 / static_cast<double>(dims));
}

}  // namespace

bool time_slices(const Words& words) {
  const std::uint64_t sets = words.number("--sets", 10'000);
  const std::uint64_t size = words.number("--points", 1000);
  const std::uint64_t dims = words.number("--dims", 2);
  const std::uint64_t looped = std::min<std::uint64_t>(sets, words.number("--looped", 200));
  const int repeat = words.repeat(3);

  const Points points = points_of("uniform:" + std::to_string(sets * size) + ":" + std::to_string(dims));
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t s = 0; s <= sets; ++s) offsets.push_back(s * size);
  const double separation = mean_separation(size, dims);
  const Sweep sweep = grid({0.5 * separation, 0.7 * separation, 0.9 * separation, 1.1 * separation}, {2, 4, 8, 16});
  const PointsView view = points;
  const Engine engine(words.options<EngineOptions>({.backend = BackendChoice::cpu}));

  std::vector<VariantResult> together;
  const double best = least_seconds(repeat, [&] { together = run(engine.load(view, offsets), sweep); });
  std::vector<std::vector<VariantResult>> alone(looped);
  const double loop = std::ranges::min(seconds_of_each(repeat, [&] {
    for (std::uint64_t s = 0; s < looped; ++s)
      alone[s] = run(engine.load(view.rows(offsets[s], offsets[s + 1])), sweep);
  }));
  bool equal = true;
  for (std::uint64_t s = 0; s < looped; ++s) {
    for (std::size_t v = 0; v < sweep.size(); ++v) {
      equal = equal && std::equal(alone[s][v].labels.begin(), alone[s][v].labels.end(),
                                  together[v].labels.begin() + static_cast<std::ptrdiff_t>(offsets[s]));
    }
  }
  const double each = 1e3 * best / static_cast<double>(sets);
  const double each_looped = 1e3 * loop / static_cast<double>(looped);
  return print({{"backend", engine.backend()},
                {"sets", sets},
                {"points", size},
                {"dims", dims},
                {"seconds", best},
                {"ms_per_set", each},
                {"ms_per_set_looped", each_looped},
                {"ratio", each_looped / each},
                {"equal", equal}});
}

bool time_velocities(const Words& words) {
  const Sky sky = make_sky(words.number("--points", 100'000), words.number("--side", 300));
  const MovingPoints moving = sky.view();
  const std::uint64_t looped = std::min<std::uint64_t>(moving.count(), words.number("--looped", 100));
  const Sweep sweep = grid({words.real("--eps", 0.005)}, {static_cast<std::uint32_t>(words.number("--minpts", 5))});
  const Engine engine(words.options<EngineOptions>({.backend = BackendChoice::cpu}));

  std::vector<LabelSummary> counts;
  const double best = least_seconds(words.repeat(2), [&] {
    counts.clear();
    sweep_velocities(engine, moving, sweep, [&](const VelocityClusters& found) {
      counts.insert(counts.end(), found.counts.begin(), found.counts.end());
    });
  });
  bool equal = true;
  const double loop = seconds_of([&] {
    std::vector<double> moved(sky.points.size());
    for (std::uint64_t s = 0; s < looped; ++s) {
      const std::uint64_t v = s * moving.count() / looped;
      moving.at_velocity(v, moved);
      const auto alone = run(engine.load({std::span<const double>(moved), 2}), sweep);
      equal = equal && alone[0].summary == counts[v];
    }
  });
  std::uint64_t clusters = 0;
  for (const LabelSummary& c : counts) clusters += c.clusters;
  return print({{"backend", engine.backend()},
                {"points", sky.times.size()},
                {"velocities", moving.count()},
                {"seconds", best},
                {"ms_per_velocity", 1e3 * best / static_cast<double>(moving.count())},
                {"ms_per_velocity_looped", 1e3 * loop / static_cast<double>(looped)},
                {"clusters", clusters},
                {"equal", equal}});
}

bool time_window(const Words& words) {
  const std::uint64_t points = words.number("--points", 20'000);
  const std::uint64_t dims = words.number("--dims", 2);
  const std::uint64_t steps = words.number("--steps", 1000);
  const std::uint64_t each = words.number("--each", 50);
  const bool all_new = words.has("--new");
  const std::uint64_t changed =
      all_new ? points : static_cast<std::uint64_t>(static_cast<double>(points) * words.real("--percent", 5) / 100);
  const bool leave_random = words.text("--leave", "first") == "random";
  WindowOptions options{.engine = words.options<EngineOptions>({.backend = BackendChoice::cpu})};
  options.labels = words.choice("--labels", MemorySpace::host);
  const bool on_host = options.labels == MemorySpace::host;  // else steps end with labels on the GPU, unread
  const Sweep sweep({{0.8 * mean_separation(points, dims), 6}});
  if (!leave_random) options.max_points = points;

  Stream stream(dims);
  Window window(dims, sweep, options);
  const Engine engine(options.engine);
  const auto view = [&](const std::vector<double>& x) { return PointsView(std::span<const double>(x), dims); };
  const std::vector<double> first = stream.next(points);
  (void)window.step({.arriving = view(first)});
  std::vector<double> times(steps), runs;  // touched now, so that memory that grows later is the window's
  std::uint64_t from_scratch = 0, begun = 0;
  bool equal = true;
  for (std::uint64_t s = 0; s < steps + 5; ++s) {
    const std::vector<double> x = stream.next(changed);
    std::vector<std::uint64_t> leaving;
    if (leave_random) {
      std::vector<std::uint64_t> ids = window.ids();
      for (std::uint64_t i = 0; i < changed; ++i) std::swap(ids[i], ids[i + stream.below(ids.size() - i)]);
      leaving.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(changed));
    }
    StepSummary done;
    const double took = 1e3 * seconds_of([&] { done = window.step({.arriving = view(x), .leaving = leaving}); });
    if (s >= 5) {  // the first steps begin to continue
      times[s - 5] = took;
      from_scratch += done.from_scratch ? 1 : 0;
    }
    if (s == steps / 10) begun = resident_bytes();
    if (s % each != 0) continue;
    const std::vector<double> now = window.points();
    std::vector<VariantResult> found;
    runs.push_back(1e3 * seconds_of([&] { found = run(engine.load(view(now)), sweep); }));
    equal = equal && found.front().summary == window.results().front().summary &&
            (!on_host || found.front().labels == window.results().front().labels);
  }
  std::ranges::sort(times);
  const LabelSummary summary = window.results().front().summary;
  return print({{"backend", engine.backend()},
                {"points", points},
                {"dims", dims},
                {"changed", changed},
                {"steps", steps},
                {"median_ms", times[times.size() / 2]},
                {"p99_ms", times[times.size() * 99 / 100]},
                {"largest_ms", times.back()},
                {"from_scratch", from_scratch},
                {"run_ms", median(runs)},
                {"clusters", summary.clusters},
                {"core", summary.core},
                {"noise", summary.noise},
                {"resident_begun", begun},
                {"resident_end", resident_bytes()},
                {"equal", equal}});
}

}  // namespace epsflow::bench
