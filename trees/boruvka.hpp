// Minimum spanning trees by Borůvka's algorithm, on the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>
#include <epsflow/core/tree_parts.hpp>
#include <epsflow/core/weights.hpp>

namespace epsflow::trees {

/// Makes a minimum spanning tree for each minpts, in the given order, and passes it to take(). Heights are sums, by the
/// rule of core/space.hpp. points: [n × d], finite, n at least 1. minpts: each from 1 to n. weights: [n], none
/// below 0; then a point is core if the weights within eps sum to minpts, and the sum of all reaches each minpts. Null:
/// each point counts 1. Memory: spanning_trees_bytes(), and index::weighted_bytes() with weights. In parallel, on the
/// threads of the calling arena. Throws Cancelled, ResourceError, and InputError if squares (or other powers) of
/// distances overflow float64.
void spanning_trees(PointsView points, const Space& space, std::span<const std::uint32_t> minpts,
                    const CancelToken& cancel, const std::function<void(SpanningTree&&)>& take,
                    const WholeWeights* weights = nullptr);

/// Returns the peak memory of spanning_trees(), in bytes, without the points and the trees. It includes
/// hierarchy_bytes(), because take() may make a Hierarchy from a tree.
[[nodiscard]] std::uint64_t spanning_trees_bytes(std::uint64_t n, std::size_t dims,
                                                 std::span<const std::uint32_t> minpts,
                                                 const WholeWeights* weights = nullptr) noexcept;

/// Returns the peak memory of making a Hierarchy from a spanning tree, in bytes, without the tree and the Hierarchy.
[[nodiscard]] std::uint64_t hierarchy_bytes(std::uint64_t n) noexcept;

}  // namespace epsflow::trees
