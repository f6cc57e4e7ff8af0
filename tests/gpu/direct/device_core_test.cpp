#include <epsflow/gpu/direct/device_core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/gpu.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/gpu/gpu_backend.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::Random;

/// Core points with any labels, and query points near and far from them.
struct Scene {
  std::size_t dims = 1;
  double eps = 1;
  std::vector<double> core;
  std::vector<std::int32_t> labels;
  std::vector<double> queries;

  [[nodiscard]] CoreView view() const { return {PointsView(std::span(core), dims), labels, eps}; }
  [[nodiscard]] Labels by(const EngineOptions& options) const {
    return predict(view(), PointsView(std::span(queries), dims), options);
  }
  [[nodiscard]] Labels by_definition() const {
    Labels expected(queries.size() / dims);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = kNoise;
      for (std::size_t c = 0; c < labels.size(); ++c) {
        if (!(test::oracle_squared_distance(&queries[i * dims], &core[c * dims], dims) <= eps * eps)) continue;
        expected[i] = expected[i] == kNoise ? labels[c] : std::min(expected[i], labels[c]);
      }
    }
    return expected;
  }
};

/// Predicts on the device only. Returns nothing if the device has no answer.
std::optional<Labels> by_device(const Scene& scene) {
  const auto backend = make_gpu_backend({.threads = 2});
  const auto device_core = backend->keep({PointsView(std::span(scene.core), scene.dims), scene.labels, scene.eps}, {});
  if (device_core == nullptr) return std::nullopt;
  return device_core->assign(scene.queries, {});
}

/// Returns the core points of a clustering of random data.
Scene clustered(const DataSet& data, double eps, std::uint32_t minpts, Random& random) {
  Scene scene{data.dims, eps, {}, {}, {}};
  const VariantResult r =
      run(data.view(), Sweep({{eps, minpts}}), {.threads = 2, .backend = BackendChoice::cpu}, {.core_mask = true})[0];
  data.view().visit([&](auto values) {
    for (std::size_t i = 0; i < r.labels.size(); ++i) {
      for (std::size_t k = 0; k < data.dims; ++k) {
        const double x = values[i * data.dims + k];
        if (r.core[i] != 0) scene.core.push_back(x);
        const double moved = x + eps * random.uniform(-1, 1);
        scene.queries.push_back(random.chance(0.3) || !std::isfinite(moved) ? x : moved);
      }
      if (r.core[i] != 0) scene.labels.push_back(r.labels[i]);
    }
  });
  return scene;
}

const EngineOptions kOnGpu{.threads = 2, .backend = BackendChoice::gpu};

TEST_CASE("device core: query points get what the definition says, in as many dimensions as there are") {
  if (!test::have_gpu()) return;
  std::size_t assigned = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const DataSet data = test::random_data(seed, 300);
    if (data.size() == 0) continue;
    Random random(seed);
    const double eps = test::searchable(test::make_eps(data, random));
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    const Scene scene = clustered(data, eps, 3, random);
    const Labels expected = scene.by_definition();
    REQUIRE(scene.by(kOnGpu) == expected);
    assigned +=
        static_cast<std::size_t>(std::count_if(expected.begin(), expected.end(), [](auto l) { return l >= 0; }));
  }
  CHECK(assigned > 1000);
}

TEST_CASE("device core: it is reused for many query points, few and none") {
  if (!test::have_gpu()) return;
  Random random(3);
  const DataSet data = test::make_data("clustered", 60'000, 2, Precision::float64, 5);
  const Scene scene = clustered(data, 0.05, 4, random);
  const Predictor predictor(scene.view(), kOnGpu);
  const Labels expected = scene.by({.threads = 2});
  for (int i = 0; i < 2; ++i) REQUIRE((predictor.predict(PointsView(std::span(scene.queries), 2)) == expected));
  const auto found = by_device(scene);
  REQUIRE(found.has_value());
  REQUIRE((*found == expected));
  REQUIRE(predictor.predict(PointsView(std::span(scene.queries).first(2), 2)) == Labels{expected[0]});
  REQUIRE(predictor.predict(PointsView(std::span<const double>(), 2)).empty());
}

TEST_CASE(
    "device core: core points of one cell with different labels, and points with gaps between them, are for the CPU") {
  if (!test::have_gpu()) return;
  Random random(4);
  for (const bool gaps : {false, true}) {
    Scene scene{2, 1, {}, {}, {}};
    for (int i = 0; i < 300; ++i) {
      scene.core.push_back(static_cast<double>(random.below(12)) / 4 + (gaps && i % 2 == 0 ? 1e12 : 0));
      scene.core.push_back(static_cast<double>(random.below(12)) / 4);
      scene.labels.push_back(static_cast<std::int32_t>(random.below(5)));
      scene.queries.push_back(random.uniform(-2, 5));
      scene.queries.push_back(random.uniform(-2, 5));
    }
    REQUIRE(scene.by(kOnGpu) == scene.by_definition());
    REQUIRE_FALSE(by_device(scene).has_value());
    scene.labels.back() = 0x7FFFFFFF;  // the device uses this value for "no label"
    REQUIRE(scene.by(kOnGpu) == scene.by_definition());
  }
}

TEST_CASE("device core: thousands of core points beside a query point") {
  if (!test::have_gpu()) return;
  // These are more core points than one thread tests, and most query points are just out of their reach.
  Scene scene{2, 1, {}, {}, {}};
  Random random(5);
  for (int i = 0; i < 40'000; ++i) {
    scene.core.push_back(random.uniform(0, 0.5));
    scene.core.push_back(random.uniform(0, 0.5));
    scene.labels.push_back(0);
  }
  for (int i = 0; i < 200; ++i) {
    scene.queries.push_back(random.uniform(1.3, 1.6));
    scene.queries.push_back(random.uniform(0, 0.5));
  }
  REQUIRE(scene.by(kOnGpu) == scene.by_definition());
}

TEST_CASE("device core: a coordinate that is not finite, too little memory, a cancelled run") {
  if (!test::have_gpu()) return;
  const Scene scene{2, 1, {0, 0, 1, 1}, {0, 0}, {0.5, NAN}};
  CHECK_THROWS_AS((void)scene.by(kOnGpu), InputError);
  CHECK_THROWS_AS((void)scene.by({.backend = BackendChoice::gpu, .gpu_memory = 8}), ResourceError);
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(Predictor(scene.view(), kOnGpu, {.cancel = &cancel}), Cancelled);
}

}  // namespace
}  // namespace epsflow::gpu
