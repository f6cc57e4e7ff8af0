#include <epsflow/pipeline/k_distance.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/pipeline/session.hpp>

namespace epsflow {
namespace {

void check_k(std::uint32_t k, std::size_t n) {
  if (n == 0 && k > 0) return;
  if (k > 0 && k < n) return;
  const std::string range =
      n < 2 ? "one point has no other, so give two or more" : "use one from 1 to " + std::to_string(n - 1);
  throw UsageError("k is " + std::to_string(k) + ", of " + format_count(n, "point") + ": " + range);
}

void require_some(std::span<const double> distances) {
  if (distances.empty()) throw UsageError("there are no distances: k-distances of one point or more are needed");
}

std::vector<double> sorted(std::span<const double> distances) {
  std::vector<double> values(distances.begin(), distances.end());
  parallel_sort(values);
  return values;
}

double quantile_of(std::span<const double> ascending, double share) {
  const double rank = std::ceil(share * static_cast<double>(ascending.size()));
  return ascending[std::min(ascending.size() - 1, static_cast<std::size_t>(std::max(rank, 1.0)) - 1)];
}

}  // namespace

std::vector<double> k_distances(const Dataset& data, std::span<const std::uint32_t> ks, const Observer& observer) {
  for (const std::uint32_t k : ks) check_k(k, data.size());
  Session session(data, {}, observer);
  session.require_one_slice("k_distance()");
  session.stop().check();
  const std::uint64_t size = std::uint64_t{data.size()} * ks.size();
  const MemoryCharge memory(session.budget(), size * sizeof(double) + session.points().nearest_bytes(),
                            "the k-distances");
  std::vector<double> distances(size);
  if (size == 0) return distances;
  session.on_threads([&] {
    session.points().nearest_sums(ks, distances.data(), session.stop());
    const Space& space = session.points().space();
    parallel_ranges(size, 1 << 14, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        distances[i] = distance_of_moved(session.metric(), space.distance(distances[i]));
      }
    });
  });
  return distances;
}

std::vector<double> k_distances(const Dataset& data, std::uint32_t k, const Observer& observer) {
  return k_distances(data, std::span(&k, 1), observer);
}

std::vector<double> k_distances(PointsView points, std::uint32_t k, const Metric& metric, const EngineOptions& engine,
                                const Observer& observer) {
  check_k(k, points.size());
  return k_distances(load_for_one_run(points, metric, engine, {}, observer), k, observer);
}

Knee knee(std::span<const double> distances) {
  const std::vector<double> ascending = sorted(distances);
  const auto first = std::upper_bound(ascending.begin(), ascending.end(), 0.0);
  const auto last = std::lower_bound(first, ascending.end(), std::numeric_limits<double>::infinity());
  Knee found{std::numeric_limits<double>::quiet_NaN(), 0};
  if (last - first < 3) return found;
  const double lowest = std::log(*first);
  const double slope = (std::log(*(last - 1)) - lowest) / static_cast<double>(last - first - 1);
  double farthest = 0;
  for (auto at = first; at != last; ++at) {
    // Of the distances of one value the last is the one that counts.
    if (at + 1 != last && at[1] == *at) continue;
    const double below = lowest + slope * static_cast<double>(at - first) - std::log(*at);
    if (below <= farthest) continue;
    farthest = below;
    found = {*at, static_cast<double>(at + 1 - ascending.begin()) / static_cast<double>(ascending.size())};
  }
  return found;
}

std::vector<double> quantiles(std::span<const double> distances, std::span<const double> shares) {
  require_some(distances);
  const std::vector<double> ascending = sorted(distances);
  std::vector<double> found;
  for (const double share : shares) found.push_back(quantile_of(ascending, share));
  return found;
}

EpsRange eps_range(std::span<const double> distances) {
  constexpr double kShare = 0.01;
  require_some(distances);
  const std::vector<double> ascending = sorted(distances);
  const auto first = std::upper_bound(ascending.begin(), ascending.end(), 0.0);
  if (first == ascending.end()) return {};
  const std::span<const double> above(first, ascending.end());
  return {quantile_of(above, kShare), quantile_of(above, 1 - kShare)};
}

}  // namespace epsflow
