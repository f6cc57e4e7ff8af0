#include <epsflow/pipeline/predict.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/core_points.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

VariantResult cluster(PointsView points, double eps, std::uint32_t minpts, const Metric& metric = {}) {
  const Engine engine({.threads = 2, .backend = BackendChoice::cpu});
  return std::move(run(engine.load(points, metric), grid({eps}, {minpts}), {.core_mask = true}).front());
}

void check(const DataSet& data, double eps, Random& random) {
  for (const std::uint32_t minpts : {1U, 3U, 8U}) {
    const VariantResult result = cluster(data.view(), eps, minpts);
    const CorePoints core(data.view(), result);
    // Each point of the clustering gets its own label, also border points and noise.
    REQUIRE(predict(core.view(eps), data.view(), {.threads = 2}) == result.labels);
    // New points are predicted too.
    DataSet fresh{.dims = data.dims, .precision = data.precision};
    for (std::size_t i = 0; i < 200 * data.dims; ++i) {
      const double x = data.view().at(random.below(data.size()), i % data.dims);
      const double moved = x + eps * random.uniform(-0.5, 0.5);
      const bool single = data.precision == Precision::float32;
      fresh.doubles.push_back(std::isfinite(single ? static_cast<float>(moved) : moved) ? moved : x);
    }
    fresh.floats.assign(fresh.doubles.begin(), fresh.doubles.end());
    const Labels found = predict(core.view(eps), fresh.view(), {.threads = 1});
    REQUIRE(found == oracle_predict(core.view(eps), fresh.view()));
  }
}

TEST_CASE("predict: the lowest cluster among the core points within eps") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const DataSet data = random_data(seed, 300);
    if (data.size() == 0) continue;
    Random random(seed);
    const double eps = searchable(make_eps(data, random));
    INFO("seed " << seed << ", " << describe(data) << ", eps " << eps);
    check(data, eps, random);
  }
}

TEST_CASE("predict: in many dimensions, and by every metric") {
  struct Case {
    std::size_t dims;
    double eps;
    Metric metric;
  };
  const Case cases[] = {{12, 1.4, {}},
                        {2, 9, {.kind = MetricKind::greatcircle}},
                        {2, 700, {.kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre}},
                        {2, 0.1, {.kind = MetricKind::haversine}},
                        {5, 0.05, {.kind = MetricKind::cosine}},
                        {3, 0.05, {.scale = {1, 0.1, 0.5}}}};
  for (const Case& c : cases) {
    INFO(c.dims << "-D, " << describe(c.metric));
    Random random(c.dims);
    std::vector<double> values;
    for (std::size_t i = 0; i < 400 * c.dims; ++i) {
      const double range = c.metric.kind == MetricKind::greatcircle ? (i % 2 == 0 ? 180 : 90) : 1;
      values.push_back(random.uniform(-range, range));
    }
    const PointsView view(values, c.dims);
    const VariantResult result = cluster(view, c.eps, 4, c.metric);
    CHECK(result.summary.clusters > 0);
    CHECK(result.summary.noise > 0);
    CHECK(predict(CorePoints(view, result).view(c.eps, c.metric), view) == result.labels);
  }
}

TEST_CASE("predict: points of another precision than the core points, none of either") {
  const std::vector<double> core{0.1, 0.2};
  const std::vector<float> fresh{0.1F, 0.2F, 9.0F};
  const std::vector<std::int32_t> labels{0, 1};
  const CoreView view{PointsView(core, 1), labels, 1e-8};
  const Labels expected{0, 1, kNoise};  // 0.1 and 0.2 in float32 are off by about 1e-9
  CHECK(predict(view, PointsView(fresh, 1)) == expected);
  CHECK(predict(view, PointsView(std::span<const float>(), 1)).empty());
  const CoreView none{PointsView(std::span<const double>(), 1), {}, 1};
  CHECK(predict(none, PointsView(fresh, 1)) == Labels{kNoise, kNoise, kNoise});
}

TEST_CASE("predictor: stored core points give the same labels again and again, far from them too") {
  for (const std::size_t dims : {1U, 2U, 3U, 6U, 7U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = make_data("clustered", 500, dims, precision, dims);
      INFO(describe(data));
      const VariantResult result = cluster(data.view(), data.scale, 3);
      const std::vector<double> values = widened(data.view());
      CorePoints core(PointsView(values, dims), result);
      REQUIRE(!core.labels.empty());
      std::optional<const Predictor> made;
      made.emplace(core.view(data.scale), EngineOptions{.threads = 2});
      const Predictor predictor = *made;
      made.reset();
      std::vector<double> far(3 * dims, 1e300);
      for (std::size_t k = 0; k < dims; ++k) {
        far[k] = -1e300;
        far[2 * dims + k] = core.points.view().at(0, k);  // one of the core points
      }
      const std::int32_t first = core.labels.front();
      std::ranges::fill(core.points.values<double>(), 0.0);  // the predictor must not refer to the caller's arrays
      std::ranges::fill(core.labels, 0);
      for (int i = 0; i < 2; ++i) {
        REQUIRE(predictor.predict(data.view()) == result.labels);
        REQUIRE(predictor.predict(PointsView(far, dims)) == Labels{kNoise, kNoise, first});
      }
      REQUIRE(predictor.predict(PointsView(std::span<const double>(), dims)).empty());
      const std::vector<double> wide(dims + 1);
      check_error<UsageError>({std::to_string(dims + 1) + " dimensions", "same columns"},
                              [&] { (void)predictor.predict(PointsView(wide, dims + 1)); });
    }
  }
}

TEST_CASE("predictor: at the borders of cells and of the extent, and core points with gaps between them") {
  Random random(9);
  for (const bool gaps : {false, true}) {
    std::vector<double> core;
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 200; ++i) {
      // With gaps, an axis is longer than the largest number of slots.
      core.push_back(static_cast<double>(random.below(40)) + (gaps && i % 2 == 0 ? 1e12 : 0));
      core.push_back(static_cast<double>(random.below(40)));
      labels.push_back(i / 20);
    }
    const CoreView view{PointsView(core, 2), labels, 1};
    const Predictor predictor(view, {.threads = 1});
    std::vector<double> fresh;
    for (int i = 0; i < 4000; ++i) {
      fresh.push_back(static_cast<double>(random.below(88)) / 2 - 2 + (gaps && i % 2 == 0 ? 1e12 : 0));
      fresh.push_back(static_cast<double>(random.below(88)) / 2 - 2);
    }
    REQUIRE(predictor.predict(PointsView(fresh, 2)) == oracle_predict(view, PointsView(fresh, 2)));
  }
}

TEST_CASE("predict: what cannot be is refused") {
  const std::vector<double> values{0, 1, 2, 3};
  const PointsView two(values, 2);
  const PointsView one(values, 1);
  const std::vector<std::int32_t> labels{0, 1}, noise{0, -1};
  const auto refusal = [](const CoreView& core, PointsView points, const EngineOptions& options = {}) {
    return error_of<UsageError>([&] { (void)predict(core, points, options); });
  };
  check_mentions(refusal({two, labels, 0}, two), {"eps"});
  check_mentions(refusal({one, labels, 1}, one), {"4 core points", "2 labels"});
  check_mentions(refusal({two, labels, 1}, one), {"1 dimensions", "2"});
  check_mentions(refusal({two, noise, 1}, two), {"core point 1", "-1"});
  for (const EngineOptions& on_gpu :
       {EngineOptions{.backend = BackendChoice::gpu}, EngineOptions{.gpu = 0}, EngineOptions{.gpu_memory = 1_GiB}}) {
    // With these options, predict() succeeds or throws the error that an engine throws.
    const auto refused = [](const auto& work) -> std::string {
      try {
        work();
      } catch (const Error& e) {
        return e.what();
      }
      return "";
    };
    Labels found{0, 1};
    CHECK(refused([&] { found = predict({two, labels, 1}, two, on_gpu); }) == refused([&] { Engine{on_gpu}; }));
    CHECK(found == Labels{0, 1});
  }
  const std::vector<double> bad{0, NAN};
  CHECK_THROWS_AS((void)predict({two, labels, 1}, PointsView(bad, 2)), InputError);
  CHECK_THROWS_AS((void)predict({two, labels, 1}, two, {.memory = 100}), ResourceError);
  CHECK_THROWS_AS((void)predict({two, labels, 1}, two, {}, cancelled()), Cancelled);
}

}  // namespace
}  // namespace epsflow::test
