// DBSCAN of points with weights.
#pragma once

#include <span>
#include <vector>

#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// As run(), but a point is core where the weights of the points within eps, its own included, sum to minpts or more: the
/// sample_weight of scikit-learn. weights: [host] [n], finite; fractions, 0 and less than 0 are weights too, and 1 for each is
/// run(). Results in the order of the sweep.
///
/// Sums do not depend on the order: they are of weights to 2^-62 of the largest, exact, and rounded to float64 once at the end, so that
/// ten weights of 0.1 are 1.
///
/// Weights are summed, and borders found, on the CPU; core points are clustered by the engine, a run for each variant. Throws as run(), UsageError for weights that are not n or not finite, where labels are to stay on a
/// device, and for RunOptions::verify.
[[nodiscard]] std::vector<VariantResult> run_weighted(const Dataset& data, std::span<const double> weights,
                                                      const Sweep& sweep, const RunOptions& options = {},
                                                      const Observer& observer = {});

}  // namespace epsflow
