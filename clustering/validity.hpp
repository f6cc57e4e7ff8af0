// Validation of clusters by density: the index DBCV.
//
// Source: Moulavi, Jaskowiak, Campello, Zimek & Sander, "Density-based clustering validation", SDM 2014.
//
// Details not in the paper follow hdbscan.validity of the Python package hdbscan, except for the order of rows. The
// minimum spanning tree of a cluster is rarely unique: a point is equally near, at its core distance, to all points
// that are nearer than that and denser. The choice among these edges decides which points are inner points. hdbscan
// chooses the rows that come first, so that its values differ by some tenths between orders of the same rows. Here
// edges lead to the densest points: of edges of equal length, the tree has the ones to the points of the least core
// distance, and of these to the first by its coordinates. Up to rounding, values equal hdbscan's for rows in this
// order. Lengths count as equal if they differ by less than about 10^-10 of their size; hdbscan allows 10^-5 of their
// size plus 10^-8 in the unit of the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {

struct ValidityOptions {
  /// `samples` disjoint samples of `sample` points each represent a cluster of more than samples · sample points.
  std::size_t sample = 5000;
  std::size_t samples = 4;
};

struct ClusterValidity {
  std::int32_t cluster = 0;
  std::uint64_t points = 0;
  /// From -1 to 1: (separation − sparseness) / the larger of them; after sampling, the mean of this over the samples.
  /// NaN if the cluster has one point, no other has two, or both numbers are 0.
  double score = 0;
  double error = 0;  ///< standard error of the score, from the samples; 0 if nothing was sampled
  /// The longest edge of the cluster's minimum spanning tree between inner points, which have at least two edges; of
  /// all its edges if there is none. After sampling, a mean over the samples, as for `separation`. NaN if the cluster
  /// has one point.
  double sparseness = 0;
  /// The least mutual reachability distance of its inner points to an inner point of another cluster; one of two points
  /// counts as inner. NaN if the cluster has one point, infinite if no other has two.
  double separation = 0;
};

struct Validity {
  /// The mean of the scores of the clusters, weighted by their share of all points, noise included. Clusters of one
  /// point count as noise. 0 if no cluster has two points; NaN if the score of a cluster of two points or more is NaN.
  double score = 0;
  double error = 0;                       ///< standard error of the score, from the samples; 0 if nothing was sampled
  std::vector<ClusterValidity> clusters;  ///< the clusters that have points, by label
};

/// Computes DBCV. labels: [n] clusters from 0 on, or kNoise. Distances are Euclidean, in float64. The core distance of
/// a point uses all other points of its cluster, not only the nearest few; this takes most of the time. The result is a
/// function of the labelled points: it depends neither on their order, to the last bit, nor on their unit, up to
/// rounding.
///
/// If squares of differences might leave the range of float64, long double is used, which takes several times as long.
/// O(Σ size² · d) and a search among inner points, in parallel: all clusters at once, and within large ones. Memory: up
/// to about three copies of the points in float64, and a few numbers for each point; O(samples · n · d) if clusters are
/// sampled.
///
/// A cluster of more than samples · sample points takes O(samples · sample · (size + sample) · d): core distances use
/// the whole cluster, the tree and its inner points a sample. Of equally dense points in a sample, edges lead to the
/// one drawn first. The error is estimated from the differences of the disjoint samples and does not include their
/// common bias: sparseness and separation are a largest and a least value, which are less extreme over fewer points. So
/// scores of samples tend to be too high, by more in more dimensions. With three Gaussian clusters of 20,000 points and
/// samples of 2,000 the score was 0.75 ± 0.02 instead of 0.71 in two dimensions, and 0.42 ± 0.02 instead of 0.29 in
/// eight. Compare such scores only with scores of samples of the same size.
///
/// Throws UsageError if sizes differ, a label is below kNoise, or samples or sample is below 2; InputError if a
/// coordinate is not finite; Cancelled.
[[nodiscard]] Validity validity(PointsView points, std::span<const std::int32_t> labels,
                                const ValidityOptions& options = {}, const CancelToken& cancel = {});

}  // namespace epsflow
