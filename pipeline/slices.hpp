// What a variant of many data sets says of each of them.
#pragma once

#include <epsflow/core/labels.hpp>
#include <epsflow/core/slices.hpp>

namespace epsflow {

/// Fills result.slices, and numbers the clusters of each slice from 0. result: of all slices together, with labels and core mask. As
/// clusters are numbered by their smallest core point, and slices follow each other, those of a slice have consecutive numbers: what is
/// left after taking off the lowest is what the slice alone would have been given. In parallel, O(n).
void settle_slices(VariantResult& result, const Slices& slices);

/// Fills result.slices from result.clusters, whose sizes are known: what is in no cluster is noise. O(clusters + slices).
void count_slices(VariantResult& result, const Slices& slices);

}  // namespace epsflow
