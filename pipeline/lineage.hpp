// The map of a sweep and how its clusters lie in each other, without labels.
#pragma once

#include <epsflow/clustering/lineage.hpp>
#include <epsflow/clustering/relative_validity.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/options.hpp>

namespace epsflow {

/// The counts and clusters of every variant, and how they lie in each other. Labels are not made; those of single variants are had by
/// run() on the same data set. RunOptions::clusters, labels and core_mask are set by it.
///
/// RunOptions::keep: Keep::core leaves border points out, which takes less time: lives, holders and ranks are all there, as border points
/// have no part in them, but summaries have no noise, border points and largest, and clusters no sizes. Any other is Keep::summary.
///
/// Time: that of run() without its labels, and O(clusters). Memory: that of run() without its labels; and of the caller, who gets it,
/// 20 bytes for each cluster of each variant, and up to a few times 4·n bytes meanwhile. Throws as run() does.
[[nodiscard]] Lineage lineage(const Dataset& data, const Sweep& sweep, const RunOptions& options = {},
                              const Observer& observer = {});

}  // namespace epsflow
