#include <epsflow/pipeline/k_distance.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

std::vector<double> oracle(const DataSet& data, std::uint32_t k) {
  std::vector<double> found, others;
  for (std::size_t i = 0; i < data.size(); ++i) {
    others.clear();
    for (std::size_t j = 0; j < data.size(); ++j) {
      if (j != i) others.push_back(data.squared_distance(i, j));
    }
    std::nth_element(others.begin(), others.begin() + k - 1, others.end());
    found.push_back(std::sqrt(others[k - 1]));
  }
  return found;
}

TEST_CASE("k-distances: the oracle's, whatever the data") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const DataSet data = random_data(seed, 200);
    if (data.size() < 5) continue;
    INFO("seed " << seed << ", " << describe(data));
    REQUIRE(k_distances(data.view(), 4) == oracle(data, 4));
  }
}

TEST_CASE("k-distances: several k from one search are those of each") {
  const DataSet data = make_data("clustered", 300, 3, Precision::float32, 1);
  const Dataset loaded = Engine().load(data.view());
  const std::vector<std::uint32_t> ks{7, 1, 40, 7};
  const std::vector<double> found = k_distances(loaded, ks);
  REQUIRE(found.size() == data.size() * ks.size());
  for (std::size_t j = 0; j < ks.size(); ++j) {
    const std::vector<double> one = k_distances(loaded, ks[j]);
    for (std::size_t i = 0; i < data.size(); ++i) REQUIRE(found[i * ks.size() + j] == one[i]);
  }
  REQUIRE(k_distances(loaded, std::span<const std::uint32_t>()).empty());
}

TEST_CASE("k-distances: as many points are core for an eps as have their distance within it") {
  const DataSet data = make_data("clustered", 2000, 2, Precision::float64, 3);
  const Dataset loaded = Engine().load(data.view());
  constexpr std::uint32_t kMinpts = 5;
  const std::vector<double> distances = k_distances(loaded, kMinpts - 1);
  for (const double eps : {0.01, 0.05, 0.2, 1.0}) {
    const auto within = std::count_if(distances.begin(), distances.end(), [&](double d) { return d <= eps; });
    REQUIRE(run(loaded, Sweep({{eps, kMinpts}}))[0].summary.core == static_cast<std::uint64_t>(within));
  }
}

TEST_CASE("k-distances: distances are in the unit of the metric") {
  // 0°, 1° and 3° along the equator.
  const std::vector<double> places{0, 0, 1, 0, 3, 0};
  const PointsView points(std::span<const double>(places), 2);
  const Metric degrees{.kind = MetricKind::greatcircle};
  const std::vector<double> nearest = k_distances(points, 1, degrees);
  REQUIRE(nearest[0] == Approx(1).epsilon(1e-12));
  REQUIRE(nearest[2] == Approx(2).epsilon(1e-12));
  const Metric cosine{.kind = MetricKind::cosine};
  const std::vector<double> directions{1, 0, 0, 2, -3, 0};
  const std::vector<double> found = k_distances(PointsView(std::span<const double>(directions), 2), 2, cosine);
  REQUIRE(found[0] == Approx(2));
  REQUIRE(found[1] == Approx(1));
  const Metric box{.box = {{0, 10}, {0, 0}}};
  const std::vector<double> ends{0.5, 0, 9.75, 0, 5, 0};
  REQUIRE(k_distances(PointsView(std::span<const double>(ends), 2), 1, box)[0] == 0.75);
}

TEST_CASE("k-distances: a k that has no answer is an error that says which have one") {
  const DataSet data = make_data("uniform", 10, 2, Precision::float64, 1);
  for (const std::uint32_t k : {0U, 10U, 4000000000U}) {
    const std::string text = error_of<UsageError>([&] { (void)k_distances(data.view(), k); });
    check_mentions(text, {"k is " + std::to_string(k), "10 points", "1 to 9"});
  }
  const DataSet one = make_data("uniform", 1, 2, Precision::float64, 1);
  check_mentions(error_of<UsageError>([&] { (void)k_distances(one.view(), 1); }), {"1 point", "no other"});
  REQUIRE(k_distances(PointsView(std::span<const double>(), 2), 4).empty());
  REQUIRE(k_distances(data.view(), 9).size() == 10);
}

TEST_CASE("k-distances: memory is the engine's, and a search can be cancelled") {
  const DataSet data = make_data("uniform", 20'000, 2, Precision::float64, 1);
  const Dataset tight = Engine({.memory = 1 << 20}).load(data.view());
  check_mentions(error_of<ResourceError>([&] { (void)k_distances(tight, 4); }), {"the k-distances"});
  CancelToken cancel;
  cancel.cancel();
  const Dataset loaded = Engine().load(data.view());
  REQUIRE_THROWS_AS(k_distances(loaded, 4, {.cancel = &cancel}), Cancelled);
}

TEST_CASE("knee: where clusters end and noise begins, with duplicates and an outlier") {
  // 900 points of clusters at 1 to 1.5, 100 of noise at 20 to 40.
  std::vector<double> distances;
  for (int i = 0; i < 900; ++i) distances.push_back(1 + i / 1800.0);
  for (int i = 0; i < 100; ++i) distances.push_back(20 + i / 5.0);
  const Knee found = knee(distances);
  REQUIRE(found.distance == Approx(1.5).epsilon(1e-3));
  REQUIRE(found.share == Approx(0.9));
  distances.push_back(1e6);
  distances.insert(distances.end(), 50, 0.0);
  distances.push_back(std::numeric_limits<double>::infinity());
  REQUIRE(knee(distances).distance == found.distance);
}

TEST_CASE("knee: none where no curve is") {
  REQUIRE(std::isnan(knee({}).distance));
  REQUIRE(std::isnan(knee(std::vector<double>{1, 2}).distance));
  REQUIRE(std::isnan(knee(std::vector<double>{0, 0, 0, 0}).distance));
  REQUIRE(std::isnan(knee(std::vector<double>{3, 3, 3, 3}).distance));
}

TEST_CASE("quantiles of k-distances, and the range of eps") {
  std::vector<double> distances;
  for (int i = 1000; i > 0; --i) distances.push_back(i);
  const std::vector<double> shares{0, 0.001, 0.0011, 0.5, 1};
  REQUIRE(quantiles(distances, shares) == std::vector<double>{1, 1, 2, 500, 1000});
  REQUIRE(eps_range(distances).from == 10);
  REQUIRE(eps_range(distances).to == 990);
  distances.insert(distances.end(), 3000, 0.0);  // points that are core for every eps
  REQUIRE(eps_range(distances).from == 10);
  REQUIRE(eps_range(distances).to == 990);
  REQUIRE(eps_range(std::vector<double>{0, 0}).to == 0);
  REQUIRE(eps_range(std::vector<double>{2}).from == 2);
  REQUIRE_THROWS_AS(quantiles({}, shares), UsageError);
  REQUIRE_THROWS_AS(eps_range({}), UsageError);
}

}  // namespace
}  // namespace epsflow::test
