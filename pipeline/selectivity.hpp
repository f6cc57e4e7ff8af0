// Selectivity: the mean number of neighbours of a point at an eps, for several eps at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow {

/// The selectivity of an eps.
struct Selectivity {
  double eps = 0;
  double neighbors = 0;  ///< mean per point, without the point itself
  double error = 0;  ///< the standard error of `neighbors`; 0 if all points were counted, or if all counts are equal
};

/// Default size of the sample of points whose neighbours are counted.
inline constexpr std::size_t kSelectivitySample = 10'000;

/// Returns the selectivity of each eps, in the order given, by the same float64 test as run(). One search of a sample
/// of the points serves all eps. If there are at most `sample` points, the sample is all of them, and the mean is
/// exact, rounded once. Otherwise the points along a curve (index/leaf_order.hpp) are cut into `sample` stretches, and
/// one point of each is taken, at a position that depends on the number and the size of the stretch alone. The error is
/// the standard error of such a sample, from the differences of successive points (Wolter, Introduction to Variance
/// Estimation, 2007, section 8.2: v2).
/// eps: in any order, in the unit of the metric. Weights are ignored. points: [host] [n × d], not in slices. Works on
/// the CPU. O(n·d), a radix sort, and the search of the sample: little in few dimensions, O(sample · n · d) at most.
/// Memory: about 16 bytes per coordinate, at least 36 per point, and 4 per eps and point of the sample, which count in
/// EngineOptions::memory. Throws UsageError for an eps that is invalid in a sweep and for a sample of less than 2, and
/// as run().
[[nodiscard]] std::vector<Selectivity> selectivity(const PointSet& points, std::span<const double> eps,
                                                   std::size_t sample = kSelectivitySample,
                                                   const EngineOptions& engine = {}, const Observer& observer = {});

}  // namespace epsflow
