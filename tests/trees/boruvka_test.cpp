#include <epsflow/trees/boruvka.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/hierarchies.hpp"
#include "support/random_points.hpp"
#include "support/tree_oracle.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/weights.hpp>
#include <epsflow/index/component_search.hpp>
#include <epsflow/trees/hierarchy.hpp>

namespace epsflow::trees {
namespace {

using test::DataSet;
using test::OracleNode;
using test::Random;

std::vector<SpanningTree> trees_of(const Space& space, PointsView points, const std::vector<std::uint32_t>& minpts,
                                   std::span<const double> weights) {
  std::vector<SpanningTree> found;
  const WholeWeights whole(weights);
  spanning_trees(
      points, space, minpts, {}, [&](SpanningTree&& tree) { found.push_back(std::move(tree)); },
      weights.empty() ? nullptr : &whole);
  return found;
}

std::vector<std::uint32_t> some_minpts(std::size_t n, Random& random) {
  std::vector<std::uint32_t> minpts;
  for (std::size_t i = 0, count = 1 + random.below(4); i < count; ++i) {
    const std::uint64_t most = std::min<std::uint64_t>(n, random.pick<std::uint64_t>({2, 6, 12, 30, n}));
    minpts.push_back(static_cast<std::uint32_t>(1 + random.below(most)));
  }
  return minpts;
}

/// weights: multiples of 1/8, so that sums of them are exact; empty: each point counts 1.
void check(const Space& space, PointsView points, const std::vector<std::uint32_t>& minpts,
           std::span<const double> weights = {}) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> sums = test::all_sums(space, points);
  std::vector<test::OracleHeights> expected;
  bool too_far = false;
  for (const std::uint32_t m : minpts) {
    expected.emplace_back(sums, points.size(), m, weights);
    const std::vector<OracleNode> nodes = expected.back().nodes();
    too_far |= !nodes.empty() && nodes.back().height == kInfinity;
  }
  if (too_far) {
    REQUIRE_THROWS_AS(trees_of(space, points, minpts, weights), InputError);
    return;
  }
  const std::vector<SpanningTree> found = trees_of(space, points, minpts, weights);
  REQUIRE(found.size() == minpts.size());
  for (std::size_t i = 0; i < minpts.size(); ++i) {
    INFO("minpts " << minpts[i]);
    REQUIRE(found[i].minpts == minpts[i]);
    REQUIRE(std::vector<double>(found[i].core.begin(), found[i].core.end()) == expected[i].core());
    REQUIRE(found[i].edges.size() == points.size() - 1);
    SpanningTree copy{found[i].minpts, Buffer<double>(points.size()), Buffer<Edge>(points.size() - 1)};
    std::copy(found[i].core.begin(), found[i].core.end(), copy.core.begin());
    std::copy(found[i].edges.begin(), found[i].edges.end(), copy.edges.begin());
    REQUIRE(test::nodes_of(Hierarchy(std::move(copy))) == expected[i].nodes());
  }
}

TEST_CASE("spanning trees: components at every height are those of all pairs, on data of every kind") {
  for (std::uint64_t seed = 0; seed < test::sets_of(1200); ++seed) {
    Random random(seed);
    const DataSet data = test::random_data(seed, seed % 20 == 0 ? 250 : 80);
    if (data.size() == 0) continue;
    const auto minpts = some_minpts(data.size(), random);
    INFO("seed " << seed << ", " << test::describe(data));
    check({}, data.view(), minpts);
  }
}

TEST_CASE("spanning trees: up to 20 dimensions, and every norm with closed axes") {
  for (std::uint64_t seed = 0; seed < test::sets_of(200); ++seed) {
    Random random(seed);
    const std::size_t dims = 1 + seed % 20;
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates"});
    const DataSet data = test::make_data(kind, 20 + random.below(100), dims, Precision::float64, seed);
    INFO("seed " << seed << ", " << test::describe(data));
    for (const Norm norm : {Norm::euclidean, Norm::manhattan, Norm::chebyshev, Norm::minkowski}) {
      check({.norm = norm, .power = 3}, data.view(), {2, 7});
    }
  }
  for (std::uint64_t seed = 0; seed < test::sets_of(60); ++seed) {
    Random random(seed);
    Metric metric;
    metric.kind = random.pick<MetricKind>({MetricKind::euclidean, MetricKind::manhattan, MetricKind::chebyshev});
    metric.box = {{0, 1}, {0, 0}};
    Points points(150, 2, Precision::float64);
    for (double& x : points.values<double>())
      x = static_cast<double>(random.below(seed % 2 == 0 ? 16 : 1 << 20)) / (seed % 2 == 0 ? 16 : 1 << 20);
    check(transformed_space(metric), points, {1, 5});
  }
}

TEST_CASE("spanning trees: points that a metric transforms") {
  for (const MetricKind kind : {MetricKind::cosine, MetricKind::greatcircle}) {
    Metric metric;
    metric.kind = kind;
    for (std::uint64_t seed = 0; seed < test::sets_of(100); ++seed) {
      Random random(seed);
      const double step = random.pick<double>({0x1p-20, 5, 30});
      const std::size_t dims = kind == MetricKind::cosine ? 1 + random.below(4) : 2;
      // Coarse steps make parallel vectors, and on the sphere the south pole at several longitudes. Odd multiples of
      // half a step are not 0, as no vector of cosine may be.
      const double first = kind == MetricKind::cosine ? step / 2 - 90 : -90;
      Points points(20 + random.below(80), dims, Precision::float64);
      for (double& x : points.values<double>()) {
        x = first + step * static_cast<double>(random.below(static_cast<std::uint64_t>(180 / step)));
      }
      INFO("seed " << seed << ", " << describe_in_full(metric) << ", " << points.size() << " points");
      Points moved(points.size(), transformed_dims(metric, dims), Precision::float64);
      transform_points(metric, points, 0, points.size(), moved.values<double>().data());
      check(transformed_space(metric), moved, some_minpts(points.size(), random));
    }
  }
}

TEST_CASE("spanning trees: a point is core where the weights within reach it add up to minpts") {
  for (std::uint64_t seed = 0; seed < test::sets_of(300); ++seed) {
    Random random(seed);
    const DataSet data = test::random_data(seed, 80);
    if (data.size() == 0) continue;
    std::vector<double> weights;
    for (std::size_t i = 0; i < data.size(); ++i) {
      weights.push_back(static_cast<double>(random.below(random.pick<std::uint64_t>({1, 12, 100}))) / 8);
    }
    weights.front() += 12;  // so that minpts are reached
    INFO("seed " << seed << ", " << test::describe(data));
    check({}, data.view(), {1, 3, 12}, weights);
  }
}

TEST_CASE("spanning trees: leaves in many levels, and searches beyond the lists") {
  for (const std::string kind : {"uniform", "clustered", "quantised", "duplicates", "log-uniform", "all equal"}) {
    for (const std::size_t dims : {1, 2, 3}) {
      const DataSet data = test::make_data(kind, 900, dims, Precision::float64, dims);
      INFO(test::describe(data));
      check({}, data.view(), {1, 2, 3, 5, 10, 40});
    }
  }
}

TEST_CASE("spanning trees: a cancellation ends the search of other components at once, also of one range of leaves") {
  const DataSet data = test::make_data("uniform", 1000, 512, Precision::float64, 1);
  const index::LeafOrder leaves(data.view(), {});
  const Space space;
  const std::vector<double> zeros(data.size(), 0);
  std::vector<std::uint32_t> alone(data.size());
  std::iota(alone.begin(), alone.end(), 0U);
  std::vector<index::HeightPair> pairs(data.size());
  index::ComponentSearch search(leaves, space, zeros, zeros);
  REQUIRE(test::share_after_cancel([&](const CancelToken& cancel) {
            index::LowestPairs best(pairs);
            search.search(alone, 0, best, cancel);
          }) < 0.1);
}

}  // namespace
}  // namespace epsflow::trees
