// How many points lie within several radii of some points, on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/index/leaf_order.hpp>

namespace epsflow::index {

/// counts[i · limits.size() + j]: the points whose sum (the left-hand side of the rule in core/space.hpp) with the point at positions[i]
/// is at most limits[j], that point itself included. counts: [positions × limits]. limits: finite, ascending.
/// A box whose points are all within a limit, or all beyond it, is decided as a whole. So the time goes with the boxes that the spheres of
/// the radii cut, and not with the neighbours. In parallel, on the threads of the calling arena. Throws Cancelled.
void count_neighbors(const LeafOrder& leaves, const Space& space, std::span<const std::uint32_t> positions,
                     std::span<const double> limits, std::uint32_t* counts, const CancelToken& cancel);

}  // namespace epsflow::index
