// A catalogue: what a variant says of each of its clusters, a row for each.
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

/// A column that goes with the points. [host] [n], in input order. NaN stands for no value.
struct NamedColumn {
  std::string name;
  std::span<const double> values;
  bool weighted = false;  ///< whether the mean is weighted by CatalogInput::weights, as that of velocities by masses
};

/// What clusters are of. All of it belongs to somebody else.
struct CatalogInput {
  PointsView points;
  const Metric& metric;
  std::span<const std::int32_t> labels;       ///< [n]; in slices, those of each count from 0
  std::span<const std::uint8_t> core = {};    ///< [n] 1 for core points; empty: not known
  std::span<const double> weights = {};       ///< [n], none below 0; empty: every point weighs the same
  std::span<const NamedColumn> columns = {};  ///< to sum up
  const Slices* slices = nullptr;             ///< null where there are none
};

/// Of one column in each cluster. NaN counts for nothing; where a cluster has nothing else the sum is 0 and the others are NaN.
struct ColumnSummary {
  std::string name;
  std::vector<double> mean;
  std::vector<double> sum;
  std::vector<double> min;
  std::vector<double> max;
};

/// Entry c of each list is of cluster c; matrices are [clusters × d], row-major, in the unit of the coordinates. Clusters of several slices
/// follow each other.
///
/// Centres and spreads are weighted by CatalogInput::weights (where all weights of a cluster are 0, as if it had none). `center` is the
/// mean; `spread` the standard deviation along each axis, with the sum of the weights as its divisor; `radius` the root mean square of the distances
/// to the centre, by the metric and in the unit of eps (for the Euclidean norm the radius of inertia).
///
/// On a closed side of a box the mean is taken the shorter way round: as differences from the mean direction of the points on the circle
/// that the side is. So a cluster across a face is in one piece. Where it goes all round, and no direction is left, its first point is the
/// centre; so on a sphere. `center` lies in the box, its upper end left out; `lower` and `upper` are its ends in one piece,
/// of which one may lie outside.
///
/// On a sphere the centre is the mean of the directions. `spread` is that of the great-circle offsets from it, to the east and to the
/// north. Longitudes of centres are from 0° to 360° where all points have such ones and some have more than 180°, else from −180° to 180°; the
/// only point of a cluster is its own centre. `lower` and `upper` are longitudes and latitudes in one piece: the longitudes may leave −180° … 180°; where a pole may be in the cluster
/// (it is no farther from the centre than some point), they are all longitudes, and the pole.
struct Catalog {
  std::size_t dims = 0;
  // What is known, also where there are no clusters.
  bool has_slices = false;
  bool has_core = false;
  bool has_weights = false;
  std::vector<std::uint64_t> slice;       ///< empty without slices
  std::vector<std::int32_t> cluster;      ///< its label
  std::vector<std::uint64_t> size;        ///< points
  std::vector<std::uint64_t> core;        ///< core points; empty where they are not known
  std::vector<std::uint64_t> first_core;  ///< the smallest id of them; empty likewise
  std::vector<double> weight;             ///< sum of the weights; empty without weights
  std::vector<double> center;
  std::vector<double> spread;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> radius;
  std::vector<ColumnSummary> columns;

  [[nodiscard]] std::size_t count() const noexcept { return cluster.size(); }
};

/// The same on every run and with any number of threads. In parallel on the threads of the calling arena, O(n·(d + columns)) time, some
/// 20·n bytes. Throws UsageError where lengths differ; InputError for a label below −1 and for a weight below 0 or not finite, naming the
/// point, and for a cluster with coordinates whose difference is beyond float64; ResourceError, Cancelled.
[[nodiscard]] Catalog catalog(const CatalogInput& input, const CancelToken& cancel = {});
/// The same where the order is known.
[[nodiscard]] Catalog catalog(const CatalogInput& input, const ClusterOrder& order, const CancelToken& cancel = {});

}  // namespace epsflow
