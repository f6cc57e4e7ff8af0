#include <epsflow/index/layers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

std::uint64_t key_of(const Layers& layers, const DataSet& data, std::size_t i) {
  const LayersView view = layers.view();
  double scaled[kMostFunctions];
  if (data.precision == Precision::float32) {
    scaled_values(view, view.sorted, data.floats.data() + i * data.dims, scaled);
  } else {
    scaled_values(view, view.sorted, data.doubles.data() + i * data.dims, scaled);
  }
  for (std::uint32_t f = 0; f < view.sorted; ++f) {
    REQUIRE(view.functions[f].bin(scaled[f]) < view.functions[f].bins);
  }
  return layer_key(view, scaled);
}

void check_order(const DataSet& data, double eps, LayerKind kind) {
  const PivotOrder order(data.view(), eps, kind, CancelToken());
  const std::size_t n = data.size();
  REQUIRE(order.size() == n);
  std::vector<std::uint32_t> ids(order.order().begin(), order.order().end());
  std::sort(ids.begin(), ids.end());
  for (std::size_t i = 0; i < n; ++i) REQUIRE(ids[i] == i);

  REQUIRE(order.leaf_starts().size() == order.leaf_keys().size() + 1);
  REQUIRE(order.leaf_starts().back() == n);
  for (std::size_t leaf = 0; leaf < order.leaf_keys().size(); ++leaf) {
    if (leaf > 0) REQUIRE(order.leaf_keys()[leaf - 1] < order.leaf_keys()[leaf]);
    REQUIRE(order.leaf_starts()[leaf] < order.leaf_starts()[leaf + 1]);
    for (std::uint32_t p = order.leaf_starts()[leaf]; p < order.leaf_starts()[leaf + 1]; ++p) {
      REQUIRE(key_of(order.layers(), data, order.order()[p]) == order.leaf_keys()[leaf]);
      if (p > order.leaf_starts()[leaf]) REQUIRE(order.order()[p - 1] < order.order()[p]);
    }
  }
}

TEST_CASE("layers: points are in the order of their keys, then of their ids, for any data") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const DataSet data = test::random_data(seed, 300);
    Random random(seed);
    const double eps = test::make_eps(data, random);
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    check_order(data, eps, LayerKind::grid);
    check_order(data, eps, LayerKind::tree);
  }
}

TEST_CASE("layers: many dimensions, and more points than a sample has") {
  for (const std::size_t dims : {1, 7, 65}) {
    for (const std::string kind : {"uniform", "clustered", "all equal", "outlier 1e300"}) {
      INFO(kind << ", " << dims << "-D");
      const DataSet data = test::make_data(kind, 5000, dims, Precision::float64, dims);
      check_order(data, data.scale, LayerKind::grid);
      check_order(data, data.scale, LayerKind::tree);
    }
  }
}

TEST_CASE("layers: no function differs by more than the distance of two points") {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const DataSet data = test::random_data(seed, 60);
    if (data.size() < 2) continue;
    Random random(seed);
    const double eps = test::make_eps(data, random);
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    const Layers layers = choose_layers(layer_sample(data.view()), eps, LayerKind::tree, CancelToken());
    const LayersView view = layers.view();
    std::vector<double> scaled(data.size() * kMostFunctions);
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::vector<double> point(data.dims);
      for (std::size_t k = 0; k < data.dims; ++k) point[k] = data.view().at(i, k);
      scaled_values(view, view.count, point.data(), &scaled[i * kMostFunctions]);
    }
    for (std::size_t i = 0; i < data.size(); ++i) {
      for (std::size_t j = i; j < data.size(); ++j) {
        if (!(data.squared_distance(i, j) <= eps * eps)) continue;
        ++compared;
        for (std::uint32_t f = 0; f < view.count; ++f) {
          const LayerFunction& function = view.functions[f];
          const double a = scaled[i * kMostFunctions + f], b = scaled[j * kMostFunctions + f];
          REQUIRE(std::abs(a - b) <= 1 + function.error(a) + function.error(b));
          REQUIRE_FALSE(are_apart(interval_of(function, a, a), interval_of(function, b, b)));
        }
      }
    }
  }
  CHECK(compared > 10'000);
}

TEST_CASE("layers: a sample says which functions leave fewer pairs, and when none do") {
  const auto chosen = [](const DataSet& data, double eps) {
    const LayerSample sample = layer_sample(data.view());
    const LayersOfKind found = choose_layers_kind(sample, eps, CancelToken());
    if (found.index != IndexChoice::all) {
      const LayerKind kind = found.index == IndexChoice::grid ? LayerKind::grid : LayerKind::tree;
      CHECK(remaining_share(found.layers, sample) ==
            remaining_share(choose_layers(sample, eps, kind, CancelToken()), sample));
    }
    return found.index;
  };
  const DataSet nine = test::make_data("uniform", 4000, 9, Precision::float64, 3);
  CHECK(chosen(nine, nine.scale / 20) == IndexChoice::grid);
  CHECK(chosen(nine, nine.scale * 100) == IndexChoice::all);
  // Coordinates are 0 or 1, with a different share of ones in each point, so only distances separate the points.
  DataSet binary = test::make_data("uniform", 4000, 64, Precision::float64, 5);
  for (std::size_t i = 0; i < binary.size(); ++i) {
    const double share = binary.doubles[64 * i];
    for (std::size_t k = 0; k < 64; ++k) binary.doubles[64 * i + k] = binary.doubles[64 * i + k] < share ? 1 : 0;
  }
  CHECK(chosen(binary, 1) == IndexChoice::tree);
  CHECK(choose_layers_kind({}, 1, CancelToken()).index == IndexChoice::all);

  // Two far clumps leave half of the pairs, not counting a point with itself. One clump leaves all pairs.
  DataSet clumps = test::make_data("all equal", 256, 3, Precision::float64, 1);
  for (std::size_t i = 0; i < 128; ++i) clumps.doubles[3 * i] += 100;
  const LayerSample sample = layer_sample(clumps.view());
  CHECK(remaining_share(choose_layers(sample, 1, LayerKind::grid, CancelToken()), sample) == 127.0 / 255);
  CHECK(remaining_share(choose_layers(sample, 1000, LayerKind::grid, CancelToken()), sample) == 1);
}

TEST_CASE("layers: intervals are rounded outward") {
  for (const double x : {0.0, 1.0, 0.1, -0.1, 1e-60, -1e-60, 123456789.123, 0x1p30, -0x1p30, 1e300, -1e300}) {
    CHECK(static_cast<double>(float_below(x)) <= x);
    CHECK(static_cast<double>(float_above(x)) >= x);
    CHECK(static_cast<double>(std::nextafter(float_below(x), INFINITY)) > x);
  }
}

TEST_CASE("layers: the tree divides clusters at least as evenly as coordinates do") {
  const DataSet data = test::make_data("clustered", 20'000, 12, Precision::float64, 3);
  const PivotOrder grid(data.view(), data.scale, LayerKind::grid, CancelToken());
  const PivotOrder tree(data.view(), data.scale, LayerKind::tree, CancelToken());
  CHECK(tree.leaf_keys().size() * 2 > grid.leaf_keys().size());
}

TEST_CASE("layers: a cancelled build says so") {
  const DataSet data = test::make_data("uniform", 100, 9, Precision::float64, 1);
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(PivotOrder(data.view(), 1, LayerKind::tree, cancel), Cancelled);
}

}  // namespace
}  // namespace epsflow::index
