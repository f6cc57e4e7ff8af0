// Times one data set under a grid of velocities.
//
//   bench_velocities [--points N] [--side N] [--eps E] [--minpts N] [--backend cpu|gpu] [--threads N] [--looped N]
//   [--repeat N]
//
// The points are a night sky: detections at random places of a field of 20 by 20 degrees in 15 nights, and objects that
// move evenly and are seen once a night. There are side² velocities of up to 0.1 degrees a night. Times are from points
// in host memory to the clusters of all velocities, the minimum of the repetitions after one warm-up. Prints JSON:
// seconds, milliseconds for each velocity in one call and in a loop of one engine over `looped` of them, the number of
// clusters, and whether counts are equal.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "bench.hpp"

#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/pipeline/velocities.hpp>

namespace {

using namespace epsflow;
using bench::seconds_of;

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

int measure(const bench::Words& words) {
  const Sky sky = make_sky(words.number("--points", 100'000), words.number("--side", 300));
  const MovingPoints moving = sky.view();
  const std::uint64_t looped = std::min<std::uint64_t>(moving.count(), words.number("--looped", 100));
  const std::uint64_t repeat = words.number("--repeat", 2);
  EngineOptions options{.backend = BackendChoice::cpu};
  words.set(options);
  const double eps = std::stod(words.text("--eps", "0.005"));
  const Sweep sweep = grid({eps}, {static_cast<std::uint32_t>(words.number("--minpts", 5))});
  const Engine engine(options);

  std::vector<LabelSummary> counts;
  double best = 1e300;
  for (std::uint64_t r = 0; r <= repeat; ++r) {
    counts.clear();
    const double took = seconds_of([&] {
      sweep_velocities(engine, moving, sweep, [&](const VelocityClusters& found) {
        counts.insert(counts.end(), found.counts.begin(), found.counts.end());
      });
    });
    if (r > 0 || repeat == 0) best = std::min(best, took);
  }
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
  std::cout << bench::Json{{"backend", engine.backend()},
                           {"points", sky.times.size()},
                           {"velocities", moving.count()},
                           {"seconds", best},
                           {"ms_per_velocity", 1e3 * best / static_cast<double>(moving.count())},
                           {"ms_per_velocity_looped", 1e3 * loop / static_cast<double>(looped)},
                           {"clusters", clusters},
                           {"equal", equal}}
                   .dump()
            << "\n";
  return equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run({"bench_velocities [--OPTION VALUE …]"}, argc, argv, measure);
}
