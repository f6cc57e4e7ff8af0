#include <epsflow/pipeline/selectivity.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/neighbors.hpp>

namespace epsflow::test {
namespace {

double mean_neighbors(std::uint64_t pairs, std::size_t n) {
  return static_cast<double>(pairs - n) / static_cast<double>(n);
}

TEST_CASE("selectivity: the oracle's where all points are counted, to the last bit, eps in any order") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const DataSet data = random_data(seed, 200);
    if (data.size() == 0) continue;
    std::vector<double> eps;
    for (int i = 0; i < 4; ++i) eps.push_back(searchable(make_eps(data, random)));
    INFO("seed " << seed << ", " << describe(data));
    const std::vector<Selectivity> found = selectivity(data.view(), eps);
    REQUIRE(found.size() == eps.size());
    for (std::size_t j = 0; j < eps.size(); ++j) {
      REQUIRE(found[j].eps == eps[j]);
      REQUIRE(found[j].neighbors == mean_neighbors(data.oracle(eps[j]).pairs(), data.size()));
      REQUIRE(found[j].error == 0);
    }
  }
}

TEST_CASE("selectivity: of every metric that of the table of neighbours") {
  const DataSet flat = make_data("clustered", 500, 2, Precision::float64, 5);
  std::vector<double> degrees;  // from -50 to 50
  for (const double x : flat.doubles) degrees.push_back(std::clamp(10 * x, -89.0, 89.0));
  const PointsView points(degrees, 2);
  const std::vector<Metric> metrics{{.kind = MetricKind::euclidean},
                                    {.kind = MetricKind::greatcircle},
                                    {.kind = MetricKind::cosine},
                                    {.kind = MetricKind::manhattan},
                                    {.kind = MetricKind::chebyshev},
                                    {.kind = MetricKind::minkowski, .power = 3},
                                    {.scale = {1, 0.5}},
                                    {.kind = MetricKind::manhattan, .box = {{-90, 90}, {-90, 90}}},
                                    {.box = {{-90, 90}, {0, 0}}}};
  for (const Metric& metric : metrics) {
    const Dataset data = Engine().load(points, metric);
    const std::vector<double> eps = metric.kind == MetricKind::cosine ? std::vector<double>{0.3, 0.001, 1.5, 2}
                                                                      : std::vector<double>{30, 0.5, 4, 170};
    INFO(describe_in_full(metric));
    for (const Selectivity& s : selectivity(data, eps)) {
      REQUIRE(s.neighbors == mean_neighbors(neighbors(data, s.eps).pairs(), points.size()));
    }
  }
}

TEST_CASE("selectivity: of a sample near the truth, as its error says") {
  std::size_t within = 0, beyond = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const DataSet data =
        make_data(seed % 2 == 0 ? "clustered" : "uniform", 2500, 1 + seed % 3, Precision::float64, seed);
    const Dataset loaded = Engine({.threads = 2}).load(data.view());
    const std::vector<double> eps{0.2, 0.4, 1};
    const std::vector<Selectivity> exact = selectivity(loaded, eps);
    for (const std::size_t sample : {2000, 700, 150}) {
      const std::vector<Selectivity> found = selectivity(loaded, eps, sample);
      for (std::size_t j = 0; j < eps.size(); ++j) {
        REQUIRE(exact[j].error == 0);
        REQUIRE(found[j].error > 0);
        const double off = std::abs(found[j].neighbors - exact[j].neighbors) / found[j].error;
        ++all;
        within += off <= 1 ? 1 : 0;
        beyond += off > 3 ? 1 : 0;
      }
    }
  }
  REQUIRE(within > all * 6 / 10);
  REQUIRE(beyond < all / 50);
}

TEST_CASE("selectivity: one sample for the same points, however many threads and whatever else is asked") {
  const DataSet data = make_data("clustered", 5000, 2, Precision::float64, 3);
  const std::vector<double> few{0.2}, many{1, 0.2, 0.05};
  const std::vector<Selectivity> one = selectivity(data.view(), few, 100, {.threads = 1});
  const std::vector<Selectivity> two = selectivity(data.view(), many, 100, {.threads = 2});
  REQUIRE(one[0].neighbors == two[1].neighbors);
  REQUIRE(one[0].error == two[1].error);
}

TEST_CASE("selectivity: no points, one point, nothing asked") {
  const std::vector<double> eps{0.5};
  REQUIRE(selectivity(PointsView(std::span<const double>(), 2), eps)[0].neighbors == 0);
  const std::vector<double> one{1, 2};
  REQUIRE(selectivity(PointsView(one, 2), eps)[0].neighbors == 0);
  REQUIRE(selectivity(PointsView(one, 1), std::span<const double>()).empty());
}

TEST_CASE("selectivity: what cannot be is an error, memory is the engine's, and a search can be cancelled") {
  const DataSet data = make_data("uniform", 20'000, 2, Precision::float64, 1);
  const Dataset loaded = Engine().load(data.view());
  const std::vector<double> good{0.1};
  for (const double wrong : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    const std::vector<double> eps{0.1, wrong};
    check_error<UsageError>({"eps"}, [&] { (void)selectivity(loaded, eps); });
  }
  check_error<UsageError>({"sample is 1", "2"}, [&] { (void)selectivity(loaded, good, 1); });
  const Dataset tight = Engine({.memory = 1 << 19}).load(data.view());
  check_error<ResourceError>({"the counts of neighbours"}, [&] { (void)selectivity(tight, good); });
  REQUIRE_THROWS_AS(selectivity(loaded, good, 100, {}, cancelled()), Cancelled);
}

}  // namespace
}  // namespace epsflow::test
