// Compares catalogues that are made on the GPU with those made on the host.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gpu/catalog/catalog_sets.hpp"
#include "support/catch.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/gpu/base/stream.hpp>
#include <epsflow/gpu/catalog/catalog_tuning.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::gpu {
namespace {

using Catch::Contains;
using test::host_catalog;
using test::Parts;
using test::Random;
using test::random_set;
using test::require_equal_counts;
using test::require_near;
using test::require_same_bits;
using test::same_bits;
using test::Set;

/// Holds values in device memory of its own, `shift` bytes after an aligned address.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values, std::size_t shift = 0) : size_(values.size()), shift_(shift) {
    check(cudaMalloc(&memory_, size_ * sizeof(T) + shift + 1));
    check(
        cudaMemcpy(static_cast<std::byte*>(memory_) + shift, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { (void)cudaFree(memory_); }

  [[nodiscard]] const T* data() const {
    return reinterpret_cast<const T*>(static_cast<const std::byte*>(memory_) + shift_);
  }
  [[nodiscard]] std::span<const T> span() const { return {data(), size_}; }

 private:
  void* memory_ = nullptr;
  std::size_t size_;
  std::size_t shift_;
};

Catalog device_catalog(const Engine& engine, const Set& set, const Metric& metric, Parts parts) {
  const OnDevice<double> x(set.x);
  const OnDevice<std::int32_t> labels(set.labels);
  const OnDevice<std::uint8_t> core(set.core);
  const OnDevice<double> weights(set.weights), column(set.column);
  std::vector<NamedColumn> columns;
  if (parts.columns) columns = {{"v", column.span()}, {"mass", set.column, true}};  // the second column is on the host
  return engine.catalog({.points = DevicePointsView(x.data(), set.size(), set.dims),
                         .metric = metric,
                         .labels = labels.span(),
                         .core = parts.core ? core.span() : std::span<const std::uint8_t>(),
                         .weights = parts.weights ? weights.span() : std::span<const double>(),
                         .columns = columns});
}

Engine make_engine() { return Engine({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0}); }

TEST_CASE("gpu catalog: as on the host, the same from run to run") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  constexpr std::size_t kLarge = 5 * tuning::kCatalogPiece;  // the first cluster spans several pieces
  for (const std::size_t dims : {1U, 2U, 3U, 4U, 5U, 9U}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{70}, kLarge}) {
      for (const std::int32_t clusters : {0, 1, 40, 3000}) {
        const Set set = random_set(n, dims, clusters, n + dims + static_cast<std::size_t>(clusters));
        for (const Parts parts : {Parts{}, Parts{.weights = true, .columns = true}, Parts{.core = false}}) {
          INFO("n " << n << ", d " << dims << ", clusters " << clusters << ", weights " << parts.weights);
          const Catalog made = device_catalog(engine, set, {}, parts);
          const Catalog expected = host_catalog(set, {}, parts);
          require_near(made, expected, 5);
          REQUIRE(same_bits(made.lower, expected.lower));
          REQUIRE(same_bits(made.upper, expected.upper));
          require_same_bits(made, device_catalog(engine, set, {}, parts));
        }
      }
    }
  }
}

TEST_CASE("gpu catalog: bit for bit where sums are exact") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  Set set = random_set(1 << 14, 3, 200, 5, true);
  // The clusters have 1, 2, 4, … points.
  std::size_t i = 0;
  for (std::int32_t c = 0; c < 14; ++c) {
    for (std::size_t left = std::size_t{1} << c; left > 0; --left) set.labels[i++] = c;
  }
  for (; i < set.size(); ++i) set.labels[i] = kNoise;
  const Catalog made = device_catalog(engine, set, {}, {.columns = true});
  const Catalog expected = host_catalog(set, {}, {.columns = true});
  require_equal_counts(made, expected);
  REQUIRE(same_bits(made.center, expected.center));
  REQUIRE(same_bits(made.columns[0].sum, expected.columns[0].sum));
  REQUIRE(same_bits(made.columns[0].mean, expected.columns[0].mean));
  const Catalog weighted = device_catalog(engine, set, {}, {.weights = true, .columns = true});
  const Catalog as_weighted = host_catalog(set, {}, {.weights = true, .columns = true});
  REQUIRE(same_bits(weighted.weight, as_weighted.weight));
  REQUIRE(same_bits(weighted.columns[1].mean, as_weighted.columns[1].mean));
}

TEST_CASE("gpu catalog: large clusters, and a single one of all points") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  for (const std::int32_t clusters : {1, 3}) {
    Set set = random_set(100'000, 3, clusters, 8);
    if (clusters == 1) std::ranges::fill(set.labels, 0);
    const Parts parts{.weights = true, .columns = true};
    const Catalog made = device_catalog(engine, set, {}, parts);
    require_near(made, host_catalog(set, {}, parts), 5);
    require_same_bits(made, device_catalog(engine, set, {}, parts));
  }
  // A cluster has exactly one piece, and one point more.
  for (const std::size_t n : {std::size_t{tuning::kCatalogPiece}, std::size_t{tuning::kCatalogPiece} + 1}) {
    Set set = random_set(n, 2, 1, n);
    std::ranges::fill(set.labels, 0);
    require_near(device_catalog(engine, set, {}, {}), host_catalog(set, {}, {}), 5);
  }
}

TEST_CASE("gpu catalog: clusters across the faces of a box") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  Random random(4);
  for (const bool open : {false, true}) {
    const Metric metric{.box = {{-1, 9}, open ? BoxSide{} : BoxSide{0, 20}, {2, 5}}};
    Set set{.dims = 3};
    for (std::int32_t c = 0; c < 300; ++c) {
      const double at[] = {random.uniform(-1, 9), random.uniform(0, 20), random.uniform(2, 5)};
      const std::size_t size = c == 7 ? 3000 : 1 + random.below(60);
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
          double x = at[k] + 0.3 * random.bell();
          const BoxSide side = metric.box[k];
          if (side.closed()) {
            const double length = side.hi - side.lo;
            x = std::clamp(x - length * std::floor((x - side.lo) / length), side.lo, side.hi);
          }
          set.x.push_back(x);
        }
        set.labels.push_back(c);
        set.core.push_back(1);
        set.weights.push_back(random.uniform(0, 2));
      }
    }
    for (const bool weights : {false, true}) {
      const Catalog made = device_catalog(engine, set, metric, {.weights = weights});
      const Catalog expected = host_catalog(set, metric, {.weights = weights});
      require_near(made, expected, 20);
      require_same_bits(made, device_catalog(engine, set, metric, {.weights = weights}));
      std::size_t across = 0;
      for (std::size_t at = 0; at < made.lower.size(); at += 3) across += made.lower[at] < -1 || made.upper[at] > 9;
      REQUIRE(across > 10);
    }
  }
  // The points surround the whole period: there is no mean direction, and the first point becomes the centre.
  Set ring{.dims = 1};
  for (int i = 0; i < 8; ++i) ring.x.push_back(i);
  ring.labels.assign(8, 0);
  ring.core.assign(8, 1);
  ring.weights.assign(8, 1);
  const Metric metric{.box = {{0, 8}}};
  const Catalog made = device_catalog(engine, ring, metric, {});
  REQUIRE(made.center == std::vector<double>{0});
  require_near(made, host_catalog(ring, metric, {}), 8);
}

TEST_CASE("gpu catalog: on the sphere, poles and the date line included") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  Random random(6);
  for (const bool from_0 : {false, true}) {
    for (const bool latitude_first : {false, true}) {
      const Metric metric{
          .kind = MetricKind::greatcircle, .unit = ArcUnit::kilometre, .latitude_first = latitude_first};
      Set set{.dims = 2};
      const double middles[][2] = {{10, 89.5}, {-170, -89.9}, {179.9, 10}, {0.05, -30}, {77, 45}};
      for (std::int32_t c = 0; c < 5; ++c) {
        for (int i = 0; i < (c == 1 ? 2500 : 40); ++i) {
          double lon = middles[c][0] + random.uniform(-2, 2) * (c < 2 ? 90 : 1);
          lon -= from_0 ? 360 * std::floor(lon / 360) : 360 * std::ceil((lon - 180) / 360);
          const double lat = std::clamp(middles[c][1] + random.uniform(-1, 1), -90.0, 90.0);
          set.x.push_back(latitude_first ? lat : lon);
          set.x.push_back(latitude_first ? lon : lat);
          set.labels.push_back(c);
          set.core.push_back(1);
          set.weights.push_back(random.uniform(0, 2));
        }
      }
      set.x.insert(set.x.end(), {12.5, 12.5});  // a cluster of one point
      set.labels.push_back(5);
      set.core.push_back(1);
      set.weights.push_back(2);
      for (const bool weights : {false, true}) {
        INFO("from 0: " << from_0 << ", latitude first: " << latitude_first << ", weights: " << weights);
        const Catalog made = device_catalog(engine, set, metric, {.weights = weights});
        const Catalog expected = host_catalog(set, metric, {.weights = weights});
        require_near(made, expected, 360);
        require_same_bits(made, device_catalog(engine, set, metric, {.weights = weights}));
        REQUIRE(made.center[10] == 12.5);
        const std::size_t latitude = latitude_first ? 0 : 1;
        REQUIRE(std::abs(made.upper[latitude] - 90) < 1e-12);
        REQUIRE(std::abs(made.lower[2 + latitude] + 90) < 1e-12);
      }
    }
  }
  const Metric radians{.kind = MetricKind::haversine};
  Set set = random_set(500, 2, 9, 3);
  for (double& x : set.x) x *= 0.3;
  require_near(device_catalog(engine, set, radians, {}), host_catalog(set, radians, {}), 6);
}

TEST_CASE("gpu catalog: radii by every norm, scaled, and of vectors") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  Set set = random_set(3000, 3, 30, 12);
  for (const Metric& metric :
       {Metric{.scale = {1, 3, 0.5}}, Metric{.kind = MetricKind::manhattan}, Metric{.kind = MetricKind::chebyshev},
        Metric{.kind = MetricKind::minkowski, .power = 3}, Metric{.kind = MetricKind::cosine},
        Metric{.scale = {2, 1, 1}, .box = {{-5, 5}, {}, {-5, 5}}}}) {
    require_near(device_catalog(engine, set, metric, {}), host_catalog(set, metric, {}), 15);
  }
}

TEST_CASE("gpu catalog: where squares leave float64") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  for (const Metric& metric :
       {Metric{}, Metric{.scale = {1, 3, 0.5}}, Metric{.kind = MetricKind::manhattan},
        Metric{.kind = MetricKind::cosine}, Metric{.kind = MetricKind::minkowski, .power = 200}}) {
    for (const double factor : {1e-300, 1e-162, 1e160}) {
      INFO(describe(metric) << ", times " << factor);
      Set set = random_set(3000, 3, 30, 12);
      for (double& x : set.x) x *= factor;
      const Catalog made = device_catalog(engine, set, metric, {});
      const Catalog expected = host_catalog(set, metric, {});
      for (std::size_t c = 0; c < made.count(); ++c) {
        REQUIRE(expected.radius[c] > 0);
        REQUIRE(made.radius[c] == Approx(expected.radius[c]).epsilon(1e-11).margin(0));
        REQUIRE(made.spread[3 * c] == Approx(expected.spread[3 * c]).epsilon(1e-11).margin(0));
      }
    }
  }
}

TEST_CASE("gpu catalog: of float32, of arrays that are not aligned, and of labels with gaps") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  Set set = random_set(2500, 3, 50, 2);
  for (std::int32_t& label : set.labels) {
    if (label >= 0) label = 2'000'000'000 + 7 * label;
  }
  set.labels[3] = std::numeric_limits<std::int32_t>::max();
  const std::vector<float> floats(set.x.begin(), set.x.end());
  set.x.assign(floats.begin(), floats.end());
  const Metric metric;
  const Catalog expected = host_catalog(set, metric, {});
  for (const std::size_t shift : {0U, 1U, 2U, 4U}) {
    INFO("shift " << shift);
    const OnDevice<float> single(floats, shift);
    const OnDevice<double> x(set.x, shift);
    const OnDevice<std::int32_t> labels(set.labels, shift);
    const OnDevice<std::uint8_t> core(set.core, shift);
    for (const DevicePointsView& points :
         {DevicePointsView(single.data(), set.size(), 3), DevicePointsView(x.data(), set.size(), 3)}) {
      require_near(engine.catalog({.points = points, .metric = metric, .labels = labels.span(), .core = core.span()}),
                   expected, 5);
    }
  }
}

TEST_CASE("gpu catalog: of a variant whose labels stay on the device") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  const test::DataSet data = test::make_data("clustered", 2000, 3, Precision::float64, 21);
  const OnDevice<double> x(data.doubles);
  const DevicePointsView points(x.data(), data.size(), 3);
  const Sweep sweep = grid({data.scale, data.scale * 1e-9}, {5});  // the second eps gives no clusters
  const auto results = run(engine.load(points), sweep, {.core_mask = true, .labels = MemorySpace::device});
  const auto on_host = run(engine.load(data.view()), sweep, {.core_mask = true});
  const Metric metric;
  for (std::size_t v = 0; v < results.size(); ++v) {
    const auto& labels = results[v].device_labels;
    const auto& core = results[v].device_core;
    const Catalog made = engine.catalog({.points = points,
                                         .metric = metric,
                                         .labels = {labels.data(), labels.size()},
                                         .core = {core.data(), core.size()}});
    require_near(
        made, catalog({.points = data.view(), .metric = metric, .labels = on_host[v].labels, .core = on_host[v].core}),
        5);
    REQUIRE(made.count() == results[v].summary.clusters);
  }
}

TEST_CASE("gpu catalog: no points, and what is wrong is named") {
  if (!test::have_gpu()) return;
  const Engine engine = make_engine();
  const Metric metric;
  const Catalog none = engine.catalog(
      {.points = DevicePointsView(static_cast<const double*>(nullptr), 0, 3), .metric = metric, .labels = {}});
  REQUIRE(none.count() == 0);
  REQUIRE(none.dims == 3);

  const std::vector<double> values{0, 1, 2, 3};
  const OnDevice<double> x(values);
  const DevicePointsView points(x.data(), 4, 1);
  const auto with_labels = [&](const std::vector<std::int32_t>& labels) {
    const OnDevice<std::int32_t> there(labels);
    return engine.catalog({.points = points, .metric = metric, .labels = there.span()});
  };
  REQUIRE(with_labels({-1, -1, -1, -1}).count() == 0);
  REQUIRE_THROWS_WITH(with_labels({0, 0, -2, -7}), Contains("point 2 has the label -2"));
  REQUIRE_THROWS_WITH(with_labels({0, 0}), Contains("4 points and 2 labels"));
  const OnDevice<std::int32_t> labels({0, 0, 1, 1});
  const auto with_weights = [&](const std::vector<double>& weights) {
    return engine.catalog({.points = points, .metric = metric, .labels = labels.span(), .weights = weights});
  };
  REQUIRE(with_weights({0, 0, 1, 3}).center == std::vector<double>{0.5, 2.75});
  REQUIRE_THROWS_WITH(with_weights({1, 1, 1, -1}), Contains("point 3 has the weight -1"));
  REQUIRE_THROWS_WITH(with_weights({1, std::numeric_limits<double>::infinity(), -1, 1}), Contains("point 1"));
  REQUIRE_THROWS_WITH(with_weights({1, 1}), Contains("4 points and 2 weights"));

  // Arrays on the host are accepted too.
  const std::vector<std::int32_t> on_host{0, 0, 1, 1};
  const std::vector<std::uint8_t> core{0, 1, 1, 1};
  const Catalog mixed = engine.catalog({.points = points, .metric = metric, .labels = on_host, .core = core});
  REQUIRE(mixed.first_core == std::vector<std::uint64_t>{1, 2});
  REQUIRE(mixed.center == std::vector<double>{0.5, 2.5});
  REQUIRE_THROWS_AS(
      engine.catalog({.points = DevicePointsView(values.data(), 4, 1), .metric = metric, .labels = labels.span()}),
      UsageError);
  const Metric flat{.kind = MetricKind::greatcircle};
  REQUIRE_THROWS_AS(engine.catalog({.points = points, .metric = flat, .labels = labels.span()}), UsageError);

  // The memory is too small, and then large enough.
  const Engine small({.threads = 2, .backend = BackendChoice::gpu, .gpu = 0, .gpu_memory = 1 << 20});
  const Set set = random_set(200'000, 3, 50, 1);
  REQUIRE_THROWS_AS(device_catalog(small, set, {}, {}), ResourceError);
  REQUIRE(device_catalog(engine, set, {}, {}).count() == 50);
}

}  // namespace
}  // namespace epsflow::gpu
