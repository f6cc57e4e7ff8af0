// Spanning trees of distances that the caller has computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/tree_parts.hpp>

namespace epsflow {

/// Returns the minimum spanning tree of the mutual reachability distances of points, as heights. distances: [n × n]
/// row-major, symmetric, n at least 1; at least 0, not NaN; infinity for points that are not connected. The core
/// distance of a point is the minpts-th smallest distance of its row, its distance to itself included. minpts: from 1
/// to n. Prim's algorithm, O(n²). Throws Cancelled.
[[nodiscard]] SpanningTree spanning_tree_of_matrix(std::span<const double> distances, std::size_t n,
                                                   std::uint32_t minpts, const CancelToken& cancel);

/// The distances of some pairs of points, as compressed rows.
struct DistanceGraph {
  std::span<const std::int64_t> offsets;   ///< [n + 1] first entry of each row; n is at least 1
  std::span<const std::uint32_t> columns;  ///< [distances] the other point
  std::span<const double> distances;       ///< at least 0, not NaN
};

/// Returns the same tree of a graph, whose pairs may be listed in both rows or in one. The core distance of a point is
/// the minpts-th smallest distance of its row, and infinite if the row has fewer; a point counts itself only if its row
/// lists it. Edges of infinite height connect components that the graph leaves apart. minpts: at least 1. Kruskal's
/// algorithm, O(distances · log distances). Throws Cancelled.
[[nodiscard]] SpanningTree spanning_tree_of_graph(const DistanceGraph& graph, std::uint32_t minpts,
                                                  const CancelToken& cancel);

}  // namespace epsflow
