// Makes hierarchies of points, and compares them with the oracle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"
#include "support/tree_oracle.hpp"

#include <epsflow/core/points.hpp>
#include <epsflow/trees/boruvka.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow::test {

/// Returns the hierarchy of the squared distances.
inline Hierarchy hierarchy_of(PointsView points, std::uint32_t minpts) {
  std::vector<Hierarchy> found;
  trees::spanning_trees(points, {}, std::span(&minpts, 1), {},
                        [&](SpanningTree&& tree) { found.emplace_back(std::move(tree)); });
  return std::move(found[0]);
}

/// Returns the hierarchy of points on a line at random distances, which are enough to cancel work on it meanwhile.
inline Hierarchy long_line() {
  constexpr std::uint32_t kSize = 1 << 19;
  Random random(1);
  SpanningTree tree{1, Buffer<double>(kSize), Buffer<Edge>(kSize - 1)};
  std::fill(tree.core.begin(), tree.core.end(), 0);
  for (std::uint32_t i = 0; i + 1 < kSize; ++i) tree.edges[i] = {random.uniform(0, 1), i, i + 1};
  std::sort(tree.edges.begin(), tree.edges.end(), [](const Edge& a, const Edge& b) { return a.height < b.height; });
  return Hierarchy(std::move(tree));
}

/// Returns the nodes with the ids of their points, heights as they are in the tree, after checks that they fit it.
inline std::vector<OracleNode> nodes_of(const Hierarchy& tree) {
  std::vector<OracleNode> nodes;
  for (const TreeNode& node : tree.nodes()) nodes.push_back({node.eps, {}});
  for (std::uint32_t p = 0; p < tree.size(); ++p) {
    for (std::uint32_t i = tree.parents()[p]; i != kNoNode; i = tree.nodes()[i].parent) {
      nodes[i].points.push_back(p);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    REQUIRE(nodes[i].points.size() == tree.nodes()[i].size);
    REQUIRE(nodes[i].points[0] == tree.nodes()[i].first_id);
  }
  REQUIRE(std::is_sorted(nodes.begin(), nodes.end()));
  return nodes;
}

}  // namespace epsflow::test
