// A catalogue: the properties of the clusters of a variant, one row for each cluster.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <epsflow/catalog/cluster_order.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/slices.hpp>

namespace epsflow {

/// A column of values of the points. [host] [n], in input order. NaN: the point has no value.
struct NamedColumn {
  std::string name;
  std::span<const double> values;
  bool weighted = false;  ///< whether the mean is weighted by CatalogInput::weights, as velocities are by masses
};

/// The labelled points and the columns to summarise. The caller owns all of it.
struct CatalogInput {
  PointsView points;  ///< [host] finite
  const Metric& metric;
  std::span<const std::int32_t> labels;       ///< [n]; with slices, the labels of each slice count from 0
  std::span<const std::uint8_t> core = {};    ///< [n] 1 for core points; empty if unknown
  std::span<const double> weights = {};       ///< [n], none below 0; empty: all points have equal weight
  std::span<const NamedColumn> columns = {};  ///< the columns to summarise
  const Slices* slices = nullptr;             ///< null if the points are one data set
};

/// The statistics of one column in each cluster: entry c of each list is about cluster c of the catalogue. NaN is
/// ignored. If a cluster has no values, its sum is 0 and the rest is NaN. A weighted mean is unweighted if the points
/// with values in the cluster all have the weight 0.
struct ColumnSummary {
  std::string name;
  std::vector<double> mean;
  std::vector<double> sum;
  std::vector<double> min;
  std::vector<double> max;
};

/// Entry c of each list belongs to the c-th cluster that has points, ascending by label. Matrices are [clusters × d],
/// row-major, in the unit of the coordinates. The clusters of a slice follow the clusters of the slice before it.
///
/// Centres, spreads and radii are weighted by CatalogInput::weights, or unweighted in a cluster whose weights are all
/// 0. `center` is the mean. `spread` is the standard deviation along each axis; its divisor is the sum of the weights.
/// `radius` is the root mean square of the distances to the centre, by the metric and in the unit of eps (for the
/// Euclidean norm, the radius of gyration); for cosine it is NaN if the centre is the origin.
///
/// A closed side of a box forms a circle. The mean direction of the points on this circle is their reference. The mean
/// is the reference plus the mean of the points' differences from it, each taken the shorter way round. So a cluster
/// across a face stays in one piece. If a cluster goes all round, it may have no mean direction; then the coordinate of
/// its first point is the coordinate of the centre. `center` lies in the box, whose upper end is excluded. `lower` and
/// `upper` are the ends of the cluster in one piece, so one of them may lie outside the box.
///
/// On a sphere, the centre is the mean direction of the points, or the first point if there is no mean direction. The
/// offset of a point from the centre is the great-circle distance, split into a component to the east and one to the
/// north. `spread` is the root mean square of each component, east in the column of longitudes and north in the column
/// of latitudes. Angles other than `radius` are in degrees, for haversine in radians. Longitudes of centres are from 0°
/// to 360° if no point of the input has a negative longitude and some have one above 180°; otherwise they are from
/// −180° to 180°. The centre of a cluster of one point is that point. `lower` and `upper` are longitudes and latitudes
/// of the cluster in one piece, so longitudes may leave −180° … 180°. A pole may be in the cluster if it is at most as
/// far from the centre as the farthest point, and that distance is above 0. Then `lower` and `upper` span all
/// longitudes, and latitudes up to the pole.
struct Catalog {
  std::size_t dims = 0;
  // These flags are true if the input has slices, core marks and weights, even if there are no clusters.
  bool has_slices = false;
  bool has_core = false;
  bool has_weights = false;
  std::vector<std::uint64_t> slice;   ///< the slice of the cluster; empty without slices
  std::vector<std::int32_t> cluster;  ///< the label of the cluster
  std::vector<std::uint64_t> size;    ///< the number of points
  std::vector<std::uint64_t> core;    ///< the number of core points; empty if unknown
  /// [clusters] the smallest id of the cluster's core points, or all bits set if it has none; empty if core points
  /// are unknown
  std::vector<std::uint64_t> first_core;
  std::vector<double> weight;  ///< the sum of the weights; empty without weights
  std::vector<double> center;
  std::vector<double> spread;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> radius;
  std::vector<ColumnSummary> columns;

  [[nodiscard]] std::size_t count() const noexcept { return cluster.size(); }
};

/// Returns the catalogue of the clusters, the same on every run and with any number of threads. Runs in parallel on the
/// threads of the calling arena. O(n·(d + columns)) time, about 20·n bytes. Throws UsageError if lengths differ or the
/// metric does not fit the points; InputError, which names the point, for a label below −1 and for a weight that is
/// negative or not finite; InputError for a cluster with coordinates whose difference exceeds float64; ResourceError,
/// Cancelled.
[[nodiscard]] Catalog catalog(const CatalogInput& input, const CancelToken& cancel = {});
/// Does the same, but does not sort the points by cluster, and does not check for labels below −1. order: the result of
/// order_by_cluster() for the labels and slices of the input.
[[nodiscard]] Catalog catalog(const CatalogInput& input, const ClusterOrder& order, const CancelToken& cancel = {});

}  // namespace epsflow
