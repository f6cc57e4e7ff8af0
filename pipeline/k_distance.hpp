// k-distances: the distances of points to their k-th nearest other points, and estimates of eps from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow {

/// Returns [n] for each point the distance to its k-th nearest other point, by input id, in the unit of eps. A point is
/// core for every eps from its (minpts − 1)-distance on, up to rounding of squares. The distance is exact: the root of
/// the k-th smallest left-hand side of the rule in core/space.hpp. If squares (or other powers) of differences leave
/// the range of float64, points times a power of two are searched instead, which takes three searches or more. points:
/// [host] [n × d], not in slices; weights are ignored. k: from 1 to n − 1; at least 1 if n is 0. Memory beside the
/// result: about 16 bytes per coordinate, at least 36 per point; these and the result count in EngineOptions::memory.
/// An engine on a GPU uses it in up to three dimensions, for k up to 32 and in a plain space, unless coordinates are
/// extreme; otherwise it computes on the CPU. Throws UsageError for another k and for slices; InputError, naming a row,
/// for a distance beyond float64, and for a distance so small beside the largest coordinates that float64 cannot hold
/// powers of both; and as run().
[[nodiscard]] std::vector<double> k_distances(const PointSet& points, std::uint32_t k, const EngineOptions& engine = {},
                                              const Observer& observer = {});
/// Returns k-distances for several k, from one search: [n × ks.size()], row-major.
[[nodiscard]] std::vector<double> k_distances(const PointSet& points, std::span<const std::uint32_t> ks,
                                              const EngineOptions& engine = {}, const Observer& observer = {});

/// The point at which a sorted curve of k-distances turns from flat to steep.
struct Knee {
  double distance = 0;  ///< NaN if no distance is below the chord, such as with fewer than three above 0
  double share = 0;     ///< share of points with a k-distance of at most `distance`: they are core for eps = distance
};

/// Returns the knee of k-distances in any order: of the ascending curve, the point farthest below the chord between the
/// first and the last. It is the simplest form of Kneedle (Satopää et al. 2011). The axes are rank and logarithm of the
/// distance. The logarithm compares distances by their ratio, so that one far outlier does not flatten the rest.
/// Distances of 0, which have no logarithm, and infinite ones are left out. O(n log n).
[[nodiscard]] Knee knee(std::span<const double> distances);

/// Returns for each share q the smallest of the distances such that at least q·n distances are not larger. For
/// (minpts − 1)-distances it is the smallest eps at which at least the share q of the points is core. shares: from 0
/// to 1. distances: [n] in any order, not empty. O(n log n).
[[nodiscard]] std::vector<double> quantiles(std::span<const double> distances, std::span<const double> shares);

/// The eps worth sweeping for a minpts. Below `from` hardly any point is core, except points that are core for every
/// eps; from `to` on almost all are core.
struct EpsRange {
  double from = 0;  ///< both 0 if every distance is 0
  double to = 0;
};
/// Returns the eps at which one in a hundred, and all but one in a hundred, of the points with a distance above 0 are
/// core. The others are core for every eps. distances: the (minpts − 1)-distances, in any order, not empty. O(n log n).
[[nodiscard]] EpsRange eps_range(std::span<const double> distances);

}  // namespace epsflow
