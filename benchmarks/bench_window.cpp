// Times the steps of a window, in turns with runs from scratch over the same points.
//
//   bench_window [--points N] [--percent P] [--dims D] [--steps N] [--leave first|random] [--new]
//                [--backend cpu|gpu] [--threads N] [--each N] [--labels host|device]
//
// Three fifths of the points are in 50 clumps that wander, the others anywhere. In each step P percent of the points
// arrive and as many leave: those that arrived first, or random ones; with --new all points are replaced. eps is .8 of
// the mean separation, minpts 6. After `each` steps the points are also clustered from scratch, by the same engine
// options, from host to host, and labels are compared. Prints JSON: milliseconds of steps (median, 99th percentile,
// largest) and of runs (median), resident bytes after a tenth of the steps and at the end.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <span>
#include <vector>

#include <unistd.h>

#include "bench.hpp"

#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/windows/window.hpp>

namespace {

using namespace epsflow;
using bench::seconds_of;

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

int measure(const bench::Words& words) {
  const std::uint64_t points = words.number("--points", 20'000);
  const std::uint64_t dims = words.number("--dims", 2);
  const std::uint64_t steps = words.number("--steps", 1000);
  const std::uint64_t each = words.number("--each", 50);
  const bool all_new = words.has("--new");
  const std::uint64_t changed =
      all_new ? points
              : static_cast<std::uint64_t>(static_cast<double>(points) * std::stod(words.text("--percent", "5")) / 100);
  const bool leave_random = words.text("--leave", "first") == "random";
  WindowOptions options{.engine = {.backend = BackendChoice::cpu}};
  words.set(options.engine);
  const bool on_host = words.text("--labels", "host") == "host";  // else steps end with labels on the GPU, unread
  options.labels = on_host ? MemorySpace::host : MemorySpace::device;
  const double separation = std::pow(1.0 / static_cast<double>(points), 1.0 / static_cast<double>(dims));
  const Sweep sweep({{0.8 * separation, 6}});
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
  std::cout << bench::Json{{"backend", engine.backend()},
                           {"points", points},
                           {"dims", dims},
                           {"changed", changed},
                           {"steps", steps},
                           {"median_ms", times[times.size() / 2]},
                           {"p99_ms", times[times.size() * 99 / 100]},
                           {"largest_ms", times.back()},
                           {"from_scratch", from_scratch},
                           {"run_ms", bench::median(runs)},
                           {"clusters", summary.clusters},
                           {"core", summary.core},
                           {"noise", summary.noise},
                           {"resident_begun", begun},
                           {"resident_end", resident_bytes()},
                           {"equal", equal}}
                   .dump()
            << "\n";
  return equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run({"bench_window [--OPTION VALUE …]", 0, {"--new"}}, argc, argv, measure);
}
