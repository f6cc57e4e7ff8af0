// How well clusters are separated, by density: the index DBCV.
//
// Source: Moulavi, Jaskowiak, Campello, Zimek & Sander, "Density-based clustering validation", SDM 2014.
//
// Where the paper leaves something open this is as in hdbscan.validity of the Python package hdbscan, but for the order
// of rows. The minimum spanning tree of a cluster is hardly ever unique: a point is equally near, at its core distance,
// to all points that are nearer than that and denser. Which of these edges are taken decides which points are inner
// ones. hdbscan takes those to the rows that come first, so that its values differ by some tenths between orders of the
// same rows. Here they lead to the densest points: of edges of equal length, in the tree are those to the points of the
// least core distance, and of these to the first by its coordinates. Up to rounding, values are those of hdbscan for
// rows in this order. Lengths are equal if they differ by rounding, which is some 10^-10 of them; for hdbscan it is
// 10^-5, and 10^-8 in the unit of the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

struct ValidityOptions {
  /// A cluster of more than samples · sample points is represented by so many disjoint samples of it, of this size each.
  std::size_t sample = 5000;
  std::size_t samples = 4;
};

struct ClusterValidity {
  std::int32_t cluster = 0;
  std::uint64_t points = 0;
  /// From -1 to 1: (separation − sparseness) / the larger of them. NaN for a cluster of one point, and where no other cluster has two.
  double score = 0;
  double error = 0;       ///< standard error of the score, from the samples; 0 where nothing was sampled
  double sparseness = 0;  ///< the largest edge between inner points of the cluster's minimum spanning tree
  double separation = 0;  ///< the least mutual reachability distance from an inner point to one of another cluster
};

struct Validity {
  /// The mean of the scores of the clusters, weighted by their share of all points, noise included. Clusters of one point count as
  /// noise. 0 without clusters, NaN where just one has two points or more.
  double score = 0;
  double error = 0;                       ///< its standard error, from the samples; 0 where nothing was sampled
  std::vector<ClusterValidity> clusters;  ///< those that have points, by label
};

/// labels: [n] clusters from 0 on, or kNoise. Euclidean distances, in float64. The core distance of a point is of all
/// other points of its cluster, and not of the nearest few: that is what takes the time. The result is a function of
/// the labelled points: it does not depend on their order, to the last bit, nor on their unit, up to rounding.
///
/// Where squares of differences leave the range of float64 the numbers are of long double, in which it takes several
/// times as long. O(Σ size² · d) and a search among inner points, in parallel: all clusters at once, and within large
/// ones. 8·n·d bytes and a few numbers for each point.
///
/// A cluster of more than samples · sample points takes O(samples · sample · (size + sample) · d): core distances are of the whole
/// cluster, the tree and its inner points of a sample. The error is by how much the disjoint samples differ. What they have in common it
/// does not know: sparseness and separation are extremes, a largest and a least value, and over fewer points these are less extreme. So
/// scores of samples tend to be too high, by more in more dimensions. With three Gaussian clusters of 20,000 points and samples of 2,000
/// it was 0.75 ± 0.02 for 0.71 in two dimensions, and 0.42 ± 0.02 for 0.29 in eight. Compare them with scores of samples of the same size.
///
/// Throws UsageError for other sizes, a label below kNoise, samples below 2 or sample below 2; InputError for coordinates that are not
/// finite; Cancelled.
[[nodiscard]] Validity validity(PointsView points, std::span<const std::int32_t> labels,
                                const ValidityOptions& options = {}, const CancelToken& cancel = {});

}  // namespace epsflow
