// Links between features whose core points are near each other.
#pragma once

#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/feature_rows.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// The links of each slice with the next, by from and then by to. For each pair of slices the core points of both are sorted into one
/// grid; a core point is then tested against those of a feature around it, until one is near. O(core points) and a sort, and the tests:
/// few where clusters go on, all pairs of a neighbourhood where they come near each other and do not touch. Throws UsageError for an eps
/// or a metric that cannot be, InputError for points that the metric does not take, Cancelled.
[[nodiscard]] std::vector<std::vector<FeatureLink>> find_core_links(const SlicedLabels& slices, double eps,
                                                                    const Tracks& found, const FeatureRows& rows,
                                                                    const CancelToken& cancel);

}  // namespace epsflow::tracks
