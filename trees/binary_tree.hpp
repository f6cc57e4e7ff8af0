// Hierarchies as binary trees, in the form and with the numbers of scikit-learn and of the package hdbscan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <epsflow/trees/condensed_tree.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow {

/// A row of a condensed tree in the form of the package hdbscan: points are numbered from 0, clusters from n.
struct CondensedRow {
  std::uint64_t parent;  ///< cluster
  std::uint64_t child;   ///< cluster or point that leaves it
  double density;        ///< 1/eps at which it leaves; infinite for eps 0
  std::uint64_t size;    ///< number of points of the child
};

/// A hierarchy with two children at each node, in the order of scikit-learn: Prim's algorithm, begun at point 0,
/// reaches cluster `a` of a row before cluster `b`.
///
/// A node of k children becomes k − 1 rows of one eps, in which the largest join first; of equal sizes, those with
/// smaller first ids. So a condensed tree of the rows has the clusters of the hierarchy, for any min_cluster_size. If
/// no two merges are at one distance, scikit-learn has the same rows.
class BinaryTree {
 public:
  /// Throws Cancelled. O(n log n).
  explicit BinaryTree(const Hierarchy& hierarchy, const CancelToken& cancel = {});

  /// Returns the merges in ascending order of eps. Here `a` may be larger than `b`. [n − 1]
  [[nodiscard]] std::span<const LinkageRow> rows() const noexcept { return rows_; }

  /// Returns the condensed tree that the package hdbscan makes of rows(), in its order. A split of k parts is k − 1
  /// splits at one eps. Throws UsageError unless min_cluster_size is from 2 to n; Cancelled. O(n).
  [[nodiscard]] std::vector<CondensedRow> condense(std::uint64_t min_cluster_size,
                                                   const CancelToken& cancel = {}) const;

  /// Returns the indices in tree.clusters() of all clusters of `tree`, which must be of the same hierarchy and
  /// min_cluster_size. They are in the order in which scikit-learn numbers them: root first, level by level of rows().
  /// Throws Cancelled. O(n + clusters · log clusters).
  [[nodiscard]] std::vector<std::uint32_t> breadth_first(const CondensedTree& tree, std::uint64_t min_cluster_size,
                                                         const CancelToken& cancel = {}) const;

 private:
  [[nodiscard]] std::uint64_t points() const noexcept { return rows_.size() + 1; }
  [[nodiscard]] std::uint64_t size_of(std::uint64_t number) const noexcept {
    return number < points() ? 1 : rows_[number - points()].size;
  }

  std::vector<LinkageRow> rows_;
};

}  // namespace epsflow
