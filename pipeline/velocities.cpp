#include <epsflow/pipeline/velocities.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/core/stopwatch.hpp>
#include <epsflow/pipeline/in_order.hpp>
#include <epsflow/pipeline/run_dataset.hpp>

namespace epsflow {
namespace {

/// The most points that are clustered together. A GPU then needs few launches, and a CPU's caches hold them.
constexpr std::uint64_t kGpuPoints = 1 << 25;
constexpr std::uint64_t kCpuPoints = 1 << 20;
/// A rough upper bound on the memory of such a point: index, sets of clusters, and several forms of its coordinates.
constexpr std::uint64_t kBytesPerPoint = 512;
constexpr std::uint64_t kBytesPerCoordinate = 24;

void require_finite(std::span<const double> values, const char* what, std::size_t per_row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw InputError(std::string(what) + " " + std::to_string(i / per_row) + " is " +
                     (std::isnan(values[i]) ? "NaN" : "infinite") + ": give finite numbers");
  }
}

/// Returns the largest finite magnitude. The load reports coordinates that are not finite.
template <class T>
double largest(std::span<T> values) {
  double found = 0;
  for (const auto value : values) {
    if (std::isfinite(value)) found = std::max(found, std::abs(static_cast<double>(value)));
  }
  return found;
}

void check(const MovingPoints& moving) {
  const std::size_t dims = moving.points.dims();
  if (moving.times.size() != moving.points.size()) {
    throw UsageError("there are " + format_count(moving.points.size(), "point") + " and " +
                     format_count(moving.times.size(), "time") + ": give one for each");
  }
  if (moving.velocities.size() % dims != 0) {
    throw UsageError("velocities have as many components as points have coordinates, " + std::to_string(dims) +
                     ", and there are " + format_count(moving.velocities.size(), "number"));
  }
  require_finite(moving.times, "time", 1);
  require_finite(moving.velocities, "velocity", dims);
  const double most = moving.points.visit([](auto values) { return largest(values); });
  if (!std::isfinite(most + largest(moving.times) * largest(moving.velocities))) {
    throw InputError("the largest time times the largest velocity takes points beyond float64: give smaller units");
  }
}

/// Returns the number of velocities that are clustered together.
std::size_t velocities_at_a_time(const Engine& engine, PointsView points) {
  const EngineOptions& options = engine.options();
  const bool gpu = engine.backend() == "gpu";
  const std::uint64_t each = kBytesPerPoint + kBytesPerCoordinate * points.dims();
  std::uint64_t most = std::min(options.memory / each, gpu ? kGpuPoints : kCpuPoints);
  if (gpu && options.gpu_memory > 0) most = std::min(most, options.gpu_memory / each);
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, most / std::max<std::size_t>(1, points.size())));
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

}  // namespace

void MovingPoints::at_velocity(std::size_t v, std::span<double> out) const noexcept {
  const std::size_t dims = points.dims();
  const std::span<const double> velocity = velocities.subspan(v * dims, dims);
  points.visit([&](auto values) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      for (std::size_t k = 0; k < dims; ++k) {
        out[i * dims + k] = static_cast<double>(values[i * dims + k]) - times[i] * velocity[k];
      }
    }
  });
}

void sweep_velocities(const Engine& engine, const MovingPoints& moving, const Sweep& sweep,
                      const OnVelocities& on_found, std::uint32_t least, const Observer& observer) {
  check(moving);
  const Stopwatch time;
  const std::size_t n = moving.points.size(), dims = moving.points.dims();
  std::size_t at_a_time = std::min(velocities_at_a_time(engine, moving.points), moving.count());
  Points moved(at_a_time * n, dims, Precision::float64);  // shared by all groups, because new pages take long
  tbb::task_arena arena(static_cast<int>(engine.options().threads));
  std::size_t first = 0;
  Observer watching = observer;
  if (observer.on_progress) {
    watching.on_progress = [&](Progress progress) {
      progress.variants_done = first * sweep.size() + progress.variants_done * at_a_time;
      progress.variants = moving.count() * sweep.size();
      progress.seconds = time.seconds();
      progress.seconds_left = std::nullopt;
      observer.on_progress(progress);
    };
  }
  while (first < moving.count()) {
    at_a_time = std::min(at_a_time, moving.count() - first);
    const std::span<double> values = moved.values<double>().first(at_a_time * n * dims);
    std::vector<std::uint64_t> offsets;
    for (std::size_t v = 0; v <= at_a_time; ++v) offsets.push_back(v * n);
    arena.execute([&] {
      parallel_for(at_a_time,
                   [&](std::size_t v) { moving.at_velocity(first + v, values.subspan(v * n * dims, n * dims)); });
    });
    std::vector<VelocityClusters> found;
    try {
      const Dataset data = engine.load({std::span<const double>(values), dims}, offsets, {}, observer.cancel);
      found = in_order<VelocityClusters>(sweep, [&](const auto& add) {
        run_dataset(
            data, sweep, [&](VariantResult&& result) { add(clusters_of(std::move(result), first, n, least)); },
            {.keep = Keep::summary, .clusters = true}, watching);
      });
    } catch (const ResourceError&) {  // on_found has not been called for this group yet
      if (at_a_time == 1) throw;
      at_a_time /= 2;
      continue;
    }
    for (VelocityClusters& of_variant : found) on_found(std::move(of_variant));
    first += at_a_time;
  }
}

}  // namespace epsflow
