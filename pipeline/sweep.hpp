// DBSCAN of one data set under a whole sweep of (eps, minpts) by one engine, with results in the order of the sweep.
#pragma once

#include <functional>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>
#include <epsflow/pipeline/point_set.hpp>

namespace epsflow {

/// Receives the result of a variant.
using OnResult = std::function<void(VariantResult&&)>;

/// Clusters `points` under every variant of `sweep`.
///
/// points: finite; eps is in the unit of their metric. Returns one result per variant, in the sweep's order. The labels
/// of each are equal to the labels of sklearn.cluster.DBSCAN(eps, min_samples=minpts, algorithm="kd_tree"), element for
/// element, unless a computed distance equals eps to the last bits, in which case scikit-learn's own algorithms differ
/// from each other. The rule here: q is a neighbour of p when Σ_k (p_k − q_k)² <= eps·eps, in float64, each operation
/// rounded once, summed over k in order.
///
/// Time: O(n log n + candidates) per eps. A candidate is a point that may be a neighbour, and whose distance is tested.
/// All minpts of an eps share one index, and either one table of neighbours or one count of them.
/// Memory: EngineOptions::memory bounds all memory of a run except the returned labels. If a table does not fit, run()
/// clusters without it, or throws ResourceError if the options require a table. The returned labels take 4·n bytes per
/// variant on top: use run_each() (parts/sweep.hpp) to consume results one by one.
///
/// Throws InputError for a coordinate that is NaN or infinite, or that the metric does not allow; UsageError for
/// options that contradict each other, if the metric does not fit the points (check_metric()), and for an eps so small
/// or so large that its square leaves the range of float64 (transformed_radius()), or for which a periodic box is too
/// large (core/box_fit.hpp); ResourceError if the memory budget or the machine's memory is too small; Cancelled.
/// Thread-safe. Source: Gowanlock et al. 2017, "Clustering Throughput Optimization on the GPU".
[[nodiscard]] std::vector<VariantResult> run(const PointSet& points, const Sweep& sweep,
                                             const EngineOptions& engine = {}, const RunOptions& options = {},
                                             const Observer& observer = {});
/// Clusters a data set that an engine has loaded. Runs of one engine go one after another.
[[nodiscard]] std::vector<VariantResult> run(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                                             const Observer& observer = {});

}  // namespace epsflow
