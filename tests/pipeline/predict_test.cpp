#include <epsflow/pipeline/predict.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow {
namespace {

using test::DataSet;
using test::Random;

/// The core points of a result, copied from its values.
template <class T>
struct Core {
  Core(const std::vector<T>& values, std::size_t d, const VariantResult& result) : dims(d) {
    for (std::size_t i = 0; i < result.core.size(); ++i) {
      if (result.core[i] == 0) continue;
      points.insert(points.end(), values.begin() + static_cast<std::ptrdiff_t>(i * dims),
                    values.begin() + static_cast<std::ptrdiff_t>((i + 1) * dims));
      labels.push_back(result.labels[i]);
    }
  }
  [[nodiscard]] CoreView view(double eps, const Metric& metric = {}) const {
    return {PointsView(std::span<const T>(points), dims), labels, eps, metric};
  }

  std::size_t dims;
  std::vector<T> points;
  std::vector<std::int32_t> labels;
};

VariantResult cluster(PointsView points, double eps, std::uint32_t minpts, const Metric& metric = {}) {
  const Engine engine({.threads = 2, .backend = BackendChoice::cpu});
  return std::move(run(engine.load(points, metric), grid({eps}, {minpts}), {.core_mask = true}).front());
}

template <class T>
void check(const DataSet& data, const std::vector<T>& values, double eps, Random& random) {
  for (const std::uint32_t minpts : {1U, 3U, 8U}) {
    const VariantResult result = cluster(data.view(), eps, minpts);
    const Core<T> core(values, data.dims, result);
    // Each point of the clustering gets its own label, also border points and noise.
    REQUIRE(predict(core.view(eps), data.view(), {.threads = 2}) == result.labels);
    // New points are predicted too.
    std::vector<T> fresh;
    for (std::size_t i = 0; i < 200 * data.dims && !values.empty(); ++i) {
      const T x = values[random.below(values.size() / data.dims) * data.dims + i % data.dims];
      const T moved = static_cast<T>(x + static_cast<T>(eps * random.uniform(-0.5, 0.5)));
      fresh.push_back(std::isfinite(moved) ? moved : x);
    }
    const Labels found = predict(core.view(eps), PointsView(std::span<const T>(fresh), data.dims), {.threads = 1});
    REQUIRE(found.size() == fresh.size() / data.dims);
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::int32_t expected = kNoise;
      for (std::size_t c = 0; c < core.labels.size(); ++c) {
        if (!(test::oracle_squared_distance(&fresh[i * data.dims], &core.points[c * data.dims], data.dims) <=
              eps * eps))
          continue;
        if (expected == kNoise || core.labels[c] < expected) expected = core.labels[c];
      }
      REQUIRE(found[i] == expected);
    }
  }
}

TEST_CASE("predict: the lowest cluster among the core points within eps") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const DataSet data = test::random_data(seed, 300);
    if (data.size() == 0) continue;
    Random random(seed);
    const double eps = test::searchable(test::make_eps(data, random));
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    if (data.precision == Precision::float32) {
      check(data, data.floats, eps, random);
    } else {
      check(data, data.doubles, eps, random);
    }
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
    const PointsView view(std::span<const double>(values), c.dims);
    const VariantResult result = cluster(view, c.eps, 4, c.metric);
    CHECK(result.summary.clusters > 0);
    CHECK(result.summary.noise > 0);
    const Core<double> core(values, c.dims, result);
    CHECK(predict(core.view(c.eps, c.metric), view) == result.labels);
  }
}

TEST_CASE("predict: points of another precision than the core points, none of either") {
  const std::vector<double> core{0.1, 0.2};
  const std::vector<float> fresh{0.1F, 0.2F, 9.0F};
  const std::vector<std::int32_t> labels{0, 1};
  const CoreView view{PointsView(std::span<const double>(core), 1), labels, 1e-8};
  const Labels expected{0, 1, kNoise};  // 0.1 and 0.2 in float32 are off by about 1e-9
  CHECK(predict(view, PointsView(std::span<const float>(fresh), 1)) == expected);
  CHECK(predict(view, PointsView(std::span<const float>(), 1)).empty());
  const CoreView none{PointsView(std::span<const double>(), 1), {}, 1};
  CHECK(predict(none, PointsView(std::span<const float>(fresh), 1)) == Labels{kNoise, kNoise, kNoise});
}

TEST_CASE("predictor: kept core points give the same labels again and again, far from them too") {
  for (const std::size_t dims : {1U, 2U, 3U, 6U, 7U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = test::make_data("clustered", 500, dims, precision, dims);
      INFO(test::describe(data));
      const VariantResult result = cluster(data.view(), data.scale, 3);
      std::vector<double> core;
      std::vector<std::int32_t> labels;
      for (std::size_t i = 0; i < data.size(); ++i) {
        if (result.core[i] == 0) continue;
        for (std::size_t k = 0; k < dims; ++k) core.push_back(data.view().at(i, k));
        labels.push_back(result.labels[i]);
      }
      REQUIRE(!labels.empty());
      std::optional<const Predictor> made;
      made.emplace(CoreView{PointsView(std::span<const double>(core), dims), labels, data.scale},
                   EngineOptions{.threads = 2});
      const Predictor kept = *made;
      made.reset();
      std::vector<double> far(3 * dims, 1e300);
      for (std::size_t k = 0; k < dims; ++k) {
        far[k] = -1e300;
        far[2 * dims + k] = core[k];  // one of the core points
      }
      const std::vector<std::int32_t> given = labels;
      core.assign(core.size(), 0);  // the predictor must not refer to the caller's arrays
      labels.assign(labels.size(), 0);
      for (int i = 0; i < 2; ++i) {
        REQUIRE(kept.predict(data.view()) == result.labels);
        REQUIRE(kept.predict(PointsView(std::span<const double>(far), dims)) == Labels{kNoise, kNoise, given.front()});
      }
      REQUIRE(kept.predict(PointsView(std::span<const double>(), dims)).empty());
      const std::vector<double> wide(dims + 1);
      test::check_mentions(
          test::error_of<UsageError>([&] { (void)kept.predict(PointsView(std::span<const double>(wide), dims + 1)); }),
          {std::to_string(dims + 1) + " dimensions", "same columns"});
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
    const Predictor kept({PointsView(std::span<const double>(core), 2), labels, 1}, {.threads = 1});
    std::vector<double> fresh;
    for (int i = 0; i < 4000; ++i) {
      fresh.push_back(static_cast<double>(random.below(88)) / 2 - 2 + (gaps && i % 2 == 0 ? 1e12 : 0));
      fresh.push_back(static_cast<double>(random.below(88)) / 2 - 2);
    }
    const Labels found = kept.predict(PointsView(std::span<const double>(fresh), 2));
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::int32_t expected = kNoise;
      for (std::size_t c = 0; c < labels.size(); ++c) {
        if (test::oracle_squared_distance(&fresh[2 * i], &core[2 * c], 2) > 1) continue;
        expected = expected == kNoise ? labels[c] : std::min(expected, labels[c]);
      }
      REQUIRE(found[i] == expected);
    }
  }
}

TEST_CASE("predict: what cannot be is refused") {
  const std::vector<double> values{0, 1, 2, 3};
  const PointsView two(std::span<const double>(values), 2);
  const PointsView one(std::span<const double>(values), 1);
  const std::vector<std::int32_t> labels{0, 1}, noise{0, -1};
  const auto refusal = [](const CoreView& core, PointsView points, const EngineOptions& options = {}) {
    return test::error_of<UsageError>([&] { (void)predict(core, points, options); });
  };
  test::check_mentions(refusal({two, labels, 0}, two), {"eps"});
  test::check_mentions(refusal({one, labels, 1}, one), {"4 core points", "2 labels"});
  test::check_mentions(refusal({two, labels, 1}, one), {"1 dimensions", "2"});
  test::check_mentions(refusal({two, noise, 1}, two), {"core point 1", "-1"});
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
  CHECK_THROWS_AS((void)predict({two, labels, 1}, PointsView(std::span<const double>(bad), 2)), InputError);
  CHECK_THROWS_AS((void)predict({two, labels, 1}, two, {.memory = 100}), ResourceError);
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS((void)predict({two, labels, 1}, two, {}, {.cancel = &cancel}), Cancelled);
}

}  // namespace
}  // namespace epsflow
