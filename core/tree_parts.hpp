// The data of HDBSCAN*: spanning trees of mutual reachability, nodes of hierarchies, clusters of condensed trees, and
// the clusters that are selected in them.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/device_array.hpp>
#include <epsflow/core/host_device.hpp>

namespace epsflow {

/// Two points that a spanning tree connects, and the height at which it does.
struct Edge {
  double height;    ///< an eps, or a sum by the rule of core/space.hpp
  std::uint32_t a;  ///< id
  std::uint32_t b;  ///< id
};

/// A minimum spanning tree of all points for one minpts. The height of a pair of points is the largest of their
/// distance and the two heights from which they are core.
struct SpanningTree {
  std::uint32_t minpts = 1;
  Buffer<double> core;  ///< [n] height from which each point is core, by id
  Buffer<Edge> edges;   ///< [n − 1] in ascending order of height
};

/// No node, as the parent of a root.
inline constexpr std::uint32_t kNoNode = ~0U;

/// A component of at least two core points. It exists from the eps at which its points or smaller components join up to
/// the eps at which it joins others.
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
  std::uint32_t first_id;  ///< smallest id of its points
  double stability;  ///< sum over its points of 1/eps at which each leaves − 1/birth; infinite if points are equal
};

/// The data of a CondensedTree (trees/condensed_tree.hpp), in its order.
struct CondensedParts {
  std::vector<CondensedCluster> clusters;
  Buffer<std::uint32_t> cluster_of;  ///< [n] the last cluster of each point
  Buffer<double> leaves_at;          ///< [n] the eps at which each point leaves it
};

/// Returns 1/eps, the density of HDBSCAN*: infinite for 0, and 0 for infinity.
EPSFLOW_HOST_DEVICE inline double density_at(double eps) { return eps > 0 ? 1 / eps : HUGE_VAL; }

/// For one cluster of a condensed tree: the selected cluster that is or contains it, and so the label and the
/// probability of each point whose last cluster it is.
struct SelectedCluster {
  std::int32_t number = -1;  ///< −1: none was selected
  double death = 0;          ///< the death of the selected cluster
  double widest = HUGE_VAL;  ///< points that leave their last cluster at a larger eps are noise

  [[nodiscard]] EPSFLOW_HOST_DEVICE std::int32_t label(double leaves_at) const {
    return leaves_at > widest ? -1 : number;
  }
  [[nodiscard]] EPSFLOW_HOST_DEVICE double probability(double leaves_at) const {
    if (label(leaves_at) < 0) return 0;
    return death == HUGE_VAL || leaves_at <= death || leaves_at == 0 ? 1 : density_at(leaves_at) / density_at(death);
  }
};

/// Clusters selected in a condensed tree, and how they label its points.
struct ChosenClusters {
  std::vector<SelectedCluster> of_clusters;  ///< [clusters of the tree]
  std::vector<std::uint32_t> nodes;          ///< as SelectedClusters::nodes
  std::vector<double> persistence;           ///< as SelectedClusters::persistence
};

/// Clusters selected in a condensed tree, numbered by the smallest id of their points.
struct SelectedClusters {
  Buffer<std::int32_t> labels = {};  ///< [n] −1: noise
  /// [n] strength of membership: 0 for noise, else up to 1. In a cluster whose death is 0, points that leave at a
  /// larger eps have 0, too.
  Buffer<double> probabilities = {};
  std::vector<std::uint32_t> nodes = {};  ///< [clusters] the cluster of the condensed tree
  /// [clusters] stability, relative to its size divided by the smallest death of any cluster of the tree: 0 to 1. All
  /// are 1 if this death is 0, because points are equal, or infinite.
  std::vector<double> persistence = {};
  // Labels and probabilities that stay on a GPU; `labels` and `probabilities` are then empty.
  DeviceArray<std::int32_t> device_labels = {};
  DeviceArray<double> device_probabilities = {};
};

/// Selects clusters of a condensed tree, which are given in its order.
using SelectClusters = std::function<ChosenClusters(std::span<const CondensedCluster>)>;

}  // namespace epsflow
