// Links between features whose core points are near each other.
#pragma once

#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/feature_rows.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// Returns [slices − 1] lists: the links of each slice with the next, sorted by from and then by to. See FeatureLink
/// for the counts of a link; same_cell is not set. eps: the largest distance of linked core points, in the unit of the
/// metric's eps. found, rows: the results of find_features().
///
/// For each pair of slices, the core points of both are sorted into one grid. Each core point is then tested against
/// the core points around it of each feature of the other slice, until one of that feature is near. Costs O(core
/// points), a sort, and the tests: few if clusters continue, all pairs of a neighbourhood if clusters come close and do
/// not touch. Throws UsageError if eps or the metric is invalid; InputError if a point is not finite or outside the
/// periodic box, or if the metric does not accept a core point; Cancelled.
[[nodiscard]] std::vector<std::vector<FeatureLink>> find_core_links(const SlicedLabels& slices, double eps,
                                                                    const Tracks& found, const FeatureRows& rows,
                                                                    const CancelToken& cancel);

}  // namespace epsflow::tracks
