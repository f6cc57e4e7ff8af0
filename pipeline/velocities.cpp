#include <epsflow/pipeline/velocities.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/in_order.hpp>
#include <epsflow/pipeline/run_dataset.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {
namespace {

/// Points of a turn: so many that a GPU's launches are few, and that the caches of a CPU's threads hold most of them.
constexpr std::uint64_t kGpuPoints = 1 << 25;
constexpr std::uint64_t kCpuPoints = 1 << 20;
/// What a point of a turn takes on the host at most, roughly: the index, sets of clusters; and its place, in several forms.
constexpr std::uint64_t kBytesPerPoint = 512;
constexpr std::uint64_t kBytesPerCoordinate = 24;

std::size_t velocities_at_a_time(const Engine& engine, const MovingPoints& moving) {
  const std::uint64_t each = kBytesPerPoint + kBytesPerCoordinate * moving.dims();
  std::uint64_t points = engine.options().memory / each;
  if (engine.backend() == "gpu") {
    points = std::min(points, kGpuPoints);
    if (engine.options().gpu_memory > 0) points = std::min(points, engine.options().gpu_memory / each);
  } else {
    points = std::min(points, kCpuPoints);
  }
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

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// All turns, one after the other.
class Turns {
 public:
  Turns(const Engine& engine, const MovingPoints& moving, const Sweep& sweep, std::uint32_t least,
        const Observer& observer)
      : engine_(engine), moving_(moving), sweep_(sweep), least_(least), observer_(observer) {}

  void run(const OnVelocities& on_found) {
    std::size_t at_a_time = velocities_at_a_time(engine_, moving_);
    for (std::size_t first = 0; first < moving_.count();) {
      const std::size_t last = std::min(moving_.count(), first + at_a_time);
      std::vector<VelocityClusters> found;
      try {
        found = turn(first, last);
      } catch (const ResourceError&) {  // nothing of this turn has been told yet
        if (last - first == 1) throw;
        at_a_time = (last - first) / 2;
        continue;
      }
      for (VelocityClusters& of_variant : found) on_found(std::move(of_variant));
      first = last;
    }
  }

 private:
  /// In the order of the sweep.
  [[nodiscard]] std::vector<VelocityClusters> turn(std::size_t first, std::size_t last) const {
    const Dataset data = engine_.load(moving_.slices(first, last), observer_.cancel);
    return in_order<VelocityClusters>(sweep_, [&](const auto& add) {
      run_dataset(
          data, sweep_,
          [&](VariantResult&& result) { add(clusters_of(std::move(result), first, moving_.points.size(), least_)); },
          {.keep = Keep::summary, .clusters = true}, told(first, last - first));
    });
  }

  /// The progress of all turns, told while one of them is under way.
  [[nodiscard]] Observer told(std::size_t first, std::size_t taken) const {
    Observer observer = observer_;
    if (observer_.on_progress) {
      observer.on_progress = [this, first, taken](const Progress& of_turn) {
        Progress progress = of_turn;
        progress.variants = moving_.count() * sweep_.size();
        progress.variants_done = first * sweep_.size() + of_turn.variants_done * taken;
        progress.seconds = seconds_since(begin_);
        progress.seconds_left = std::nullopt;
        observer_.on_progress(progress);
      };
    }
    return observer;
  }

  const Engine& engine_;
  const MovingPoints& moving_;
  const Sweep& sweep_;
  std::uint32_t least_;
  const Observer& observer_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

void sweep_velocities(const Engine& engine, const MovingPoints& moving, const Sweep& sweep,
                      const OnVelocities& on_found, std::uint32_t least, const Observer& observer) {
  check_moving(moving);
  Turns(engine, moving, sweep, least, observer).run(on_found);
}

}  // namespace epsflow
