// The counts of each slice in the result of a variant.
#pragma once

#include <epsflow/core/labels.hpp>
#include <epsflow/core/slices.hpp>

namespace epsflow {

/// Fills result.slices, and numbers the clusters of each slice from 0. result: the result of all slices together, with
/// labels and core mask in host memory. Clusters are numbered by their smallest core point and slices follow each
/// other, so the clusters of a slice have consecutive numbers. If the lowest of them is subtracted from the labels of
/// the slice, they are the labels that the slice alone would get. Parallel, O(n).
void resolve_slices(VariantResult& result, const Slices& slices);

/// Fills result.slices from result.clusters, which must be in ascending order of first_core and have their sizes. The
/// points of a slice that are in none of its clusters are noise. O(clusters + slices).
void count_slices(VariantResult& result, const Slices& slices);

}  // namespace epsflow
