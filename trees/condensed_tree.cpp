#include <epsflow/trees/condensed_tree.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <epsflow/core/block_sum.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kPiece = 1 << 14;

/// Returns 1/eps, the density of HDBSCAN*: infinite for 0, and 0 for infinity.
double density(double eps) { return eps > 0 ? 1 / eps : kInfinity; }

/// Returns the sum of the values, which does not depend on their order.
double sum_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

void check_min_cluster_size(std::uint64_t min_cluster_size, std::uint64_t n) {
  if (min_cluster_size >= 2 && min_cluster_size <= n) return;
  throw UsageError("min_cluster_size is " + format_count(min_cluster_size) + ", of " + format_count(n, "point") +
                   ": use a number from 2 to the number of points");
}

CondensedTree::CondensedTree(const Hierarchy& hierarchy, std::uint64_t min_cluster_size)
    : parts_{{}, Buffer<std::uint32_t>(hierarchy.size()), Buffer<double>(hierarchy.size())} {
  check_min_cluster_size(min_cluster_size, hierarchy.size());
  find_clusters(hierarchy, min_cluster_size);
}

void CondensedTree::find_clusters(const Hierarchy& hierarchy, std::uint64_t min_cluster_size) {
  const std::span<const TreeNode> nodes = hierarchy.nodes();
  const auto is_large = [&](std::size_t i) { return nodes[i].size >= min_cluster_size; };
  std::vector<std::uint32_t> large_children(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_large(i) && nodes[i].parent != kNoNode) ++large_children[nodes[i].parent];
  }

  // The nodes at which clusters begin, in the order of the clusters.
  std::vector<std::uint32_t> begins;
  for (auto i = static_cast<std::uint32_t>(nodes.size()); i-- > 0;) {
    if (is_large(i) && (nodes[i].parent == kNoNode || large_children[nodes[i].parent] > 1)) begins.push_back(i);
  }
  const auto birth_of = [&](std::uint32_t i) {
    return nodes[i].parent == kNoNode ? kInfinity : nodes[nodes[i].parent].eps;
  };
  // The root stays the first.
  std::sort(begins.begin() + 1, begins.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double at = birth_of(a), bt = birth_of(b);
    return at > bt || (at == bt && nodes[a].first_id < nodes[b].first_id);
  });
  // The cluster of a large node. For other nodes, place is the large node at which their points leave.
  std::vector<std::uint32_t> cluster(nodes.size(), kNoNode), place(nodes.size());
  for (const std::uint32_t i : begins) {
    cluster[i] = static_cast<std::uint32_t>(parts_.clusters.size());
    parts_.clusters.push_back({kNoNode, birth_of(i), kInfinity, nodes[i].size, nodes[i].first_id, 0});
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const std::uint32_t parent = nodes[i].parent;
    place[i] = static_cast<std::uint32_t>(i);
    if (!is_large(i)) {
      place[i] = place[parent];
    } else if (cluster[i] == kNoNode) {
      cluster[i] = cluster[parent];
    } else if (parent != kNoNode) {
      parts_.clusters[cluster[i]].parent = cluster[parent];
    }
  }
  std::vector<std::uint32_t> leaving(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!is_large(i)) continue;
    leaving[i] += nodes[i].size;
    if (nodes[i].parent != kNoNode && large_children[nodes[i].parent] == 1) leaving[nodes[i].parent] -= nodes[i].size;
  }
  // Nodes of a cluster come from small eps to large.
  std::vector<BlockSum> stabilities(parts_.clusters.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!is_large(i)) continue;
    CondensedCluster& of = parts_.clusters[cluster[i]];
    of.death = std::min(of.death, nodes[i].eps);
    const double since = density(of.birth);
    if (since < kInfinity) stabilities[cluster[i]].add((density(nodes[i].eps) - since) * leaving[i]);
  }
  for (std::size_t c = 0; c < stabilities.size(); ++c) parts_.clusters[c].stability = stabilities[c].sum();
  const std::span<const std::uint32_t> parents = hierarchy.parents();
  parallel_ranges(hierarchy.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::uint32_t at = place[parents[p]];
      parts_.cluster_of[p] = cluster[at];
      parts_.leaves_at[p] = nodes[at].eps;
    }
  });
}

std::vector<char> CondensedTree::most_stable(const SelectionOptions& options) const {
  std::vector<char> selected(parts_.clusters.size(), 0);
  std::vector<std::vector<double>> of_children(parts_.clusters.size());
  for (std::size_t c = parts_.clusters.size(); c-- > 0;) {
    const double below = sum_of(of_children[c]);
    const bool too_large = options.max_size > 0 && parts_.clusters[c].size > options.max_size;
    const bool may_be = c > 0 || options.allow_single_cluster;
    double best = below;
    if (may_be && !too_large && !(below > parts_.clusters[c].stability)) {
      selected[c] = 1;
      best = parts_.clusters[c].stability;
    }
    if (c > 0) of_children[parts_.clusters[c].parent].push_back(best);
  }
  // Of clusters inside each other only the outermost stays.
  std::vector<char> inside(parts_.clusters.size(), 0);
  for (std::size_t c = 1; c < parts_.clusters.size(); ++c) {
    const std::uint32_t parent = parts_.clusters[c].parent;
    inside[c] = static_cast<char>(inside[parent] || selected[parent]);
    if (inside[c]) selected[c] = 0;
  }
  return selected;
}

std::vector<char> CondensedTree::without_children() const {
  std::vector<char> selected(parts_.clusters.size(), 1);
  for (std::size_t c = 1; c < parts_.clusters.size(); ++c) selected[parts_.clusters[c].parent] = 0;
  // A tree that never splits has no cluster, as in scikit-learn.
  selected[0] = 0;
  return selected;
}

std::vector<char> CondensedTree::merged_below(const std::vector<char>& selected,
                                              const SelectionOptions& options) const {
  std::vector<char> merged(parts_.clusters.size(), 0);
  for (std::uint32_t c = 0; c < parts_.clusters.size(); ++c) {
    if (!selected[c]) continue;
    std::uint32_t last = c;
    if (parts_.clusters[c].birth < options.epsilon) {
      do {
        const std::uint32_t parent = parts_.clusters[last].parent;
        if (parent == 0 && !options.allow_single_cluster) break;
        last = parent;
      } while (last > 0 && parts_.clusters[last].birth < options.epsilon);
    }
    merged[last] = 1;
  }
  return merged;
}

SelectedClusters CondensedTree::select(const SelectionOptions& options) const {
  if (!(options.epsilon >= 0)) {
    throw UsageError("cluster_selection_epsilon is " + format_number(options.epsilon) + ": use a number from 0 on");
  }
  std::vector<char> selected = options.method == ClusterSelection::eom ? most_stable(options) : without_children();
  if (options.epsilon > 0 && !selected[0]) selected = merged_below(selected, options);

  std::vector<std::uint32_t> within(parts_.clusters.size(), kNoNode);  // the innermost selected cluster that holds each
  std::size_t count = 0;
  for (std::uint32_t c = 0; c < parts_.clusters.size(); ++c) {
    within[c] = selected[c] ? c : c > 0 ? within[parts_.clusters[c].parent] : kNoNode;
    count += static_cast<std::size_t>(selected[c]);
  }
  const double root_limit = options.epsilon > 0 ? options.epsilon : parts_.clusters[0].death;
  const std::size_t n = parts_.cluster_of.size();
  // Of the root only the densest points are members, if nothing else is selected.
  const auto cluster_with = [&](std::size_t p) {
    const std::uint32_t c = within[parts_.cluster_of[p]];
    return c == 0 && (count > 1 || parts_.leaves_at[p] > root_limit) ? kNoNode : c;
  };
  std::vector<std::uint32_t> first(parts_.clusters.size(), kNoNode);  // the smallest id of a member
  parallel_ranges(n, kPiece, [&](std::size_t begin, std::size_t end) {
    for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
      const std::uint32_t c = cluster_with(p);
      if (c == kNoNode) continue;
      const std::atomic_ref<std::uint32_t> of_cluster(first[c]);
      std::uint32_t before = of_cluster.load(std::memory_order_relaxed);
      while (p < before && !of_cluster.compare_exchange_weak(before, p, std::memory_order_relaxed)) {
      }
    }
  });
  SelectedClusters found{Buffer<std::int32_t>(n), Buffer<double>(n), {}, {}};
  for (std::uint32_t c = 0; c < first.size(); ++c) {
    if (first[c] != kNoNode) found.nodes.push_back(c);
  }
  std::sort(found.nodes.begin(), found.nodes.end(),
            [&](std::uint32_t a, std::uint32_t b) { return first[a] < first[b]; });
  std::vector<std::int32_t> number(parts_.clusters.size(), -1);
  for (std::size_t i = 0; i < found.nodes.size(); ++i) number[found.nodes[i]] = static_cast<std::int32_t>(i);
  parallel_ranges(n, kPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::uint32_t c = cluster_with(p);
      found.labels[p] = c == kNoNode ? -1 : number[c];
      found.probabilities[p] = 0;
      if (c == kNoNode) continue;
      const double death = parts_.clusters[c].death, leaves = parts_.leaves_at[p];
      found.probabilities[p] =
          death == kInfinity || leaves <= death || leaves == 0 ? 1 : density(leaves) / density(death);
    }
  });
  double densest = 0;
  for (const CondensedCluster& cluster : parts_.clusters) densest = std::max(densest, density(cluster.death));
  for (const std::uint32_t c : found.nodes) {
    const double most = parts_.clusters[c].size * densest;
    found.persistence.push_back(std::isfinite(most) && most > 0 ? parts_.clusters[c].stability / most : 1);
  }
  return found;
}

Buffer<double> CondensedTree::outlier_scores() const {
  std::vector<double> least(parts_.clusters.size());  // the smallest death in a cluster
  for (std::size_t c = parts_.clusters.size(); c-- > 0;) least[c] = parts_.clusters[c].death;
  for (std::size_t c = parts_.clusters.size(); c-- > 1;) {
    double& of_parent = least[parts_.clusters[c].parent];
    of_parent = std::min(of_parent, least[c]);
  }
  Buffer<double> scores(parts_.cluster_of.size());
  parallel_ranges(scores.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const double most = density(least[parts_.cluster_of[p]]), own = density(parts_.leaves_at[p]);
      scores[p] = own >= most ? 0 : most == kInfinity ? 1 : (most - own) / most;
    }
  });
  return scores;
}

}  // namespace epsflow
