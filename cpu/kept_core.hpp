// Core points in a grid, for places that are searched in it.
#pragma once

#include <memory>

#include <epsflow/core/kept_core.hpp>

namespace epsflow::cpu {

/// Null where no grid finds places: beyond the dimensions that are indexed, and where an axis is cut at gaps. Works on the threads
/// of the calling arena. Throws Cancelled, ResourceError.
[[nodiscard]] std::unique_ptr<KeptCore> keep_core(const CoreInput& core, const CancelToken& cancel);

}  // namespace epsflow::cpu
