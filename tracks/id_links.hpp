// Links between features that share ids.
#pragma once

#include <vector>

#include <epsflow/core/cancel.hpp>
#include <epsflow/tracks/tracks.hpp>

namespace epsflow::tracks {

/// Returns the links of each slice with the next, sorted by from and then by to. Throws InputError for an id that is
/// twice among the clusters of a slice, Cancelled.
[[nodiscard]] std::vector<std::vector<FeatureLink>> find_id_links(const SlicedLabels& slices, const Tracks& found,
                                                                  const CancelToken& cancel);

}  // namespace epsflow::tracks
