// The nodes of a hierarchy (trees/hierarchy.hpp) and its condensed trees from a spanning tree, on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include <epsflow/core/tree_parts.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// A spanning tree on the device.
struct DeviceTree {
  DeviceBuffer<Edge> edges;   ///< [size − 1] in ascending order of height; their ends are positions
  DeviceBuffer<double> core;  ///< [size] by id: the height from which the point is core
};

/// The nodes of Hierarchy, in its order: by ascending eps, then by their smallest id. [device]
struct DeviceNodes {
  DeviceBuffer<TreeNode> nodes;  ///< [count]
  std::uint32_t count = 0;
  DeviceBuffer<std::uint32_t> parents;  ///< [size] by id: the node that the point joins
};

/// The clusters of a CondensedTree, in its order: by descending birth, then by their smallest id.
struct DeviceCondensed {
  std::vector<CondensedCluster> clusters;
  DeviceBuffer<std::uint32_t> cluster_of;  ///< [size] by id: the last cluster of the point
  DeviceBuffer<double> leaves_at;          ///< [size] by id: the eps at which the point leaves it
};

/// The number and the smallest id of the points below an edge of a dendrogram.
struct PointsBelow {
  std::uint32_t size;
  std::uint32_t first_id;
};

/// The dendrogram of a spanning tree of at least two points, whose heights are eps: each edge joins all points below
/// it.
class DeviceDendrogram {
 public:
  /// order: [size] the id of each position, on the device; tree and order must outlive the object. Waits. O(n) beside
  /// sorts. Throws DeviceError.
  DeviceDendrogram(const DeviceTree& tree, const std::uint32_t* order, Scratch scratch);

  /// Returns the nodes: edges of one height that meet are one. Waits.
  [[nodiscard]] DeviceNodes nodes() const;
  /// Returns the clusters of at least this many points, from 2 to the number of points. Waits.
  [[nodiscard]] DeviceCondensed condense(std::uint64_t min_cluster_size) const;

 private:
  friend struct DendrogramRun;
  struct Joining;
  struct Condensing;

  Scratch scratch_;
  std::uint32_t size_;  ///< number of points
  const Edge* edges_of_tree_;
  const std::uint32_t* order_;
  std::uint32_t edges_;
  DeviceBuffer<std::uint32_t> lowest_, within_;  ///< of the points of all levels
  DeviceBuffer<std::uint32_t> chains_, edge_of_, element_of_;
  DeviceBuffer<PointsBelow> below_;
  DeviceBuffer<std::uint32_t> tops_;
  std::vector<std::uint32_t> firsts_;  ///< the number of the first point of each level
  std::vector<std::uint32_t> starts_;  ///< the first element of each level; the number of elements
};

/// Labels the points of a condensed tree. of_clusters: [clusters of the tree]. labels, probabilities: [size] by id. All
/// are on the device.
void launch_label(const DeviceCondensed& condensed, const SelectedCluster* of_clusters, std::int32_t* labels,
                  double* probabilities, cudaStream_t stream);

/// Converts sums of squares to eps, in place: the heights of the `size` − 1 edges and the `size` core sums. The eps of
/// a sum is the smallest float64 number whose square, rounded once, is at least the sum. It is the smallest eps at
/// which points with this sum are neighbours (core/space.hpp).
void launch_sums_to_eps(Edge* edges, double* core, std::uint32_t size, cudaStream_t stream);

/// Writes `count` edges with ids instead of positions as ends. order: the id of each position.
void launch_name_by_id(const Edge* edges, const std::uint32_t* order, std::uint64_t count, Edge* named,
                       cudaStream_t stream);

}  // namespace epsflow::gpu
