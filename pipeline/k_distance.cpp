#include <epsflow/pipeline/k_distance.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/parallel.hpp>
#include <epsflow/index/nearest.hpp>
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kPiece = 1 << 14;

/// Checks which sums of squares (or other powers) float64 holds: smaller ones lose digits, larger ones are infinite.
class HeldSums {
 public:
  // Exponents of 2.
  static constexpr int kLeast = -1000;  ///< terms that underflow are far below the last digit of such a sum
  static constexpr int kMost = 960;     ///< largest exponent of terms: a sum of kMaxDims such terms is finite

  explicit HeldSums(const Space& space)
      : power_(space.norm == Norm::euclidean   ? 2
               : space.norm == Norm::minkowski ? space.power
                                               : 1) {}

  [[nodiscard]] double power() const noexcept { return power_; }
  [[nodiscard]] bool hold(double sum) const noexcept {
    return sum < kInfinity && (power_ == 1 || sum >= std::ldexp(1.0, kLeast));
  }
  /// Returns true if a sum of 0 implies equal points: other coordinates differ at least by their last digit.
  [[nodiscard]] bool hold_zero(PointsView points) const {
    if (power_ == 1) return true;
    const double least = std::exp2(kLeast / power_ + 54);
    std::atomic<bool> held = true;
    points.visit([&](auto values) {
      parallel_ranges(values.size(), kPiece, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const double x = std::abs(values[i]);
          if (x > 0 && x < least) held = false;
        }
      });
    });
    return held;
  }

 private:
  double power_;
};

/// The magnitudes of coordinates and of their differences.
struct Magnitudes {
  explicit Magnitudes(PointsView points) : differ(points.dims()) {
    for (std::size_t k = 0; k < points.dims(); ++k) {
      double lo = kInfinity, hi = -kInfinity;
      for (std::size_t i = 0; i < points.size(); ++i) {
        lo = std::min(lo, points.at(i, k));
        hi = std::max(hi, points.at(i, k));
      }
      differ[k] = lo < hi;
      if (!differ[k]) continue;
      largest = std::max({largest, std::abs(lo), std::abs(hi)});
      extent = std::max(extent, std::min(hi - lo, std::numeric_limits<double>::max()));
    }
  }

  std::vector<bool> differ;  ///< [d] true if points differ along the axis
  double largest = 0;        ///< largest absolute coordinate on these axes
  double extent = 0;         ///< the largest difference along an axis, at most the largest number
};

/// Returns points · 2^exponent. Axes along which no points differ are set to 0: their coordinates may be too large.
Points scaled(PointsView points, const Magnitudes& magnitudes, int exponent) {
  Points result(points.size(), points.dims(), Precision::float64);
  const std::span<double> out = result.values<double>();
  parallel_ranges(points.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < points.dims(); ++k) {
        out[i * points.dims() + k] = magnitudes.differ[k] ? std::ldexp(points.at(i, k), exponent) : 0;
      }
    }
  });
  return result;
}

[[noreturn]] void throw_not_held(std::size_t row, std::uint32_t k, double distance, double largest, double power) {
  throw InputError("row " + format_count(row) + " and its nearest other point number " + std::to_string(k) +
                   " are about " + format_number(distance) + " apart, and there are coordinates of " +
                   format_number(largest) + ": float64 does not hold both to the power " + format_number(power) +
                   "; leave out points that are so far away" +
                   (power == 2 ? "" : ", or choose a power of minkowski nearer to 2"));
}

/// Converts sums to distances. If float64 does not hold a sum, its points are searched again, multiplied by a power of
/// two, which changes no digit: first by the largest power with finite sums, then by larger ones until all are held.
void find_distances(PointsView points, const Space& space, std::span<const std::uint32_t> ks, std::span<double> found,
                    const CancelToken& cancel) {
  const HeldSums sums(space);
  std::vector<double> again(found.size());
  // Largest differences need no powers: they are 0 for equal points only, else about the distance.
  Space largest_difference = space;
  largest_difference.norm = Norm::chebyshev;
  index::nearest_sums(points, largest_difference, ks, again.data(), cancel);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!sums.hold(found[i]) && again[i] > 0) {
      found[i] = again[i];
      open.push_back(i);
    } else {
      found[i] = space.distance(found[i]);
    }
  }
  if (open.empty()) return;
  const Magnitudes magnitudes(points);
  const int step = static_cast<int>((HeldSums::kMost - HeldSums::kLeast) / sums.power());
  for (int exponent = static_cast<int>(HeldSums::kMost / sums.power()) - 1 - std::ilogb(magnitudes.extent);
       !open.empty(); exponent += step) {
    if (step == 0 || exponent + std::ilogb(magnitudes.largest) >= std::numeric_limits<double>::max_exponent - 1) {
      throw_not_held(open[0] / ks.size(), ks[open[0] % ks.size()], found[open[0]], magnitudes.largest, sums.power());
    }
    Space of_scaled = space;
    for (ClosedAxis& axis : of_scaled.axes) axis.length = std::ldexp(axis.length, exponent);
    index::nearest_sums(scaled(points, magnitudes, exponent), of_scaled, ks, again.data(), cancel);
    std::erase_if(open, [&](std::size_t i) {
      if (!sums.hold(again[i])) return false;
      found[i] = std::ldexp(space.distance(again[i]), -exponent);
      if (found[i] < kInfinity) return true;
      throw InputError("row " + format_count(i / ks.size()) + " is farther from its nearest other point number " +
                       std::to_string(ks[i % ks.size()]) +
                       " than any number of float64: divide all coordinates by one factor");
    });
  }
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

std::vector<double> k_distances(const PointSet& set, std::span<const std::uint32_t> ks, const EngineOptions& engine,
                                const Observer& observer) {
  for (const std::uint32_t k : ks) check_k(k, set.size());
  const LoadedSet loaded(set, engine, {}, observer);
  const Dataset& data = loaded.data();
  Session session(data, {}, observer);
  session.require_one_slice("k_distance()");
  session.stop().check();
  const std::uint64_t size = std::uint64_t{data.size()} * ks.size();
  const MemoryCharge memory(session.budget(), size * sizeof(double) + session.points().nearest_bytes(),
                            "the k-distances");
  std::vector<double> distances(size);
  if (size == 0) return distances;
  session.on_threads([&] {
    const LoadedPoints& points = session.points();
    points.nearest_sums(ks, distances.data(), session.stop());
    const HeldSums sums(points.space());
    std::atomic<bool> zero = false, lost = false;
    parallel_ranges(size, kPiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!sums.hold(distances[i])) (distances[i] == 0 ? zero : lost) = true;
      }
    });
    const bool all_held = !lost && (!zero || sums.hold_zero(points.host()));
    if (!all_held) {
      const std::uint64_t coordinates = std::uint64_t{data.size()} * points.dims();
      const MemoryCharge again(session.budget(), (2 * size + coordinates) * sizeof(double), "the k-distances");
      find_distances(points.host(), points.space(), ks, distances, session.stop());
    }
    parallel_ranges(size, kPiece, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double distance = all_held ? points.space().distance(distances[i]) : distances[i];
        distances[i] = original_distance(session.metric(), distance);
      }
    });
  });
  return distances;
}

std::vector<double> k_distances(const PointSet& points, std::uint32_t k, const EngineOptions& engine,
                                const Observer& observer) {
  return k_distances(points, std::span(&k, 1), engine, observer);
}

Knee knee(std::span<const double> distances) {
  const std::vector<double> ascending = sorted(distances);
  const auto first = std::upper_bound(ascending.begin(), ascending.end(), 0.0);
  const auto last = std::lower_bound(first, ascending.end(), kInfinity);
  Knee found{std::numeric_limits<double>::quiet_NaN(), 0};
  if (last - first < 3) return found;
  const double lowest = std::log(*first);
  const double slope = (std::log(*(last - 1)) - lowest) / static_cast<double>(last - first - 1);
  double farthest = 0;
  for (auto at = first; at != last; ++at) {
    // Of several points with the same distance the last one counts.
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
