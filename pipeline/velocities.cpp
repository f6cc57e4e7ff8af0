#include <epsflow/pipeline/velocities.hpp>

#include <algorithm>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {
namespace {

/// Points of a turn: so many that a GPU's launches are few, and that the caches of a CPU's threads hold most of them.
constexpr std::uint64_t kGpuPoints = 1 << 25;
constexpr std::uint64_t kCpuPoints = 1 << 20;
/// What a point of a turn takes on the host at most, roughly: its place, the index, sets of clusters.
constexpr std::uint64_t kBytesPerPoint = 512;

std::size_t velocities_at_a_time(const Engine& engine, const MovingPoints& moving) {
  const std::uint64_t most = engine.backend() == "gpu" ? kGpuPoints : kCpuPoints;
  const std::uint64_t points = std::min(most, engine.options().memory / kBytesPerPoint);
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, points / std::max<std::size_t>(1, moving.points.size())));
}

VelocityClusters clusters_of(VariantResult&& result, std::size_t first, std::size_t points, std::uint32_t least) {
  VelocityClusters found{.variant = result.variant, .first = first, .counts = std::move(result.slices)};
  const Clusters& clusters = result.clusters;
  for (std::size_t c = 0; c < clusters.count(); ++c) {
    if (clusters.size[c] < least) continue;
    found.velocity.push_back(narrow<std::uint32_t>(first + clusters.first_core[c] / points));
    found.first_core.push_back(narrow<std::uint32_t>(clusters.first_core[c] % points));
    found.core.push_back(clusters.core[c]);
    found.size.push_back(clusters.size[c]);
  }
  return found;
}

/// The progress of all turns, told while one of them is under way.
Observer of_turn(const Observer& observer, const MovingPoints& moving, const Sweep& sweep, std::size_t first,
                 std::size_t taken) {
  Observer turn = observer;
  if (observer.on_progress) {
    turn.on_progress = [&observer, &sweep, first, taken, all = moving.count()](const Progress& of_turn) {
      Progress progress = of_turn;
      progress.variants = all * sweep.size();
      progress.variants_done = first * sweep.size() + of_turn.variants_done * taken;
      observer.on_progress(progress);
    };
  }
  return turn;
}

}  // namespace

void sweep_velocities(const Engine& engine, const MovingPoints& moving, const Sweep& sweep,
                      const OnVelocities& on_found, std::uint32_t least, const Observer& observer) {
  check_moving(moving);
  const RunOptions options{.keep = Keep::summary, .clusters = true};
  const std::size_t at_a_time = velocities_at_a_time(engine, moving);
  for (std::size_t first = 0; first < moving.count(); first += at_a_time) {
    const std::size_t last = std::min(moving.count(), first + at_a_time);
    const Dataset data = engine.load(moving.slices(first, last), observer.cancel);
    for (VariantResult& result : run(data, sweep, options, of_turn(observer, moving, sweep, first, last - first))) {
      on_found(clusters_of(std::move(result), first, moving.points.size(), least));
    }
  }
}

}  // namespace epsflow
