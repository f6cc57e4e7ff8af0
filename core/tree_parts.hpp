// The data of HDBSCAN*: spanning trees of mutual reachability, nodes of hierarchies, clusters of condensed trees.
#pragma once

#include <cstdint>
#include <vector>

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

/// A cluster of a condensed tree, followed from a large eps down.
struct CondensedCluster {
  std::uint32_t parent;    ///< the cluster that it was part of; kNoNode for the root
  double birth;            ///< eps at which it separates from others; infinity for the root
  double death;            ///< eps at which it splits, or ends
  std::uint32_t size;      ///< number of points at its birth
  std::uint32_t first_id;  ///< smallest id of these
  double stability;  ///< sum over its points of 1/eps at which each leaves − 1/birth; infinite if points are equal
};

/// The data of a CondensedTree (trees/condensed_tree.hpp), in its order.
struct CondensedParts {
  std::vector<CondensedCluster> clusters;
  Buffer<std::uint32_t> cluster_of;  ///< [n] the last cluster of each point
  Buffer<double> leaves_at;          ///< [n] the eps at which each point leaves it
};

}  // namespace epsflow
