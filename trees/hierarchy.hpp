// The tree of all clusters of one minpts: HDBSCAN*.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/core/tree_parts.hpp>

namespace epsflow {

/// A merge of two clusters, as in the linkage matrices of SciPy: numbers below n are points, number n + i is row i.
struct LinkageRow {
  std::uint64_t a;     ///< smaller number
  std::uint64_t b;     ///< larger number
  double eps;          ///< the eps at which they merge
  std::uint32_t size;  ///< number of points of both
};

/// How components of core points of one minpts grow with eps. Components that join at one eps are children of one node,
/// however many they are. So the nodes are a function of the points alone: not of the order of rows (which only
/// determines ids), of threads or devices. An eps here is the smallest number of float64 at which the distance test of
/// core/space.hpp passes. At any eps the components are exactly the core points of the clusters of DBSCAN.
///
/// Source: Campello, Moulavi, Zimek & Sander, ACM TKDD 10(1), 2015. Nodes of more than two children are an addition.
class Hierarchy {
 public:
  Hierarchy() = default;
  /// tree: with eps instead of sums, in core and edges. O(n log n). Throws Cancelled.
  explicit Hierarchy(SpanningTree tree, const CancelToken& cancel = {});
  /// Takes nodes that were made from the tree. O(1).
  Hierarchy(SpanningTree tree, TreeNodes nodes) : tree_(std::move(tree)), nodes_(std::move(nodes)) {}

  [[nodiscard]] std::size_t size() const noexcept { return tree_.core.size(); }
  [[nodiscard]] std::uint32_t minpts() const noexcept { return tree_.minpts; }
  /// Returns the smallest eps at which each point is core, by id. [n]
  [[nodiscard]] std::span<const double> core_distances() const noexcept { return tree_.core.span(); }
  /// Returns a minimum spanning tree of mutual reachability, lowest first; heights are eps. Which of several minimum
  /// ones it is may change from run to run. [n − 1]
  [[nodiscard]] std::span<const Edge> spanning_tree() const noexcept { return tree_.edges.span(); }
  /// Returns the nodes in ascending order of eps; of one eps, in the order of their first ids. A parent comes after its
  /// children. [at most n − 1]
  [[nodiscard]] std::span<const TreeNode> nodes() const noexcept { return nodes_.nodes.span(); }
  /// Returns the node that each point joins first, by id; kNoNode if there is only one point. [n]
  [[nodiscard]] std::span<const std::uint32_t> parents() const noexcept { return nodes_.parents.span(); }

  /// Returns the component of each point at an eps: the label that DBSCAN gives to core points, −1 for others.
  /// Components of fewer than `least` points are −1, too, and the others are numbered without them. Throws UsageError
  /// if eps is negative or NaN, ResourceError if there are more than 2^31 − 1 components, and Cancelled. O(n).
  [[nodiscard]] Buffer<std::int32_t> cut(double eps, std::uint32_t least = 1, const CancelToken& cancel = {}) const;

  /// Returns the n − 1 merges of single points and clusters. A node of k children is a run of k − 1 rows of the same
  /// eps. Throws Cancelled. O(n).
  [[nodiscard]] std::vector<LinkageRow> linkage(const CancelToken& cancel = {}) const;

 private:
  SpanningTree tree_;
  TreeNodes nodes_;
};

}  // namespace epsflow
