// Condensed trees, and the clusters that HDBSCAN* selects in them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/choices.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow {

/// The rule that selects clusters.
enum class ClusterSelection : std::uint8_t {
  eom,   ///< excess of mass: the clusters of the largest total stability, none inside another
  leaf,  ///< the clusters that do not split, never the root
};
template <>
struct Choice<ClusterSelection> {
  static constexpr std::string_view kType = "ClusterSelection";
  static constexpr std::array kWords{Word{"eom", ClusterSelection::eom}, Word{"leaf", ClusterSelection::leaf}};
};

struct SelectionOptions {
  ClusterSelection method = ClusterSelection::eom;
  double epsilon = 0;          ///< a selected cluster born below this eps is merged into the next ancestor that is not
  std::uint64_t max_size = 0;  ///< excess of mass selects no cluster with more points; 0: no limit
  bool allow_single_cluster = false;  ///< excess of mass may select the root, and `epsilon` may merge clusters into it
};

/// Throws UsageError if epsilon is negative or NaN.
void check_selection(const SelectionOptions& options);

/// Selects clusters of a condensed tree, all of which are given in its order, and numbers the selected ones by the
/// smallest id of their points. Throws as check_selection(). O(clusters log clusters).
[[nodiscard]] ChosenClusters choose_clusters(std::span<const CondensedCluster> clusters,
                                             const SelectionOptions& options);

/// Throws UsageError unless min_cluster_size is from 2 to n.
void check_min_cluster_size(std::uint64_t min_cluster_size, std::uint64_t n);

/// The clusters of at least min_cluster_size points in a hierarchy. From the root down: if two or more children of a
/// node have at least min_cluster_size points, they are new clusters, and the cluster ends. If one child has, the
/// cluster goes on in it. If none has, the cluster ends. Points of other children leave the cluster at the eps of the
/// node.
///
/// Source: Campello et al. 2015 (hierarchy.hpp); selection, memberships and outlier scores as in scikit-learn 1.9 and
/// in the package hdbscan.
class CondensedTree {
 public:
  /// Throws UsageError unless min_cluster_size is from 2 to hierarchy.size(); Cancelled. O(n log n).
  CondensedTree(const Hierarchy& hierarchy, std::uint64_t min_cluster_size, const CancelToken& cancel = {});
  /// Takes the clusters of a hierarchy that were found elsewhere. O(1).
  explicit CondensedTree(CondensedParts parts) : parts_(std::move(parts)) {}

  /// Returns the clusters in descending order of birth; of one birth, in the order of their first ids. The root is the
  /// first. A parent comes before its children.
  [[nodiscard]] std::span<const CondensedCluster> clusters() const noexcept { return parts_.clusters; }
  /// Returns the last cluster of each point, which has no child that holds it. [n]
  [[nodiscard]] std::span<const std::uint32_t> cluster_of() const noexcept { return parts_.cluster_of.span(); }
  /// Returns the eps at which each point leaves its last cluster. [n]
  [[nodiscard]] std::span<const double> leaves_at() const noexcept { return parts_.leaves_at.span(); }

  /// Selects clusters and returns them with the label and the probability of each point. Throws UsageError if epsilon
  /// is negative or NaN; Cancelled. O(n).
  [[nodiscard]] SelectedClusters select(const SelectionOptions& options = {}, const CancelToken& cancel = {}) const;
  /// Returns the GLOSH outlier score of each point, from 0 (as dense as its cluster becomes) to 1. [n] Throws
  /// Cancelled. O(n).
  [[nodiscard]] Buffer<double> outlier_scores(const CancelToken& cancel = {}) const;

 private:
  void find_clusters(const Hierarchy& hierarchy, std::uint64_t min_cluster_size, const CancelToken& cancel);

  CondensedParts parts_;
};

}  // namespace epsflow
