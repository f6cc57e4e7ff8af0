#include <epsflow/pipeline/hierarchy.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

const std::vector<Metric> kMetrics{{.kind = MetricKind::euclidean}, {.kind = MetricKind::greatcircle},
                                   {.kind = MetricKind::cosine},    {.kind = MetricKind::manhattan},
                                   {.kind = MetricKind::chebyshev}, {.kind = MetricKind::minkowski, .power = 3}};

/// Returns the hierarchy of one minpts.
Hierarchy one_hierarchy(const PointSet& set, std::uint32_t minpts) {
  return std::move(hierarchy(set, std::array{minpts})[0]);
}

/// Checks cuts at some eps, and just below and above heights, against the core points of sweeps.
void check_cuts(const PointSet& set, const std::vector<std::uint32_t>& minpts, Random& random) {
  const std::vector<Hierarchy> found = hierarchy(set, minpts);
  REQUIRE(found.size() == minpts.size());
  for (std::size_t i = 0; i < minpts.size(); ++i) {
    const Hierarchy& tree = found[i];
    REQUIRE(tree.minpts() == minpts[i]);
    std::vector<double> all;
    for (int k = 0; k < 4; ++k) {
      const double height = tree.nodes()[random.below(tree.nodes().size())].eps;
      const double core = tree.core_distances()[random.below(tree.size())];
      for (const double eps : {height, core}) {
        all.push_back(eps);
        all.push_back(std::nextafter(eps, 0.0));
      }
    }
    for (const double eps : all) {
      if (!(eps > 1e-12)) continue;
      const std::vector<VariantResult> swept = run(set, Sweep({{eps, minpts[i]}}), {}, {.core_mask = true});
      const Buffer<std::int32_t> cut = tree.cut(eps);
      for (std::size_t p = 0; p < set.size(); ++p) {
        INFO("minpts " << minpts[i] << ", eps " << eps << ", point " << p);
        REQUIRE(cut[p] == (swept[0].core[p] != 0 ? swept[0].labels.span()[p] : -1));
      }
    }
  }
}

TEST_CASE("hierarchy: a cut has the core points of a sweep at the same eps, to the last bit") {
  for (std::uint64_t seed = 0; seed < sets_of(80); ++seed) {
    Random random(seed);
    const std::string kind =
        random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates", "offset 1e6"});
    const DataSet data = make_data(kind, 30 + random.below(150), 1 + random.below(4),
                                   random.chance(0.3) ? Precision::float32 : Precision::float64, seed);
    INFO("seed " << seed << ", " << describe(data));
    check_cuts(data.view(), {2, static_cast<std::uint32_t>(1 + random.below(12))}, random);
  }
}

TEST_CASE("hierarchy: cuts under every metric") {
  for (std::uint64_t seed = 0; seed < sets_of(30); ++seed) {
    Random random(seed);
    Points points(80, 2, Precision::float64);
    for (double& x : points.values<double>()) x = random.uniform(-80, 80);
    for (const Metric& metric : kMetrics) {
      INFO("seed " << seed << ", " << describe_in_full(metric));
      check_cuts({points, metric}, {1, 4}, random);
    }
    check_cuts({points, {.scale = {0.1, 3}}}, {3}, random);
    check_cuts({points, {.box = {{-80, 80}, {-80, 80}}}}, {3}, random);
  }
}

TEST_CASE("hierarchy: cuts of points with weights, small, large and 0") {
  for (std::uint64_t seed = 0; seed < sets_of(80); ++seed) {
    Random random(seed);
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates"});
    const DataSet data = make_data(kind, 40 + random.below(200), 1 + random.below(4), Precision::float64, seed);
    const double usual = random.pick<double>({0.05, 1, 4});
    std::vector<double> weights;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const bool none = random.chance(0.2);
      weights.push_back(none ? 0 : random.chance(0.5) ? usual : random.uniform(0, 3 * usual));
    }
    weights.front() += 12;  // so that minpts are reached
    INFO("seed " << seed << ", " << describe(data) << ", weights about " << usual);
    PointSet set(data.view());
    set.weights = weights;
    check_cuts(set, {1, 3, 12}, random);
  }
}

TEST_CASE("hierarchy: new points join where the core distance of a set with them is, under every metric") {
  Random random(3);
  Points points(61, 2, Precision::float64);
  for (double& x : points.values<double>()) x = random.uniform(-80, 80);
  const PointsView all = points;
  const PointsView known = all.rows(0, 60), query = all.rows(60, 61);
  for (const Metric& metric : kMetrics) {
    INFO(describe_in_full(metric));
    const std::vector<Hierarchy> with = hierarchy(PointSet(all, metric), std::array{2U, 7U});
    const std::vector<Hierarchy> trees = hierarchy(PointSet(known, metric), std::array{1U, 7U});
    const NewNeighbors nearest = new_neighbors(PointSet(known, metric), trees[0], query);
    REQUIRE(nearest.eps[0] == with[0].core_distances()[60]);
    const NewNeighbors mutual = new_neighbors(PointSet(known, metric), trees[1], query);
    REQUIRE(mutual.eps[0] >= with[1].core_distances()[60]);
    REQUIRE(mutual.eps[0] >= trees[1].core_distances()[mutual.ids[0]]);
  }
}

TEST_CASE("hierarchy: trees are passed on one by one, in the order of the minpts") {
  const DataSet data = make_data("clustered", 600, 2, Precision::float64, 5);
  const std::vector<std::uint32_t> minpts{20, 1, 5, 2, 5, 12};
  const std::vector<Hierarchy> all = hierarchy(data.view(), minpts);
  std::size_t handed = 0;
  each_hierarchy(data.view(), minpts, [&](Hierarchy&& tree) {
    REQUIRE(tree.minpts() == minpts[handed]);
    REQUIRE(std::ranges::equal(tree.parents(), all[handed++].parents()));
  });
  REQUIRE(handed == minpts.size());
}

TEST_CASE("hierarchy: progress counts what is made of each tree") {
  const DataSet data = make_data("clustered", 300, 2, Precision::float64, 5);
  const std::array<std::uint32_t, 3> minpts{2, 8, 5};
  const std::array<std::uint64_t, 2> sizes{5, 10};
  std::vector<std::size_t> seen;
  const Observer observer{.on_progress = [&](const Progress& progress) {
    seen.push_back(progress.variants_done);
    seen.push_back(progress.variants);
  }};
  const auto counted = [&](auto&& make) {
    seen.clear();
    make();
    return seen;
  };
  const std::vector<std::size_t> trees{1, 3, 2, 3, 3, 3};
  const std::vector<std::size_t> results{1, 6, 2, 6, 3, 6, 4, 6, 5, 6, 6, 6};
  REQUIRE(counted([&] { (void)hierarchy(data.view(), minpts, {}, observer); }) == trees);
  REQUIRE(counted([&] {
            each_hierarchy(
                data.view(), minpts, [](Hierarchy&&) {}, {}, observer);
          }) == trees);
  REQUIRE(counted([&] { (void)condensed_trees(data.view(), minpts, sizes, {}, observer); }) == results);
  REQUIRE(counted([&] { (void)hdbscan(data.view(), minpts, sizes, {}, {}, observer); }) == results);
}

TEST_CASE("hierarchy: linkage has a row for each merge, which is an edge of the spanning tree") {
  const DataSet data = make_data("quantised", 120, 2, Precision::float64, 2);
  const Hierarchy tree = one_hierarchy(data.view(), 3);
  const std::vector<LinkageRow> rows = tree.linkage();
  REQUIRE(rows.size() == data.size() - 1);
  REQUIRE(rows.back().size == data.size());
  std::vector<bool> used(2 * data.size() - 1, false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(rows[i].a < rows[i].b);
    REQUIRE(rows[i].b < data.size() + i);
    REQUIRE(!used[rows[i].a]);
    REQUIRE(!used[rows[i].b]);
    used[rows[i].a] = used[rows[i].b] = true;
    const auto size = [&](std::uint64_t item) { return item < data.size() ? 1 : rows[item - data.size()].size; };
    REQUIRE(rows[i].size == size(rows[i].a) + size(rows[i].b));
    REQUIRE(rows[i].eps == tree.spanning_tree()[i].height);
  }
  REQUIRE(std::ranges::is_sorted(rows, {}, &LinkageRow::eps));
}

TEST_CASE("hierarchy: one point, and a cut of small components") {
  const std::vector<double> one{1, 2};
  const Hierarchy point = one_hierarchy(PointsView(one, 2), 1);
  REQUIRE(point.nodes().empty());
  REQUIRE(point.cut(0)[0] == 0);
  REQUIRE(point.cut(0, 2)[0] == -1);
  const std::vector<double> line{0, 1, 2, 10, 11, 30};
  const Hierarchy tree = one_hierarchy(PointsView(line, 1), 1);
  const auto cut = [&](double eps, std::uint32_t least) {
    const Buffer<std::int32_t> labels = tree.cut(eps, least);
    return std::vector<std::int32_t>(labels.begin(), labels.end());
  };
  REQUIRE(cut(1, 1) == std::vector<std::int32_t>{0, 0, 0, 1, 1, 2});
  REQUIRE(cut(1, 3) == std::vector<std::int32_t>{0, 0, 0, -1, -1, -1});
  REQUIRE(cut(0, 1) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("hierarchy: a cancellation ends a run that condenses a tree for many sizes") {
  const DataSet data = make_data("clustered", 2000, 2, Precision::float64, 1);
  const std::vector<std::uint64_t> sizes(3000, 2);  // so that most of the time is theirs
  REQUIRE(ends_when_cancelled([&](const CancelToken& cancel) {
    (void)condensed_trees(data.view(), std::array{5U}, sizes, {}, {.cancel = &cancel});
  }));
  REQUIRE(ends_when_cancelled([&](const CancelToken& cancel) {
    (void)hdbscan(data.view(), std::array{5U}, sizes, {}, {}, {.cancel = &cancel});
  }));
}

TEST_CASE("hierarchy: a cancellation ends the making of a tree at once") {
  const DataSet data = make_data("uniform", 100'000, 3, Precision::float64, 1);
  REQUIRE(share_after_cancel([&](const CancelToken& cancel) {
            (void)hierarchy(data.view(), std::array{40U}, {.threads = 1, .backend = BackendChoice::cpu},
                            {.cancel = &cancel});
          }) < 0.1);
}

TEST_CASE("hierarchy: errors name the parameter and the remedy") {
  const DataSet data = make_data("uniform", 50, 2, Precision::float64, 1);
  check_error<UsageError>({"minpts is 0", "from 1"}, [&] { (void)hierarchy(data.view(), std::array{5U, 0U}); });
  check_error<UsageError>({"minpts is 51", "50 points"}, [&] { (void)one_hierarchy(data.view(), 51); });
  const PointsView none(std::span<const double>(), 2);
  check_error<UsageError>({"no points", "at least one"}, [&] { (void)one_hierarchy(none, 1); });
  std::vector<double> weights(50, 1.0);
  PointSet weighted(data.view());
  weighted.weights = weights;
  check_error<UsageError>({"minpts is 51", "weights", "sum to 50"}, [&] {
    (void)hierarchy(weighted, std::array{3U, 51U});
  });
  weights.assign(50, 0.001);
  check_error<UsageError>({"sum to 0.05", "multiply"}, [&] { (void)one_hierarchy(weighted, 1); });
  weights.assign(50, -1);
  check_error<UsageError>({"weights", "below 0"}, [&] { (void)one_hierarchy(weighted, 3); });
  const std::vector<double> far{-1e200, 0, 1e200};
  check_error<InputError>({"float64", "divide all coordinates"}, [&] { (void)one_hierarchy(PointsView(far, 1), 1); });
  const Hierarchy tree = one_hierarchy(data.view(), 3);
  check_error<UsageError>({"-0.5"}, [&] { (void)tree.cut(-0.5); });
  check_error<UsageError>({"nan"}, [&] { (void)tree.cut(std::nan("")); });
  check_error<UsageError>({"without them"}, [&] { (void)new_neighbors(weighted, tree, data.view()); });
  check_error<UsageError>({"1 dimension", "2 dimensions"},
                          [&] { (void)new_neighbors(data.view(), tree, PointsView(far, 1)); });
  check_error<UsageError>({"3 points", "50"}, [&] { (void)new_neighbors(PointsView(far, 1), tree, data.view()); });
  const DataSet more = make_data("uniform", 5000, 2, Precision::float64, 1);
  REQUIRE_THROWS_AS(hierarchy(more.view(), std::array{5U}, {.memory = 2000}), ResourceError);
  check_error<ResourceError>({"a hierarchy needs", "memory"}, [&] {
    each_hierarchy(more.view(), std::array{5U}, [](Hierarchy&&) {}, {.memory = 600'000});
  });
}

}  // namespace
}  // namespace epsflow::test
