// Minimum spanning trees of mutual reachability, the base of HDBSCAN*, and the nodes of a hierarchy.
#pragma once

#include <cstdint>

#include <epsflow/core/buffer.hpp>

namespace epsflow {

/// Two points that a spanning tree connects, and the height at which it does.
struct Edge {
  double height;    ///< an eps, or a sum by the rule of core/space.hpp
  std::uint32_t a;  ///< id
  std::uint32_t b;  ///< id
};

/// A minimum spanning tree of all points for one minpts. The height of a pair of points is the largest of their
/// distance and of the heights from which they are core.
struct SpanningTree {
  std::uint32_t minpts = 1;
  Buffer<double> core;  ///< [n] height from which each point is core, by id
  Buffer<Edge> edges;   ///< [n − 1] in ascending order of height
};

/// No node, as the parent of a root.
inline constexpr std::uint32_t kNoNode = ~0U;

/// A component of core points, from the eps at which components join to it up to the eps at which it joins others.
struct TreeNode {
  double eps;              ///< the smallest eps at which it is connected
  std::uint32_t parent;    ///< node that it joins; kNoNode for a root
  std::uint32_t size;      ///< number of points
  std::uint32_t first_id;  ///< smallest id of a point
};

/// The nodes of a hierarchy, and the node that each point joins first. Both as in Hierarchy (trees/hierarchy.hpp).
struct TreeNodes {
  Buffer<TreeNode> nodes;
  Buffer<std::uint32_t> parents;  ///< [n]
};

}  // namespace epsflow
