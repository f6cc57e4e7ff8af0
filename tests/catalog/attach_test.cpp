#include <epsflow/catalog/attach.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/pipeline/on_threads.hpp>

namespace epsflow {
namespace {

using Catch::Contains;
using test::Random;

PointsView view(const std::vector<double>& x, std::size_t dims) { return {std::span<const double>(x), dims}; }

/// Returns integers: many distances are equal, and all are exact.
std::vector<double> on_a_lattice(std::size_t count, int side, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(std::floor(random.uniform(0, side)));
  return x;
}

/// Attaches points by the definition, for the Euclidean norm in a box with integer sides. There is no box if side is 0.
std::vector<std::int32_t> expected(const std::vector<double>& linked, const std::vector<std::int32_t>& labels,
                                   const std::vector<double>& others, std::size_t dims, double length, double side) {
  std::vector<std::int32_t> found;
  for (std::size_t i = 0; i < others.size() / dims; ++i) {
    double least = length * length;
    std::int32_t label = kNoise;
    bool any = false;
    for (std::size_t j = 0; j < labels.size(); ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < dims; ++k) {
        double t = std::abs(others[i * dims + k] - linked[j * dims + k]);
        if (side > 0) t = std::min(t, side - t);
        sum += t * t;
      }
      if (sum > least || (any && sum == least)) continue;
      any = true;
      least = sum;
      label = labels[j];
    }
    found.push_back(label);
  }
  return found;
}

TEST_CASE("attach: the nearest linked point within the linking length, of equally near ones the first") {
  const std::size_t dims = GENERATE(range(std::size_t{1}, std::size_t{5}));
  const bool closed = GENERATE(false, true);
  const int side = dims == 1 ? 2000 : dims == 2 ? 60 : 14;
  const std::vector<double> linked = on_a_lattice(700 * dims, side, 3);
  const std::vector<double> others = on_a_lattice(900 * dims, side, 4);
  std::vector<std::int32_t> labels;
  for (std::int32_t i = 0; i < 700; ++i) labels.push_back(i % 7 == 0 ? kNoise : i);
  Metric metric;
  if (closed) metric.box.assign(dims, {0, static_cast<double>(side)});
  for (const double length : {1.0, 2.0, 3.5}) {
    const auto found = attach({view(linked, dims), labels, view(others, dims), metric, length});
    CHECK(found == expected(linked, labels, others, dims, length, closed ? side : 0));
    CHECK(std::ranges::any_of(found, [](std::int32_t label) { return label >= 0; }));
  }
}

TEST_CASE("attach: float32, a sphere, another norm, and the label of none") {
  const std::vector<float> single{1.5F, 2.5F};
  const std::vector<double> others{1.0, 2.0, 9.0};
  const std::vector<std::int32_t> labels{4, 5};
  const Metric plain;
  const PointsView linked(std::span<const float>(single), 1);
  CHECK(attach({linked, labels, view(others, 1), plain, 0.5, 2147483647}) ==
        std::vector<std::int32_t>{4, 4, 2147483647});
  const std::vector<double> sky{0, 89, 10, 0};
  const std::vector<double> near_sky{180, 89, 11.5, 0};
  Metric sphere;
  sphere.kind = MetricKind::greatcircle;
  sphere.unit = ArcUnit::degree;
  CHECK(attach({view(sky, 2), labels, view(near_sky, 2), sphere, 2.01}) == std::vector<std::int32_t>{4, 5});
  const std::vector<double> corner{0, 0, 3, 0};
  const std::vector<double> point{2, 2};
  Metric manhattan;
  manhattan.kind = MetricKind::manhattan;
  CHECK(attach({view(corner, 2), labels, view(point, 2), manhattan, 3}) == std::vector<std::int32_t>{5});
  CHECK(attach({view(corner, 2), labels, view(point, 2), plain, 3}) == std::vector<std::int32_t>{5});
}

TEST_CASE("attach: nothing to attach, nothing that is linked, and what cannot be") {
  const std::vector<double> two{1, 2};
  const std::vector<double> none;
  const std::vector<std::int32_t> labels{0, 0};
  const Metric plain;
  CHECK(attach({view(two, 1), labels, view(none, 1), plain, 1}).empty());
  CHECK(attach({view(none, 1), {}, view(two, 1), plain, 1}) == std::vector<std::int32_t>{kNoise, kNoise});
  CHECK_THROWS_WITH(attach({view(two, 1), {}, view(two, 1), plain, 1}), Contains("2 linked points and 0 labels"));
  CHECK_THROWS_WITH(attach({view(two, 1), labels, view(two, 2), plain, 1}), Contains("2 columns"));
  CHECK_THROWS_WITH(attach({view(two, 1), labels, view(two, 1), plain, -1}), Contains("eps"));
  const std::vector<double> nan{1, std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_WITH(attach({view(two, 1), labels, view(nan, 1), plain, 1}), Contains("row 1"));
  Metric box;
  box.box = {{0, 1.5}};
  CHECK_THROWS_WITH(attach({view(two, 1), labels, view(two, 1), box, 0.5}), Contains("outside the box"));
}

TEST_CASE("attach: options say how much memory it may take, and that it works on the CPU") {
  const std::vector<double> linked(1000, 1.0);
  const std::vector<std::int32_t> labels(1000, 5);
  const std::vector<double> others{1.5, 9};
  const Metric metric;
  const AttachInput input{view(linked, 1), labels, view(others, 1), metric, 1};
  CHECK(attach(input, EngineOptions{.memory = 1_GiB, .threads = 1}) == std::vector<std::int32_t>{5, kNoise});
  CHECK_THROWS_WITH(attach(input, EngineOptions{.memory = 20000}),
                    Contains("linked and other points") && Contains("EngineOptions::memory"));
  CHECK_THROWS_WITH(attach(input, EngineOptions{.backend = BackendChoice::gpu}), Contains("attach()"));
}

}  // namespace
}  // namespace epsflow
