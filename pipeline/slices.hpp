// The counts of each slice in the result of a variant.
#pragma once

#include <epsflow/core/labels.hpp>
#include <epsflow/core/slices.hpp>

namespace epsflow {

/// Fills result.slices, and numbers the clusters of each slice from 0. result: of all slices together, with labels and
/// core mask. Clusters are numbered by their smallest core point and slices follow each other, so the clusters of a
/// slice have consecutive numbers. Minus the lowest, these are the numbers of the slice alone. Parallel, O(n).
void settle_slices(VariantResult& result, const Slices& slices);

/// Fills result.slices from result.clusters, whose sizes are known: other points are noise. O(clusters + slices).
void count_slices(VariantResult& result, const Slices& slices);

}  // namespace epsflow
