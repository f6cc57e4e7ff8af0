// The nodes of a hierarchy (trees/hierarchy.hpp) from a spanning tree, on a GPU.
#pragma once

#include <cstdint>

#include <epsflow/core/spanning_tree.hpp>
#include <epsflow/gpu/base/memory.hpp>
#include <epsflow/gpu/grid/index_kernels.hpp>

namespace epsflow::gpu {

/// A spanning tree on the device.
struct DeviceTree {
  DeviceBuffer<Edge> edges;   ///< [size − 1] in ascending order of height; their ends are positions
  DeviceBuffer<double> core;  ///< [size] by id
};

/// The nodes of Hierarchy, in its order. [device]
struct DeviceNodes {
  DeviceBuffer<TreeNode> nodes;  ///< room for size − 1
  std::uint32_t count = 0;
  DeviceBuffer<std::uint32_t> parents;  ///< [size] of the points
};

/// Makes nodes; edges of one height that meet are one. order: [size] the id of each position, on the device. Waits.
/// O(n log n). Throws DeviceError.
[[nodiscard]] DeviceNodes join_edges(const DeviceTree& tree, const std::uint32_t* order, Scratch scratch);

/// Replaces the sum of each edge and each of `size` core sums by the smallest eps whose square, rounded once, is as
/// large (core/space.hpp).
void launch_sums_to_eps(Edge* edges, double* core, std::uint32_t size, cudaStream_t stream);

}  // namespace epsflow::gpu
