// Spanning trees of distances that the caller has computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/tree_parts.hpp>

namespace epsflow {

/// Returns the spanning tree of a matrix of distances: heights are distances. distances: [n × n] row-major, symmetric,
/// n at least 1; at least 0, not NaN; infinity for points that are not connected. A point is core from the minpts-th
/// smallest distance of its row on. minpts: from 1 to n. Prim's algorithm, O(n²). Throws Cancelled.
[[nodiscard]] SpanningTree spanning_tree_of_matrix(std::span<const double> distances, std::size_t n,
                                                   std::uint32_t minpts, const CancelToken& cancel);

/// The distances of some pairs of points, as compressed rows.
struct DistanceGraph {
  std::span<const std::int64_t> offsets;   ///< [n + 1] where each row begins
  std::span<const std::uint32_t> columns;  ///< [distances] the other point
  std::span<const double> distances;       ///< at least 0, not NaN
};

/// Returns the spanning tree of a graph, whose pairs may be listed in both rows or in one. A point is core from the
/// minpts-th smallest distance of its row on, never if the row has fewer. Edges of infinite height connect
/// components that the graph leaves apart. minpts: at least 1. Kruskal's algorithm, O(distances · log distances).
/// Throws Cancelled.
[[nodiscard]] SpanningTree spanning_tree_of_graph(const DistanceGraph& graph, std::uint32_t minpts,
                                                  const CancelToken& cancel);

}  // namespace epsflow
