#include <epsflow/trees/binary_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/hierarchies.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

using test::DataSet;
using test::hierarchy_of;
using test::Random;

/// Returns the points of each cluster of condensed rows, by its number.
std::map<std::uint64_t, std::set<std::uint64_t>> members_of(const std::vector<CondensedRow>& rows, std::uint64_t n) {
  std::map<std::uint64_t, std::set<std::uint64_t>> members;
  for (const CondensedRow& row : rows) {
    if (row.child < n) members[row.parent].insert(row.child);
  }
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {  // children come after their parents
    if (row->child >= n) members[row->parent].insert(members[row->child].begin(), members[row->child].end());
  }
  return members;
}

// python/tests/test_accel_results.py compares rows without ties with the rows of scikit-learn.
TEST_CASE("binary trees: their condensed rows hold the clusters of the condensed tree, whatever ties there are") {
  std::size_t splits = 0;
  for (std::uint64_t seed = 0; seed < test::sets_of(600); ++seed) {
    Random random(seed);
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates", "collinear"});
    const std::size_t n = 5 + random.below(90);
    const DataSet data = test::make_data(kind, n, 1 + random.below(3), Precision::float64, seed);
    const auto minpts = static_cast<std::uint32_t>(1 + random.below(std::min<std::size_t>(n, 8)));
    const auto least = static_cast<std::uint64_t>(2 + random.below(std::min<std::size_t>(n - 1, 8)));
    INFO("seed " << seed << ", " << test::describe(data) << ", minpts " << minpts << ", min_cluster_size " << least);
    const Hierarchy hierarchy = hierarchy_of(data.view(), minpts);
    const CondensedTree condensed(hierarchy, least);
    const BinaryTree tree(hierarchy);
    REQUIRE(std::ranges::equal(tree.rows(), hierarchy.linkage(), {}, &LinkageRow::eps, &LinkageRow::eps));
    const std::vector<CondensedRow> rows = tree.condense(least);
    auto members = members_of(rows, n);
    const auto same = [&](double density, double eps) {
      return density == (eps > 0 ? 1 / eps : std::numeric_limits<double>::infinity());
    };

    // Each cluster is among the rows, and points leave the same clusters at the same eps. A cluster of the rows that is
    // born at the eps at which it ends is a step of a split of several parts.
    const std::vector<std::uint32_t> order = tree.breadth_first(condensed, least);
    REQUIRE(order.size() == condensed.clusters().size());
    REQUIRE(order[0] == 0);
    std::vector<std::uint64_t> number_of(order.size(), 0);
    number_of[0] = n;
    std::size_t next = 1;
    for (const CondensedRow& row : rows) {
      if (row.child < n) continue;
      const std::uint64_t last = row.child;
      REQUIRE(members[last].size() == row.size);
      if (next < order.size()) {
        const CondensedCluster& cluster = condensed.clusters()[order[next]];
        if (cluster.first_id == *members[last].begin() && cluster.size == row.size &&
            same(row.density, cluster.birth)) {
          number_of[order[next++]] = last;
          continue;
        }
      }
      bool is_step = false;
      for (const CondensedRow& below : rows) is_step |= below.parent == last && below.density == row.density;
      REQUIRE(is_step);
      ++splits;
    }
    REQUIRE(next == order.size());
    for (const CondensedRow& row : rows) {
      if (row.child >= n) continue;
      REQUIRE(number_of[condensed.cluster_of()[row.child]] == row.parent);
      REQUIRE(same(row.density, condensed.leaves_at()[row.child]));
    }
  }
  REQUIRE(splits > 0);
}

TEST_CASE("binary trees: one point, and a size out of range") {
  const std::vector<double> one{1, 2};
  const Hierarchy hierarchy = hierarchy_of(PointsView(std::span<const double>(one), 2), 1);
  REQUIRE(BinaryTree(hierarchy).rows().empty());
  const DataSet data = test::make_data("uniform", 5, 2, Precision::float64, 1);
  const BinaryTree tree(hierarchy_of(data.view(), 2));
  test::check_error<UsageError>({"min_cluster_size is 6", "5 points"}, [&] { (void)tree.condense(6); });
}

TEST_CASE("binary trees: a cancellation ends the making of one, of its rows, of a linkage and of a cut") {
  const Hierarchy hierarchy = test::long_line();
  const auto ends = [](const auto& work) { return test::ends_when_cancelled(work); };
  REQUIRE(ends([&](const CancelToken& cancel) { (void)hierarchy.linkage(cancel); }));
  REQUIRE(ends([&](const CancelToken& cancel) { (void)hierarchy.cut(0.5, 1, cancel); }));
  REQUIRE(ends([&](const CancelToken& cancel) { (void)BinaryTree(hierarchy, cancel); }));
  const BinaryTree tree(hierarchy);
  const CondensedTree condensed(hierarchy, 2);
  REQUIRE(ends([&](const CancelToken& cancel) { (void)tree.condense(2, cancel); }));
  REQUIRE(ends([&](const CancelToken& cancel) { (void)tree.breadth_first(condensed, 2, cancel); }));
}

}  // namespace
}  // namespace epsflow
