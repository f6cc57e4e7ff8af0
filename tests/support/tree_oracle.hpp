// Trees of components by their definition: all pairs, and sets of ids. It shares no code with the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "support/space_oracle.hpp"

#include <epsflow/core/points.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::test {

using Ids = std::vector<std::uint32_t>;  ///< ascending

/// A component, at the height at which its children join.
struct OracleNode {
  double height;
  Ids points;
  friend bool operator==(const OracleNode&, const OracleNode&) = default;
  friend bool operator<(const OracleNode& a, const OracleNode& b) {
    return std::tie(a.height, a.points) < std::tie(b.height, b.points);
  }
};

/// Heights of all pairs, and the core heights, for one minpts.
class OracleHeights {
 public:
  /// sums: [n × n] heights of pairs without core heights. weights: [n], whose sum reaches minpts; empty: each point
  /// counts 1.
  OracleHeights(std::vector<double> sums, std::size_t n, std::uint32_t minpts, std::span<const double> weights = {})
      : n_(n), heights_(std::move(sums)) {
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::pair<double, double>> row;  // the point itself is at 0
      for (std::size_t j = 0; j < n; ++j) row.emplace_back(heights_[i * n + j], weights.empty() ? 1 : weights[j]);
      std::sort(row.begin(), row.end());
      std::size_t last = 0;
      for (double weight = row[0].second; weight < minpts; weight += row[last].second) ++last;
      core_.push_back(row[last].first);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) heights_[i * n + j] = std::max({heights_[i * n + j], core_[i], core_[j]});
    }
  }

  [[nodiscard]] const std::vector<double>& core() const { return core_; }

  /// Returns all components of two or more points, by their heights. O(n² log n).
  [[nodiscard]] std::vector<OracleNode> nodes() const {
    std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t i = 0; i < n_; ++i) {
      for (std::uint32_t j = i + 1; j < n_; ++j) pairs.emplace_back(heights_[i * n_ + j], i, j);
    }
    std::sort(pairs.begin(), pairs.end());
    std::vector<std::size_t> set_of(n_);
    std::iota(set_of.begin(), set_of.end(), std::size_t{0});
    std::map<std::size_t, Ids> sets;
    for (std::uint32_t i = 0; i < n_; ++i) sets[i] = {i};
    std::vector<OracleNode> found;
    for (std::size_t first = 0, last; first < pairs.size(); first = last) {
      const double height = std::get<0>(pairs[first]);
      std::set<std::size_t> grown;
      for (last = first; last < pairs.size() && std::get<0>(pairs[last]) == height; ++last) {
        std::size_t a = set_of[std::get<1>(pairs[last])], b = set_of[std::get<2>(pairs[last])];
        if (a == b) continue;
        if (sets[a].size() < sets[b].size()) std::swap(a, b);
        for (const std::uint32_t id : sets[b]) {
          set_of[id] = a;
          sets[a].push_back(id);
        }
        sets.erase(b);
        grown.erase(b);
        grown.insert(a);
      }
      for (const std::size_t a : grown) {
        OracleNode node{height, sets[a]};
        std::sort(node.points.begin(), node.points.end());
        found.push_back(std::move(node));
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::size_t n_;
  std::vector<double> heights_;
  std::vector<double> core_;
};

inline std::vector<double> all_sums(const Space& space, PointsView points) {
  SpaceOracle oracle(space, points);
  std::vector<double> sums;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto row = oracle.sums(i);
    sums.insert(sums.end(), row.begin(), row.end());
  }
  return sums;
}

/// A cluster of the condensed tree, with all that the definition gives it.
struct OracleCluster {
  std::size_t parent;  ///< itself for the root
  double birth, death;
  Ids points;
  std::map<std::uint32_t, double> leaves_at;  ///< the points that leave it, but not in a cluster of their own
  long double stability = 0;
};

/// Condenses nodes that are eps. O(n²).
inline std::vector<OracleCluster> condense(const std::vector<OracleNode>& nodes, std::size_t min_cluster_size) {
  std::vector<OracleCluster> clusters;
  const auto below = [](const OracleNode& node, std::uint32_t id) {
    return std::binary_search(node.points.begin(), node.points.end(), id);
  };
  struct Work {
    std::size_t node, cluster;
  };
  std::vector<Work> todo;
  const auto begin = [&](std::size_t node, std::size_t parent, double birth) {
    clusters.push_back({parent, birth, 0, nodes[node].points, {}, 0});
    todo.push_back({node, clusters.size() - 1});
  };
  begin(nodes.size() - 1, 0, std::numeric_limits<double>::infinity());
  while (!todo.empty()) {
    auto [at, cluster] = todo.back();
    todo.pop_back();
    while (true) {
      const OracleNode& node = nodes[at];
      std::vector<std::size_t> large;  // its children
      std::set<std::uint32_t> open(node.points.begin(), node.points.end());
      for (std::size_t child = at; child-- > 0 && !open.empty();) {
        if (!open.contains(nodes[child].points[0]) || !below(node, nodes[child].points[0])) continue;
        for (const std::uint32_t id : nodes[child].points) open.erase(id);
        if (nodes[child].points.size() >= min_cluster_size) large.push_back(child);
      }
      clusters[cluster].death = node.height;
      std::set<std::uint32_t> stay;
      for (const std::size_t child : large) stay.insert(nodes[child].points.begin(), nodes[child].points.end());
      for (const std::uint32_t id : node.points) {
        if (!stay.contains(id)) clusters[cluster].leaves_at[id] = node.height;
      }
      if (large.size() == 1) {
        at = large[0];
        continue;
      }
      for (const std::size_t child : large) begin(child, cluster, node.height);
      break;
    }
  }
  for (OracleCluster& cluster : clusters) {
    std::map<std::uint32_t, double> left = cluster.leaves_at;
    for (const std::uint32_t id : cluster.points) left.emplace(id, cluster.death);
    for (const auto& [id, eps] : left) cluster.stability += 1.0L / eps - 1.0L / cluster.birth;
  }
  return clusters;
}

}  // namespace epsflow::test
