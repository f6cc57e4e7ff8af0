// Core points in a grid, which labels later places.
#pragma once

#include <memory>

#include <epsflow/core/kept_core.hpp>

namespace epsflow::cpu {

/// Returns null if a grid cannot find places: with more dimensions than are indexed, or if an axis is cut at gaps.
/// Works on the threads of the calling arena. Throws Cancelled, ResourceError.
[[nodiscard]] std::unique_ptr<KeptCore> keep_core(const CoreInput& core, const CancelToken& cancel);

}  // namespace epsflow::cpu
