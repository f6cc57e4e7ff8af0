#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/catalog/catalog_table.hpp>
#include <epsflow/catalog/cluster_order.hpp>
#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/engine.hpp>

namespace epsflow {
namespace {

using Catch::Contains;
using test::Random;

const Metric kPlain;

PointsView points_of(const std::vector<double>& x, std::size_t dims) { return {std::span<const double>(x), dims}; }

bool near(double a, double b, double scale = 1) { return std::abs(a - b) <= 1e-12 * std::max(scale, std::abs(b)); }

struct Set {
  std::vector<double> x;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> core;
  std::vector<double> weights;
  std::vector<double> column;
};

/// Returns n points in clusters and noise. Every cluster has a core point.
Set random_set(std::size_t n, std::size_t dims, std::int32_t clusters, std::uint64_t seed) {
  Random random(seed);
  Set set;
  for (std::size_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::int32_t>(i) < clusters
                           ? static_cast<std::int32_t>(i)
                           : static_cast<std::int32_t>(random.below(clusters + 1)) - 1;
    set.labels.push_back(label);
    set.core.push_back(static_cast<std::int32_t>(i) < clusters || (label >= 0 && random.chance(0.5)) ? 1 : 0);
    set.weights.push_back(random.uniform(0, 3));
    set.column.push_back(random.chance(0.1) ? std::numeric_limits<double>::quiet_NaN() : random.bell());
    for (std::size_t k = 0; k < dims; ++k) set.x.push_back(random.uniform(-5, 5));
  }
  return set;
}

TEST_CASE("catalog: points in the order of their clusters") {
  const std::vector<std::int32_t> labels{1, -1, 0, 1, 1, -1, 0};
  const ClusterOrder order = order_by_cluster(labels);
  REQUIRE(order.offsets == std::vector<std::uint64_t>{0, 2, 5});
  REQUIRE(std::vector<std::uint32_t>(order.points.begin(), order.points.end()) ==
          std::vector<std::uint32_t>{2, 6, 0, 3, 4});
  const std::vector<std::int32_t> sparse{2'000'000'000, -1, 7, 2'000'000'000, 1'999'999'999, 7};
  const Slices two(std::vector<std::uint64_t>{0, 3, 6}, 6);
  const ClusterOrder named = order_by_cluster(sparse, &two);
  REQUIRE(named.labels == std::vector<std::int32_t>{7, 2'000'000'000, 7, 1'999'999'999, 2'000'000'000});
  REQUIRE(named.slices == std::vector<std::uint64_t>{0, 2, 5});
  REQUIRE(std::vector<std::uint32_t>(named.points.begin(), named.points.end()) ==
          std::vector<std::uint32_t>{2, 0, 5, 4, 3});
  const std::vector<std::int32_t> none(5, -1);
  REQUIRE(order_by_cluster(none).clusters() == 0);
  REQUIRE(order_by_cluster({}).clusters() == 0);
  const std::vector<std::int32_t> bad{0, -2};
  REQUIRE_THROWS_WITH(order_by_cluster(bad), Contains("point 1 has the label -2"));
}

TEST_CASE("catalog: the plain counts, means, deviations and ends of every cluster") {
  for (const std::size_t n : {12UL, 500UL, 60'000UL}) {
    const std::int32_t clusters = n < 100 ? 5 : 7;
    const Set set = random_set(n, 3, clusters, n);
    const std::vector<NamedColumn> columns{{"v", set.column}};
    for (const bool weighted : {false, true}) {
      const Catalog made =
          catalog({.points = points_of(set.x, 3),
                   .metric = kPlain,
                   .labels = set.labels,
                   .core = set.core,
                   .weights = weighted ? std::span<const double>(set.weights) : std::span<const double>(),
                   .columns = columns});
      REQUIRE(made.count() == static_cast<std::size_t>(clusters));
      REQUIRE(made.weight.empty() == !weighted);
      for (std::int32_t c = 0; c < clusters; ++c) {
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < n; ++i) {
          if (set.labels[i] == c) members.push_back(i);
        }
        double total = 0;
        for (const std::size_t i : members) total += weighted ? set.weights[i] : 1;
        REQUIRE(made.cluster[c] == c);
        REQUIRE(made.size[c] == members.size());
        REQUIRE(made.first_core[c] == static_cast<std::uint64_t>(c));
        REQUIRE(static_cast<std::ptrdiff_t>(made.core[c]) ==
                std::count_if(members.begin(), members.end(), [&](std::size_t i) { return set.core[i] == 1; }));
        if (weighted) REQUIRE(near(made.weight[c], total));
        double inertia = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          double mean = 0, variance = 0, lower = 1e9, upper = -1e9;
          for (const std::size_t i : members) {
            mean += (weighted ? set.weights[i] : 1) * set.x[3 * i + k] / total;
            lower = std::min(lower, set.x[3 * i + k]);
            upper = std::max(upper, set.x[3 * i + k]);
          }
          for (const std::size_t i : members) {
            variance += (weighted ? set.weights[i] : 1) * std::pow(set.x[3 * i + k] - mean, 2) / total;
          }
          inertia += variance;
          REQUIRE(near(made.center[3 * c + k], mean));
          REQUIRE(near(made.spread[3 * c + k], std::sqrt(variance)));
          REQUIRE(near(made.lower[3 * c + k], lower));
          REQUIRE(near(made.upper[3 * c + k], upper));
        }
        REQUIRE(near(made.radius[c], std::sqrt(inertia)));
        double sum = 0, low = 1e9, high = -1e9;
        std::size_t count = 0;
        for (const std::size_t i : members) {
          if (std::isnan(set.column[i])) continue;
          sum += set.column[i];
          low = std::min(low, set.column[i]);
          high = std::max(high, set.column[i]);
          ++count;
        }
        REQUIRE(near(made.columns[0].sum[c], sum, 100));
        REQUIRE(near(made.columns[0].mean[c], sum / static_cast<double>(count)));
        REQUIRE(made.columns[0].min[c] == low);
        REQUIRE(made.columns[0].max[c] == high);
      }
    }
  }
}

TEST_CASE("catalog: a cluster across the faces of a box is in one piece") {
  Random random(3);
  const Metric metric{.box = {{-1, 9}, {0, 0}}};
  for (int round = 0; round < 200; ++round) {
    const double shift = random.uniform(-20, 20);
    const auto into_box = [](double x) { return x - 10 * std::floor((x + 1) / 10); };
    std::vector<double> x, plain;
    for (int i = 0; i < 20; ++i) {
      const double at = random.uniform(0, 4);
      x.insert(x.end(), {into_box(at + shift), at});
      plain.insert(plain.end(), {at, at});
    }
    const std::vector<std::int32_t> labels(20, 0);
    const Catalog made = catalog({.points = points_of(x, 2), .metric = metric, .labels = labels});
    const Catalog open = catalog({.points = points_of(plain, 2), .metric = kPlain, .labels = labels});
    REQUIRE(near(made.center[0], into_box(open.center[0] + shift), 10));
    REQUIRE(made.center[0] >= -1);
    REQUIRE(made.center[0] < 9);
    REQUIRE(near(made.upper[0] - made.lower[0], open.upper[0] - open.lower[0], 10));
    REQUIRE(near(made.center[0] - made.lower[0], open.center[0] - open.lower[0], 10));
    REQUIRE(near(made.spread[0], open.spread[0], 10));
    REQUIRE(near(made.radius[0], open.radius[0], 10));
    REQUIRE(made.center[1] == open.center[1]);
  }
}

TEST_CASE("catalog: a cluster over a pole, and one across the date line") {
  const Metric metric{.kind = MetricKind::greatcircle, .unit = ArcUnit::degree};
  const std::vector<double> pole{0, 88, 90, 88, 180, 88, -90, 88};
  const std::vector<std::int32_t> labels(4, 0);
  const Catalog over = catalog({.points = points_of(pole, 2), .metric = metric, .labels = labels});
  REQUIRE(near(over.center[1], 90));
  REQUIRE(near(over.radius[0], 2));
  REQUIRE(near(over.spread[0], std::sqrt(2.0)));
  REQUIRE(near(over.upper[1], 90));
  REQUIRE(near(over.lower[1], 88));
  REQUIRE(near(over.upper[0] - over.lower[0], 360));

  const std::vector<double> line{179, 10, -179, 10, 178, 12, -178, 12};
  const Catalog across = catalog({.points = points_of(line, 2), .metric = metric, .labels = labels});
  REQUIRE(near(std::abs(across.center[0]), 180, 360));
  REQUIRE(near(across.upper[0] - across.lower[0], 4, 360));
  REQUIRE(across.center[1] > 11);  // the mean direction lies north of the mean latitude
  REQUIRE(across.center[1] < 11.01);
  REQUIRE(near(across.lower[1], 10));
  REQUIRE(near(across.upper[1], 12));

  // If longitudes count from 0 to 360, centres do so too.
  const std::vector<double> east{359, 10, 1, 10, 358, 12, 2, 12};
  const Catalog counted = catalog({.points = points_of(east, 2), .metric = metric, .labels = labels});
  REQUIRE((near(counted.center[0], 0, 360) || near(counted.center[0], 360, 360)));
  const std::vector<double> apart{200, 10, 202, 10, 201, 12, 201, 8};
  REQUIRE(near(catalog({.points = points_of(apart, 2), .metric = metric, .labels = labels}).center[0], 201, 360));
}

TEST_CASE("catalog: radii are by the metric and in the unit of eps") {
  const std::vector<double> x{0, 0, 2, 0, 0, 2, 2, 2};
  const std::vector<std::int32_t> labels(4, 0);
  const auto radius = [&](const Metric& metric) {
    return catalog({.points = points_of(x, 2), .metric = metric, .labels = labels}).radius[0];
  };
  REQUIRE(near(radius({}), std::sqrt(2.0)));
  REQUIRE(near(radius({.scale = {1, 3}}), std::sqrt(10.0)));
  REQUIRE(near(radius({.kind = MetricKind::manhattan}), 2));
  REQUIRE(near(radius({.kind = MetricKind::chebyshev}), 1));
  REQUIRE(near(radius({.kind = MetricKind::minkowski, .power = 3}), std::cbrt(2.0)));
  const Metric kilometres{.kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre};
  REQUIRE(radius(kilometres) == Approx(std::sqrt(2.0) * kEarthRadius * std::numbers::pi / 180).epsilon(1e-3));
}

TEST_CASE("catalog: spreads and radii are right where squares leave float64, by any metric") {
  Random random(11);
  const Set set = random_set(300, 2, 3, 7);
  std::vector<double> turned = set.x;  // positive vectors for the cosine metric
  for (double& x : turned) x = std::abs(x) + 0.5;
  for (const Metric& metric :
       {Metric{}, Metric{.scale = {1, 3}}, Metric{.kind = MetricKind::manhattan}, Metric{.kind = MetricKind::chebyshev},
        Metric{.kind = MetricKind::minkowski, .power = 3}, Metric{.kind = MetricKind::minkowski, .power = 200},
        Metric{.kind = MetricKind::minkowski, .power = 5000}, Metric{.kind = MetricKind::cosine},
        Metric{.box = {{-5, 5}, {-5, 5}}}, Metric{.scale = {1, 3}, .box = {{-5, 5}, {0, 0}}}}) {
    const bool cosine = metric.kind == MetricKind::cosine;
    const std::vector<double>& x = cosine ? turned : set.x;
    const Catalog plain =
        catalog({.points = points_of(x, 2), .metric = metric, .labels = set.labels, .weights = set.weights});
    for (const double factor : {1e-300, 1e-162, 1e-160, 1e-100, 0x1p-600, 1e100, 1e160, 1e300}) {
      INFO(describe(metric) << ", times " << factor);
      std::vector<double> scaled = x;
      for (double& value : scaled) value *= factor;
      Metric of_scaled = metric;
      for (BoxSide& side : of_scaled.box) side = {side.lo * factor, side.hi * factor};
      const Catalog made =
          catalog({.points = points_of(scaled, 2), .metric = of_scaled, .labels = set.labels, .weights = set.weights});
      for (std::size_t c = 0; c < 3; ++c) {
        REQUIRE(made.radius[c] == Approx(plain.radius[c] * (cosine ? 1 : factor)).epsilon(1e-11).margin(0));
        for (std::size_t at = 2 * c; at < 2 * c + 2; ++at) {
          REQUIRE(made.spread[at] == Approx(plain.spread[at] * factor).epsilon(1e-11).margin(0));
        }
      }
    }
  }
}

TEST_CASE("catalog: a cluster may be narrow along one axis and wide along another, and clusters of any size") {
  const std::vector<double> x{0, 0, 2e-200, 2e200, 0, 1e-170, 4e-170, 1e-170, 3, 5, 3, 9};
  const std::vector<std::int32_t> labels{0, 0, 1, 1, 2, 2};
  const Catalog made = catalog({.points = points_of(x, 2), .metric = kPlain, .labels = labels});
  const std::vector<double> spreads{1e-200, 1e200, 2e-170, 0, 0, 2};
  for (std::size_t i = 0; i < 6; ++i) REQUIRE(made.spread[i] == Approx(spreads[i]).margin(0));
  REQUIRE(made.radius[0] == Approx(1e200));
  REQUIRE(made.radius[1] == Approx(2e-170).margin(0));
  REQUIRE(made.radius[2] == 2);
  // The points share one coordinate along the periodic side of the box and are close together along the open one.
  const Metric box{.box = {{0, 0}, {0, 8}}};
  const std::vector<double> narrow{0, 7, 4e-170, 7};
  REQUIRE(
      catalog({.points = points_of(narrow, 2), .metric = box, .labels = std::vector<std::int32_t>{0, 0}}).spread[0] ==
      Approx(2e-170).margin(0));
}

TEST_CASE("catalog: on a sphere, positions so close that squares of their distances underflow") {
  const Metric degrees{.kind = MetricKind::greatcircle, .unit = ArcUnit::degree};
  const std::vector<double> x{0, 0, 4e-170, 0, 0, 3e-170, 4e-170, 3e-170};
  const Catalog made =
      catalog({.points = points_of(x, 2), .metric = degrees, .labels = std::vector<std::int32_t>{0, 0, 0, 0}});
  REQUIRE(made.spread[0] == Approx(2e-170).margin(0));
  REQUIRE(made.spread[1] == Approx(1.5e-170).margin(0));
  REQUIRE(made.radius[0] == Approx(2.5e-170).margin(0));
}

TEST_CASE("catalog: points so far apart that their difference is no number are named") {
  const std::vector<double> x{0, -1.5e308, 0, 1.5e308, 1, 2};
  const std::vector<std::int32_t> labels{4, 4, 7};
  REQUIRE_THROWS_WITH(catalog({.points = points_of(x, 2), .metric = kPlain, .labels = labels}),
                      Contains("cluster 4") && Contains("column 1") && Contains("divide"));
}

TEST_CASE("catalog: slices have clusters of their own") {
  const std::vector<double> x{0, 1, 2, 10, 11, 5};
  const std::vector<std::int32_t> labels{0, 0, 1, 0, 0, -1};
  const std::vector<std::uint8_t> core{0, 1, 1, 1, 0, 0};
  const Slices slices(std::vector<std::uint64_t>{0, 3, 3, 6}, 6);
  const Catalog made =
      catalog({.points = points_of(x, 1), .metric = kPlain, .labels = labels, .core = core, .slices = &slices});
  REQUIRE(made.slice == std::vector<std::uint64_t>{0, 0, 2});
  REQUIRE(made.cluster == std::vector<std::int32_t>{0, 1, 0});
  REQUIRE(made.size == std::vector<std::uint64_t>{2, 1, 2});
  REQUIRE(made.first_core == std::vector<std::uint64_t>{1, 2, 3});
  REQUIRE(made.center == std::vector<double>{0.5, 2, 10.5});
  const TableColumn called{"time", std::vector<std::string>{"noon", "one", "two"}};
  const Table table = table_of(made, kPlain, {.slices = &called});
  REQUIRE(std::get<std::vector<std::string>>(table[0].values) == std::vector<std::string>{"noon", "noon", "two"});
  // The columns are the same without clusters.
  const std::vector<NamedColumn> columns{{"v", x}};
  for (const std::vector<std::int32_t>& given : {labels, std::vector<std::int32_t>(6, kNoise)}) {
    const Catalog all = catalog({.points = points_of(x, 1),
                                 .metric = kPlain,
                                 .labels = given,
                                 .core = core,
                                 .weights = x,
                                 .columns = columns,
                                 .slices = &slices});
    std::vector<std::string> names;
    for (const TableColumn& column : table_of(all, kPlain, {.slices = &called})) names.push_back(column.name);
    REQUIRE(names == std::vector<std::string>{"time", "cluster", "size", "core", "first_core", "weight_total",
                                              "x_center", "x_spread", "x_lower", "x_upper", "radius", "v_mean", "v_sum",
                                              "v_min", "v_max"});
  }
}

TEST_CASE("catalog: clusters without weight count as if they had none; what is wrong is named") {
  const std::vector<double> x{0, 4, 7};
  const std::vector<std::int32_t> labels{0, 0, -1};
  const std::vector<double> nothing{0, 0, 5};
  const Catalog made = catalog({.points = points_of(x, 1), .metric = kPlain, .labels = labels, .weights = nothing});
  REQUIRE(made.center[0] == 2);
  REQUIRE(made.weight[0] == 0);
  const auto with = [&](std::vector<double> weights) {
    return catalog({.points = points_of(x, 1), .metric = kPlain, .labels = labels, .weights = weights});
  };
  REQUIRE_THROWS_WITH(with({1, -1, 1}), Contains("point 1 has the weight -1"));
  REQUIRE_THROWS_WITH(with({1, std::numeric_limits<double>::quiet_NaN(), 1}), Contains("point 1"));
  REQUIRE_THROWS_WITH(with({1, 1}), Contains("3 points and 2 weights"));
  const std::vector<std::int32_t> short_labels{0};
  REQUIRE_THROWS_AS(catalog({.points = points_of(x, 1), .metric = kPlain, .labels = short_labels}), UsageError);
}

TEST_CASE("catalog: an engine on the CPU does not make those of points on a GPU") {
  const Engine engine({.backend = BackendChoice::cpu});
  const double somewhere = 0;
  const std::vector<std::int32_t> labels{0};
  const DeviceCatalogInput input{.points = DevicePointsView(&somewhere, 1, 1), .metric = kPlain, .labels = labels};
  REQUIRE_THROWS_WITH(engine.catalog(input), Contains("the points are on a GPU, and the engine works on the CPU"));
}

}  // namespace
}  // namespace epsflow
