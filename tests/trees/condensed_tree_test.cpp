#include <epsflow/trees/condensed_tree.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/hierarchies.hpp"
#include "support/random_points.hpp"
#include "support/tree_oracle.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow {
namespace {

using test::DataSet;
using test::hierarchy_of;
using test::OracleCluster;
using test::Random;

/// Excess of mass over the clusters of the oracle. Returns no answer if rounding might decide.
std::optional<std::set<std::size_t>> most_stable(const std::vector<OracleCluster>& clusters, bool allow_root) {
  std::vector<long double> best(clusters.size(), 0);
  std::vector<bool> chosen(clusters.size(), false);
  for (std::size_t c = clusters.size(); c-- > 0;) {
    const long double below = best[c], own = clusters[c].stability;
    if (std::isfinite(own) && below > 0 && std::abs(below - own) < 1e-9L * own) return std::nullopt;
    chosen[c] = (c > 0 || allow_root) && !(below > own);
    const long double value = chosen[c] ? own : below;
    if (c > 0) best[clusters[c].parent] += value;
  }
  std::set<std::size_t> selected;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    bool inside = false;
    for (std::size_t up = c; up > 0;) {
      up = clusters[up].parent;
      inside |= chosen[up];
    }
    if (chosen[c] && !inside) selected.insert(c);
  }
  return selected;
}

TEST_CASE("condensed trees: the definition, on data of every kind") {
  std::size_t compared = 0, selections = 0;
  for (std::uint64_t seed = 0; seed < test::sets_of(600); ++seed) {
    Random random(seed);
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates", "collinear"});
    const std::size_t n = 5 + random.below(90);
    const DataSet data = test::make_data(kind, n, 1 + random.below(3), Precision::float64, seed);
    const auto minpts = static_cast<std::uint32_t>(1 + random.below(std::min<std::size_t>(n, 8)));
    const auto least = static_cast<std::uint64_t>(2 + random.below(std::min<std::size_t>(n - 1, 12)));
    INFO("seed " << seed << ", " << test::describe(data) << ", minpts " << minpts << ", min_cluster_size " << least);
    const test::OracleHeights heights(test::all_sums({}, data.view()), n, minpts);
    std::vector<OracleCluster> expected = test::condense(heights.nodes(), least);
    const Hierarchy hierarchy = hierarchy_of(data.view(), minpts);
    const CondensedTree tree(hierarchy, least);

    REQUIRE(tree.clusters().size() == expected.size());
    std::map<std::pair<double, std::uint32_t>, std::size_t> index_of;  // by birth and first id
    for (std::size_t c = 0; c < expected.size(); ++c) index_of[{expected[c].birth, expected[c].points[0]}] = c;
    std::vector<std::size_t> oracle_of;
    for (const CondensedCluster& cluster : tree.clusters()) {
      const auto found = index_of.find({cluster.birth, cluster.first_id});
      REQUIRE(found != index_of.end());
      const OracleCluster& same = expected[found->second];
      oracle_of.push_back(found->second);
      REQUIRE(cluster.death == same.death);
      REQUIRE(cluster.size == same.points.size());
      if (oracle_of.size() > 1) REQUIRE(oracle_of[cluster.parent] == same.parent);
      if (std::isinf(cluster.stability)) {
        REQUIRE(std::isinf(same.stability));
      } else {
        REQUIRE(std::abs(cluster.stability - static_cast<double>(same.stability)) <=
                1e-14 * cluster.size / cluster.death);
      }
    }
    for (std::uint32_t p = 0; p < n; ++p) {
      const auto& leaves = expected[oracle_of[tree.cluster_of()[p]]].leaves_at;
      REQUIRE(leaves.contains(p));
      REQUIRE(leaves.at(p) == tree.leaves_at()[p]);
    }
    ++compared;
    for (const bool allow : {false, true}) {
      // The oracle's list has parents before children, as depth-first search made it.
      const auto selected = most_stable(expected, allow);
      if (!selected) continue;
      const SelectedClusters found = tree.select({.allow_single_cluster = allow});
      std::set<std::size_t> same;
      for (const std::uint32_t c : found.nodes) same.insert(oracle_of[c]);
      REQUIRE(same == *selected);
      if (selected->contains(0)) continue;
      for (std::size_t i = 0; i < found.nodes.size(); ++i) {
        const test::Ids& points = expected[oracle_of[found.nodes[i]]].points;
        for (const std::uint32_t p : points) REQUIRE(found.labels[p] == static_cast<std::int32_t>(i));
        REQUIRE((i == 0 || points[0] > expected[oracle_of[found.nodes[i - 1]]].points[0]));
      }
      ++selections;
    }
  }
  REQUIRE(compared > 0);
  REQUIRE(selections > compared);
}

/// Checks that the figures of points in another order are the same, bit for bit.
void check_order(const DataSet& data, const SelectionOptions& options, std::uint64_t shuffles) {
  const CondensedTree tree(hierarchy_of(data.view(), 5), 5);
  const SelectedClusters found = tree.select(options);
  const Buffer<double> outliers = tree.outlier_scores();
  std::vector<double> stabilities;
  for (const CondensedCluster& cluster : tree.clusters()) stabilities.push_back(cluster.stability);
  std::sort(stabilities.begin(), stabilities.end());
  for (std::uint64_t seed = 0; seed < shuffles; ++seed) {
    const std::vector<std::size_t> order = Random(seed).order(data.size());
    const DataSet moved = data.reordered(order);
    const CondensedTree other(hierarchy_of(moved.view(), 5), 5);
    const SelectedClusters again = other.select(options);
    const Buffer<double> scores = other.outlier_scores();
    REQUIRE(again.nodes.size() == found.nodes.size());
    std::vector<std::int32_t> same(found.nodes.size(), -1);  // the number of each cluster in the other order
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::int32_t label = found.labels[order[i]];
      REQUIRE((label < 0) == (again.labels[i] < 0));
      if (label >= 0 && same[static_cast<std::size_t>(label)] < 0)
        same[static_cast<std::size_t>(label)] = again.labels[i];
      if (label >= 0) REQUIRE(same[static_cast<std::size_t>(label)] == again.labels[i]);
      REQUIRE(again.probabilities[i] == found.probabilities[order[i]]);
      REQUIRE(scores[i] == outliers[order[i]]);
    }
    std::vector<double> others;
    for (const CondensedCluster& cluster : other.clusters()) others.push_back(cluster.stability);
    std::sort(others.begin(), others.end());
    REQUIRE(others == stabilities);
  }
}

TEST_CASE("condensed trees: 1,000 shuffles of quantised rows change nothing") {
  const DataSet grid = test::make_data("quantised", 300, 2, Precision::float64, 3);
  check_order(grid, {}, test::sets_of(500));
  check_order(grid, {.method = ClusterSelection::leaf, .epsilon = 0.01}, test::sets_of(250));
  check_order(test::make_data("duplicates", 200, 3, Precision::float64, 4), {.allow_single_cluster = true},
              test::sets_of(250));
}

TEST_CASE("condensed trees: all points equal, all distances equal, two points") {
  const std::vector<double> equal(20, 1.5);
  const CondensedTree one(hierarchy_of(PointsView(std::span<const double>(equal), 2), 3), 5);
  REQUIRE(one.clusters().size() == 1);
  REQUIRE(std::isinf(one.clusters()[0].stability));
  const SelectedClusters none = one.select();
  REQUIRE(none.nodes.empty());
  REQUIRE(std::all_of(none.labels.begin(), none.labels.end(), [](std::int32_t l) { return l == -1; }));
  const SelectedClusters all = one.select({.allow_single_cluster = true});
  REQUIRE(all.nodes == std::vector<std::uint32_t>{0});
  REQUIRE(std::all_of(all.labels.begin(), all.labels.end(), [](std::int32_t l) { return l == 0; }));
  REQUIRE(std::all_of(all.probabilities.begin(), all.probabilities.end(), [](double p) { return p == 1; }));
  REQUIRE(all.persistence == std::vector<double>{1});
  const Buffer<double> scores = one.outlier_scores();
  REQUIRE(std::all_of(scores.begin(), scores.end(), [](double s) { return s == 0; }));

  std::vector<double> simplex(36, 0);  // all pairs of its corners are equally far from each other
  for (std::size_t i = 0; i < 6; ++i) simplex[i * 6 + i] = 1;
  const CondensedTree corners(hierarchy_of(PointsView(std::span<const double>(simplex), 6), 2), 2);
  REQUIRE(corners.clusters().size() == 1);
  REQUIRE(corners.clusters()[0].death == 2);

  const std::vector<double> two{0, 3};
  const CondensedTree pair(hierarchy_of(PointsView(std::span<const double>(two), 1), 1), 2);
  REQUIRE(pair.clusters().size() == 1);
  REQUIRE(pair.leaves_at()[1] == 9);
}

TEST_CASE("condensed trees: max_size, epsilon and invalid values") {
  const DataSet data = test::make_data("clustered", 200, 2, Precision::float64, 11);
  const Hierarchy hierarchy = hierarchy_of(data.view(), 4);
  const CondensedTree tree(hierarchy, 4);
  const SelectedClusters all = tree.select();
  REQUIRE(all.nodes.size() > 1);
  std::uint32_t largest = 0;
  for (const std::uint32_t c : all.nodes) largest = std::max(largest, tree.clusters()[c].size);
  for (const std::uint32_t c : tree.select({.max_size = largest - 1}).nodes) REQUIRE(tree.clusters()[c].size < largest);
  for (const std::uint32_t c : tree.select({.method = ClusterSelection::leaf}).nodes) {
    for (const CondensedCluster& other : tree.clusters()) REQUIRE(other.parent != c);
  }
  for (const double epsilon : {0.001, 0.05, 0.3}) {
    for (const std::uint32_t c : tree.select({.epsilon = epsilon}).nodes) {
      REQUIRE((tree.clusters()[c].birth >= epsilon || tree.clusters()[c].parent == 0));
    }
  }
  // No selected cluster is inside another, also if epsilon is the birth of a cluster.
  for (const CondensedCluster& cluster : tree.clusters()) {
    const SelectedClusters found =
        tree.select({.method = ClusterSelection::leaf, .epsilon = std::min(cluster.birth, 1e9)});
    for (const std::uint32_t c : found.nodes) {
      for (std::uint32_t up = tree.clusters()[c].parent; up != kNoNode; up = tree.clusters()[up].parent) {
        REQUIRE(std::find(found.nodes.begin(), found.nodes.end(), up) == found.nodes.end());
      }
    }
  }
  test::check_mentions(test::error_of<UsageError>([&] { (void)tree.select({.epsilon = -1}); }),
                       {"cluster_selection_epsilon is -1", "use a number from"});
  test::check_mentions(test::error_of<UsageError>([&] { (void)CondensedTree(hierarchy, 1); }),
                       {"min_cluster_size is 1", "use a number from"});
  test::check_mentions(test::error_of<UsageError>([&] { (void)CondensedTree(hierarchy, 201); }),
                       {"min_cluster_size is 201", "use a number from"});
}

TEST_CASE("condensed trees: a cancellation ends the making of one, and a selection") {
  const Hierarchy hierarchy = test::long_line();
  const auto ends = [](const auto& work) { return test::ends_when_cancelled(work); };
  REQUIRE(ends([&](const CancelToken& cancel) { (void)CondensedTree(hierarchy, 2, cancel); }));
  const CondensedTree tree(hierarchy, 2);
  REQUIRE(ends([&](const CancelToken& cancel) { (void)tree.select({}, cancel); }));
  REQUIRE(ends([&](const CancelToken& cancel) { (void)tree.outlier_scores(cancel); }));
}

}  // namespace
}  // namespace epsflow
