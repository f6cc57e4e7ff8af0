// How far points are from their k-th nearest other points, and what that says about eps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow {

/// [n] For each point the distance to its k-th nearest other point, by input id, in the unit of eps. A point is core
/// for an eps, as far as rounding of squares goes, from its (minpts − 1)-distance on. Exact: the k-th smallest
/// left-hand side of the rule in core/space.hpp, and its root. Where squares (or other powers) of differences leave the
/// range of float64, those of points times a power of two are taken; this takes three searches or more. points: [host]
/// [n × d]. k: from 1 to n − 1; any where there are no points. Memory beside the result: about 16 bytes per coordinate,
/// and at least 36 per point, which count in EngineOptions::memory as the result does. Works on a GPU in up to three
/// dimensions and for k up to 32, by the plain Euclidean norm; everything else an engine on a GPU computes on its CPU.
/// Throws UsageError for another k; InputError, naming a row, for a distance beyond float64, and for one so small
/// beside the largest coordinates that float64 does not hold powers of both; and as run().
[[nodiscard]] std::vector<double> k_distances(const PointSet& points, std::uint32_t k, const EngineOptions& engine = {},
                                              const Observer& observer = {});
/// The same for several k, from one search: [n × ks.size()], row-major.
[[nodiscard]] std::vector<double> k_distances(const PointSet& points, std::span<const std::uint32_t> ks,
                                              const EngineOptions& engine = {}, const Observer& observer = {});

/// Where a sorted curve of k-distances turns from flat to steep.
struct Knee {
  double distance = 0;  ///< NaN where there is none: fewer than three different distances above 0
  double share = 0;     ///< of the points whose k-distance is at most that: for eps = distance they are core
};

/// The knee of k-distances in any order: sorted ascending, the point farthest below the chord between the first and the last. It is
/// the simplest form of Kneedle (Satopää et al. 2011). The axes are rank and logarithm of the distance. By the logarithm it counts how
/// many times as far noise is as the points of clusters are, and one far outlier does not flatten everything else. Distances of 0, which
/// have no logarithm, and infinite ones are left out. O(n log n).
[[nodiscard]] Knee knee(std::span<const double> distances);

/// The smallest distance that at least the share q of the distances does not exceed, for each q from 0 to 1, which ascend. Of (minpts −
/// 1)-distances it is the eps for which the share q of the points is core. distances: in any order, not empty. O(n log n).
[[nodiscard]] std::vector<double> quantiles(std::span<const double> distances, std::span<const double> shares);

/// The eps worth sweeping for a minpts: below `from` hardly any point is core that is not core for every eps, from `to` on almost all are.
struct EpsRange {
  double from =
      0;  ///< both 0 where every distance is 0: then eps makes no difference up to the distances of other points
  double to = 0;
};
/// From where one point in a hundred is core to where all but one in a hundred are, of the points whose distance is above 0: the others
/// are core for every eps. distances: the (minpts − 1)-distances, in any order, not empty. O(n log n).
[[nodiscard]] EpsRange eps_range(std::span<const double> distances);

}  // namespace epsflow
