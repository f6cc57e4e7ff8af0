// DBSCAN of points with weights.
#pragma once

#include <span>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// As run(), but a point is core if the weights of the points within eps, its own included, sum to minpts or more: the sample_weight of
/// scikit-learn. weights: [host] [n], finite. Weights may be fractions, 0 or negative. With every weight 1 the result is that of run().
/// Results are in the order of the sweep.
///
/// Each weight is first rounded to a whole multiple of one power of two. This changes it by at most 2^-62 of the largest absolute weight.
/// The multiples are summed exactly, and the sum is rounded to float64 once. So sums do not depend on the order, and ten weights of 0.1
/// are 1.
///
/// Weights are summed, and border points found, on the CPU. Core points are clustered by the engine, in a run for each variant. Throws
/// as run(), and UsageError where there are not n weights, where a weight is not finite, for RunOptions::labels = MemorySpace::device
/// and for RunOptions::verify.
[[nodiscard]] std::vector<VariantResult> run_weighted(const Dataset& data, std::span<const double> weights,
                                                      const Sweep& sweep, const RunOptions& options = {},
                                                      const Observer& observer = {});

}  // namespace epsflow
