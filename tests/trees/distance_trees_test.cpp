#include <epsflow/trees/distance_trees.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/hierarchies.hpp"
#include "support/random_points.hpp"
#include "support/tree_oracle.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/trees/condensed_tree.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow {
namespace {

using test::Random;

constexpr double kUnconnected = std::numeric_limits<double>::infinity();

/// Returns a symmetric matrix of distances, some of them equal and some infinite.
std::vector<double> some_matrix(std::size_t n, double connected, Random& random) {
  std::vector<double> distances(n * n, 0);
  const std::uint64_t steps = random.pick<std::uint64_t>({5, 1000});
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double d = random.chance(connected) ? static_cast<double>(random.below(steps)) : kUnconnected;
      distances[i * n + j] = distances[j * n + i] = d;
    }
  }
  return distances;
}

TEST_CASE("distance trees: matrices and graphs give the components of all pairs, and forests") {
  for (std::uint64_t seed = 0; seed < test::sets_of(300); ++seed) {
    Random random(seed);
    const std::size_t n = 1 + random.below(60);
    const std::vector<double> matrix = some_matrix(n, random.pick<double>({1, 0.5, 0.1, 0.03}), random);
    const auto minpts = static_cast<std::uint32_t>(1 + random.below(std::min<std::size_t>(n, 6)));
    INFO("seed " << seed << ", n " << n << ", minpts " << minpts);
    const test::OracleHeights expected(matrix, n, minpts);
    const Hierarchy dense(spanning_tree_of_matrix(matrix, n, minpts, {}));
    REQUIRE(std::ranges::equal(dense.core_distances(), expected.core()));
    REQUIRE(test::nodes_of(dense) == expected.nodes());

    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> columns;
    std::vector<double> distances;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (matrix[i * n + j] == kUnconnected) continue;
        columns.push_back(static_cast<std::uint32_t>(j));
        distances.push_back(matrix[i * n + j]);
      }
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
    const Hierarchy sparse(spanning_tree_of_graph({offsets, columns, distances}, minpts, {}));
    REQUIRE(std::ranges::equal(sparse.core_distances(), expected.core()));
    REQUIRE(test::nodes_of(sparse) == expected.nodes());
  }
}

TEST_CASE("distance trees: what is not connected are clusters of their own") {
  const std::vector<double> matrix{
      0, 1, kUnconnected, kUnconnected, 1, 0, kUnconnected, kUnconnected, kUnconnected, kUnconnected,
      0, 2, kUnconnected, kUnconnected, 2, 0};
  const Hierarchy tree(spanning_tree_of_matrix(matrix, 4, 1, {}));
  const SelectedClusters found = CondensedTree(tree, 2).select();
  REQUIRE(std::vector<std::int32_t>(found.labels.begin(), found.labels.end()) == std::vector<std::int32_t>{0, 0, 1, 1});
}

TEST_CASE("distance trees: a cancellation ends the tree of a graph at once") {
  constexpr std::uint32_t kRows = 1 << 17, kLength = 16;
  Random random(1);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> distances;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    for (std::uint32_t j = 0; j < kLength; ++j) {
      columns.push_back(static_cast<std::uint32_t>(random.below(kRows)));
      distances.push_back(random.unit());
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  REQUIRE(test::share_after_cancel([&](const CancelToken& cancel) {
            (void)spanning_tree_of_graph({offsets, columns, distances}, 5, cancel);
          }) < 0.1);
}

}  // namespace
}  // namespace epsflow
