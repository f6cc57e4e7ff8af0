// Counts the points within several radii of some points, on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/index/leaf_order.hpp>

namespace epsflow::index {

/// Sets counts[i · limits.size() + j] to the number of points, itself included, that are within limits[j] of the point
/// at positions[i]. A limit bounds the left-hand side of the rule in core/space.hpp. counts: [positions ×
/// limits]. limits: finite, ascending. A box with all points within a limit, or all beyond it, is decided as a whole.
/// So the time grows with the number of boxes that the spheres of the radii cut, not with the number of neighbours. In
/// parallel, on the threads of the calling arena. Throws Cancelled.
void count_neighbors(const LeafOrder& leaves, const Space& space, std::span<const std::uint32_t> positions,
                     std::span<const double> limits, std::uint32_t* counts, const CancelToken& cancel);

}  // namespace epsflow::index
