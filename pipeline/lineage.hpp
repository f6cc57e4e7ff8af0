// The lineage of a sweep: counts and clusters of all variants, and the nesting of the clusters, without labels.
#pragma once

#include <epsflow/clustering/lineage.hpp>
#include <epsflow/clustering/relative_validity.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// Returns the counts and clusters of every variant, and how the clusters are nested. Makes no labels; run() on the
/// same data set makes the labels of single variants. Sets RunOptions::clusters, labels and core_mask itself.
///
/// RunOptions::keep: Keep::core leaves border points out, which takes less time. Bars, ancestors and ranks are
/// complete, as they do not depend on border points, but summaries lack noise, border points and largest, and clusters
/// lack sizes. Any other value counts as Keep::summary.
///
/// Time: run() without its labels, and O(clusters). Memory: run() without its labels. The caller's result takes 20
/// bytes for each cluster of each variant, and up to a few times 4·n bytes while it is made. Throws as run() does.
[[nodiscard]] Lineage lineage(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                              const Observer& observer = {});

}  // namespace epsflow
