#include <epsflow/trees/condensed_tree.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>

#include <epsflow/core/block_sum.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/parallel.hpp>

namespace epsflow {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kPiece = 1 << 14;

using Clusters = std::span<const CondensedCluster>;

/// Returns the sum of the values, which does not depend on their order. Sorts them.
double sum_of(std::span<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

std::vector<char> most_stable(Clusters clusters, const SelectionOptions& options) {
  std::vector<char> selected(clusters.size(), 0);
  // The values of the children of cluster c are of_children[first[c]] to of_children[end[c] − 1].
  std::vector<std::uint32_t> first(clusters.size() + 1, 0);
  for (const CondensedCluster& cluster : clusters.subspan(1)) ++first[cluster.parent + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> end(first.begin(), first.end() - 1);
  std::vector<double> of_children(clusters.size() - 1);
  for (std::size_t c = clusters.size(); c-- > 0;) {
    const double below = sum_of(std::span(of_children).subspan(first[c], end[c] - first[c]));
    const bool too_large = options.max_size > 0 && clusters[c].size > options.max_size;
    const bool may_be = c > 0 || options.allow_single_cluster;
    double best = below;
    if (may_be && !too_large && !(below > clusters[c].stability)) {
      selected[c] = 1;
      best = clusters[c].stability;
    }
    if (c > 0) of_children[end[clusters[c].parent]++] = best;
  }
  // Of clusters inside each other only the outermost stays.
  std::vector<char> inside(clusters.size(), 0);
  for (std::size_t c = 1; c < clusters.size(); ++c) {
    const std::uint32_t parent = clusters[c].parent;
    inside[c] = static_cast<char>(inside[parent] || selected[parent]);
    if (inside[c]) selected[c] = 0;
  }
  return selected;
}

std::vector<char> without_children(Clusters clusters) {
  std::vector<char> selected(clusters.size(), 1);
  for (const CondensedCluster& cluster : clusters.subspan(1)) selected[cluster.parent] = 0;
  // A tree that never splits has no cluster, as in scikit-learn.
  selected[0] = 0;
  return selected;
}

std::vector<char> merged_below(Clusters clusters, const std::vector<char>& selected, const SelectionOptions& options) {
  std::vector<char> merged(clusters.size(), 0);
  for (std::uint32_t c = 0; c < clusters.size(); ++c) {
    if (!selected[c]) continue;
    std::uint32_t last = c;
    if (clusters[c].birth < options.epsilon) {
      do {
        const std::uint32_t parent = clusters[last].parent;
        if (parent == 0 && !options.allow_single_cluster) break;
        last = parent;
      } while (last > 0 && clusters[last].birth < options.epsilon);
    }
    merged[last] = 1;
  }
  return merged;
}

}  // namespace

void check_min_cluster_size(std::uint64_t min_cluster_size, std::uint64_t n) {
  if (min_cluster_size >= 2 && min_cluster_size <= n) return;
  throw UsageError("min_cluster_size is " + format_count(min_cluster_size) + ", of " + format_count(n, "point") +
                   ": use a number from 2 to the number of points");
}

CondensedTree::CondensedTree(const Hierarchy& hierarchy, std::uint64_t min_cluster_size, const CancelToken& cancel)
    : parts_{{}, Buffer<std::uint32_t>(hierarchy.size()), Buffer<double>(hierarchy.size())} {
  check_min_cluster_size(min_cluster_size, hierarchy.size());
  find_clusters(hierarchy, min_cluster_size, cancel);
}

void CondensedTree::find_clusters(const Hierarchy& hierarchy, std::uint64_t min_cluster_size,
                                  const CancelToken& cancel) {
  const std::span<const TreeNode> nodes = hierarchy.nodes();
  const auto is_large = [&](std::size_t i) { return nodes[i].size >= min_cluster_size; };
  std::vector<std::uint32_t> large_children(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_large(i) && nodes[i].parent != kNoNode) ++large_children[nodes[i].parent];
  }

  // The nodes at which clusters begin, in the order of the clusters.
  struct Begin {
    double birth;
    std::uint32_t first_id, node;
  };
  std::vector<Begin> begins;
  for (auto i = static_cast<std::uint32_t>(nodes.size()); i-- > 0;) {
    if (i % (1 << 18) == 0) cancel.check();
    const std::uint32_t parent = nodes[i].parent;
    if (!is_large(i) || (parent != kNoNode && large_children[parent] < 2)) continue;
    begins.push_back({parent == kNoNode ? kInfinity : nodes[parent].eps, nodes[i].first_id, i});
  }
  // The root stays the first.
  std::sort(begins.begin() + 1, begins.end(), [](const Begin& a, const Begin& b) {
    return a.birth > b.birth || (a.birth == b.birth && a.first_id < b.first_id);
  });
  // The cluster of each large node, and for each node the large node at which its points leave: itself if it is large.
  std::vector<std::uint32_t> cluster(nodes.size(), kNoNode), large_node(nodes.size());
  for (const auto& [birth, first_id, node] : begins) {
    if (parts_.clusters.size() % (1 << 18) == 0) cancel.check();
    cluster[node] = static_cast<std::uint32_t>(parts_.clusters.size());
    parts_.clusters.push_back({kNoNode, birth, kInfinity, nodes[node].size, first_id, 0});
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (i % (1 << 18) == 0) cancel.check();
    const std::uint32_t parent = nodes[i].parent;
    large_node[i] = static_cast<std::uint32_t>(i);
    if (!is_large(i)) {
      large_node[i] = large_node[parent];
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
    if (i % (1 << 18) == 0) cancel.check();
    if (!is_large(i)) continue;
    CondensedCluster& of = parts_.clusters[cluster[i]];
    of.death = std::min(of.death, nodes[i].eps);
    const double since = density_at(of.birth);
    if (since < kInfinity) stabilities[cluster[i]].add((density_at(nodes[i].eps) - since) * leaving[i]);
  }
  for (std::size_t c = 0; c < stabilities.size(); ++c) parts_.clusters[c].stability = stabilities[c].sum();
  const std::span<const std::uint32_t> parents = hierarchy.parents();
  parallel_ranges(hierarchy.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    cancel.check();
    for (std::size_t p = begin; p < end; ++p) {
      const std::uint32_t at = large_node[parents[p]];
      parts_.cluster_of[p] = cluster[at];
      parts_.leaves_at[p] = nodes[at].eps;
    }
  });
}

void check_selection(const SelectionOptions& options) {
  if (options.epsilon >= 0) return;
  throw UsageError("cluster_selection_epsilon is " + format_number(options.epsilon) + ": use a number from 0 on");
}

ChosenClusters choose_clusters(Clusters clusters, const SelectionOptions& options) {
  check_selection(options);
  std::vector<char> selected =
      options.method == ClusterSelection::eom ? most_stable(clusters, options) : without_children(clusters);
  if (options.epsilon > 0 && !selected[0]) selected = merged_below(clusters, selected, options);

  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      members;  // the first id of each selected cluster, and the cluster
  for (std::uint32_t c = 0; c < clusters.size(); ++c) {
    if (selected[c]) members.emplace_back(clusters[c].first_id, c);
  }
  double smallest_death = kInfinity;
  for (const CondensedCluster& cluster : clusters) smallest_death = std::min(smallest_death, cluster.death);
  // Of the root only the densest points are members. It has none if something else is selected.
  const double root_limit = options.epsilon > 0 ? options.epsilon : clusters[0].death;
  if (selected[0] && (members.size() > 1 || smallest_death > root_limit)) members.erase(members.begin());
  std::sort(members.begin(), members.end());

  ChosenClusters chosen;
  chosen.of_clusters.resize(clusters.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint32_t c = members[i].second;
    chosen.nodes.push_back(c);
    chosen.of_clusters[c] = {static_cast<std::int32_t>(i), clusters[c].death, c == 0 ? root_limit : kInfinity};
  }
  for (std::size_t c = 1; c < clusters.size(); ++c) {
    if (!selected[c]) chosen.of_clusters[c] = chosen.of_clusters[clusters[c].parent];
  }
  for (const std::uint32_t c : chosen.nodes) {
    const double most = clusters[c].size * density_at(smallest_death);
    chosen.persistence.push_back(std::isfinite(most) && most > 0 ? clusters[c].stability / most : 1);
  }
  return chosen;
}

SelectedClusters CondensedTree::select(const SelectionOptions& options, const CancelToken& cancel) const {
  ChosenClusters chosen = choose_clusters(parts_.clusters, options);
  const std::size_t n = parts_.cluster_of.size();
  SelectedClusters found{Buffer<std::int32_t>(n), Buffer<double>(n), std::move(chosen.nodes),
                         std::move(chosen.persistence)};
  parallel_ranges(n, kPiece, [&](std::size_t begin, std::size_t end) {
    cancel.check();
    for (std::size_t p = begin; p < end; ++p) {
      const SelectedCluster& cluster = chosen.of_clusters[parts_.cluster_of[p]];
      found.labels[p] = cluster.label(parts_.leaves_at[p]);
      found.probabilities[p] = cluster.probability(parts_.leaves_at[p]);
    }
  });
  return found;
}

Buffer<double> CondensedTree::outlier_scores(const CancelToken& cancel) const {
  std::vector<double> least(parts_.clusters.size());  // the smallest death in a cluster
  for (std::size_t c = parts_.clusters.size(); c-- > 0;) least[c] = parts_.clusters[c].death;
  for (std::size_t c = parts_.clusters.size(); c-- > 1;) {
    double& of_parent = least[parts_.clusters[c].parent];
    of_parent = std::min(of_parent, least[c]);
  }
  Buffer<double> scores(parts_.cluster_of.size());
  parallel_ranges(scores.size(), kPiece, [&](std::size_t begin, std::size_t end) {
    cancel.check();
    for (std::size_t p = begin; p < end; ++p) {
      const double most = density_at(least[parts_.cluster_of[p]]), own = density_at(parts_.leaves_at[p]);
      scores[p] = own >= most ? 0 : most == kInfinity ? 1 : (most - own) / most;
    }
  });
  return scores;
}

}  // namespace epsflow
