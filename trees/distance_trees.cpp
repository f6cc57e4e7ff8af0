#include <epsflow/trees/distance_trees.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <epsflow/core/parallel.hpp>
#include <epsflow/trees/sets.hpp>

namespace epsflow {
namespace {

constexpr double kUnconnected = std::numeric_limits<double>::infinity();

bool is_lower(const Edge& a, const Edge& b) { return std::tie(a.height, a.a, a.b) < std::tie(b.height, b.a, b.b); }

}  // namespace

SpanningTree spanning_tree_of_matrix(std::span<const double> distances, std::size_t n, std::uint32_t minpts,
                                     const CancelToken& cancel) {
  SpanningTree tree{minpts, Buffer<double>(n), Buffer<Edge>(n - 1)};
  parallel_ranges(n, 16, [&](std::size_t begin, std::size_t end) {
    std::vector<double> row;
    for (std::size_t i = begin; i < end; ++i) {
      cancel.check();
      row.assign(distances.begin() + static_cast<std::ptrdiff_t>(i * n),
                 distances.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
      std::nth_element(row.begin(), row.begin() + (minpts - 1), row.end());
      tree.core[i] = row[minpts - 1];
    }
  });
  // The lowest pair of each point outside with a point inside the tree, which has one point at first.
  std::vector<std::uint32_t> outside(n - 1), nearest(n, 0);
  std::vector<double> height(n, kUnconnected);
  for (std::uint32_t i = 1; i < n; ++i) outside[i - 1] = i;
  std::uint32_t last = 0;
  for (std::size_t edge = 0; edge + 1 < n; ++edge) {
    if (edge % 64 == 0) cancel.check();
    const double* const row = distances.data() + std::size_t{last} * n;
    std::size_t lowest = 0;
    for (std::size_t i = 0; i < outside.size(); ++i) {
      const std::uint32_t p = outside[i];
      const double found = std::max({row[p], tree.core[last], tree.core[p]});
      if (found < height[p]) {
        height[p] = found;
        nearest[p] = last;
      }
      if (height[p] < height[outside[lowest]]) lowest = i;
    }
    last = outside[lowest];
    tree.edges[edge] = {height[last], nearest[last], last};
    outside[lowest] = outside.back();
    outside.pop_back();
  }
  std::sort(tree.edges.begin(), tree.edges.end(), is_lower);
  return tree;
}

SpanningTree spanning_tree_of_graph(const DistanceGraph& graph, std::uint32_t minpts, const CancelToken& cancel) {
  const std::size_t n = graph.offsets.size() - 1;
  SpanningTree tree{minpts, Buffer<double>(n), Buffer<Edge>(n - 1)};
  std::vector<double> row;
  for (std::size_t i = 0; i < n; ++i) {
    cancel.check();
    row.assign(graph.distances.begin() + graph.offsets[i], graph.distances.begin() + graph.offsets[i + 1]);
    tree.core[i] = kUnconnected;
    if (row.size() < minpts) continue;
    std::nth_element(row.begin(), row.begin() + (minpts - 1), row.end());
    tree.core[i] = row[minpts - 1];
  }
  std::vector<Edge> edges;
  edges.reserve(graph.columns.size());  // growing would copy all of them at once
  for (std::uint32_t i = 0; i < n; ++i) {
    cancel.check();
    for (auto at = static_cast<std::size_t>(graph.offsets[i]); at < static_cast<std::size_t>(graph.offsets[i + 1]);
         ++at) {
      const std::uint32_t j = graph.columns[at];
      if (i != j) edges.push_back({std::max({graph.distances[at], tree.core[i], tree.core[j]}), i, j});
    }
  }
  std::size_t compared = 0;
  std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
    if (++compared % (1 << 18) == 0) cancel.check();
    return is_lower(a, b);
  });
  trees::Sets sets(n);
  std::size_t count = 0, seen = 0;
  const auto connect = [&](const Edge& edge) {
    if (++seen % (1 << 18) == 0) cancel.check();
    const std::uint32_t a = sets.find(edge.a), b = sets.find(edge.b);
    if (a == b) return;
    (void)sets.join(a, b);
    tree.edges[count++] = edge;
  };
  for (const Edge& edge : edges) connect(edge);
  for (std::uint32_t i = 1; i < n; ++i) connect({kUnconnected, 0, i});
  return tree;
}

}  // namespace epsflow
