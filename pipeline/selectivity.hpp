// How many neighbours points have on average at an eps, for several eps at once.
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
  double neighbors = 0;  ///< per point, the point itself not counted
  double error = 0;  ///< the standard error of `neighbors`; 0 where all points were counted, or all counts are equal
};

/// Points whose neighbours are counted, unless one asks for another number: fewer points are all counted.
inline constexpr std::size_t kSelectivitySample = 10'000;

/// The selectivity of each eps, in the order in which they are given; by the same float64 test as run(). All come from one search of a
/// sample of the points. Where there are no more than `sample` points it is all of them, and the mean is exact, rounded once. Else the
/// points along a curve (index/leaf_order.hpp) are cut into `sample` stretches, and of each one point is taken, at a place that the
/// number of the stretch alone determines. The error is that of such a sample, from the differences of successive points (Wolter,
/// Introduction to Variance Estimation, 2007, section 8.2: v2).
/// eps: in any order, in the unit of the metric. Weights have no part in it. points: [host] [n × d]. Works on the CPU. O(n·d), a radix
/// sort, and what the sample takes: little in few dimensions, O(sample · n · d) at most. Memory: about 16 bytes per coordinate, at
/// least 36 per point, and 4 per eps and point of the sample, which count in EngineOptions::memory. Throws UsageError for an eps that a
/// sweep may not have and for a sample of less than 2, and as run().
[[nodiscard]] std::vector<Selectivity> selectivity(const PointSet& points, std::span<const double> eps,
                                                   std::size_t sample = kSelectivitySample,
                                                   const EngineOptions& engine = {}, const Observer& observer = {});

}  // namespace epsflow
