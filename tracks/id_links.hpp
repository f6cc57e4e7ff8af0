// Links between features that share ids.
#pragma once

#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// Returns [slices − 1] lists: the links of each slice with the next, sorted by from and then by to. Their same_cell is
/// not set. found: of find_features(). O(n) if each slice is sorted by id, else O(n log n). Throws InputError for an id
/// that is twice among the clusters of a slice, Cancelled.
[[nodiscard]] std::vector<std::vector<FeatureLink>> find_id_links(const SlicedLabels& slices, const Tracks& found,
                                                                  const CancelToken& cancel);

}  // namespace epsflow::tracks
