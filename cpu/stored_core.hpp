// Core points in a grid, by which the clusters of other points are found.
#pragma once

#include <memory>

#include <epsflow/core/stored_core.hpp>

namespace epsflow::cpu {

/// Sorts the core points into a grid. Returns null if the grid cannot search for other points: if there are more
/// than six dimensions (index::kMostIndexedDims), or if an axis is so long that the grid leaves out wide gaps. Copies
/// the data that it needs. Works on the threads of the calling arena. Throws Cancelled, ResourceError.
[[nodiscard]] std::unique_ptr<StoredCore> store_core(const CoreInput& core, const CancelToken& cancel);

}  // namespace epsflow::cpu
