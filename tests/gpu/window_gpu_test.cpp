#include <epsflow/windows/window.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/errors.hpp"
#include "support/gpu.hpp"
#include "support/random_points.hpp"

#include <epsflow/gpu/base/error.hpp>

namespace epsflow::test {
namespace {

/// Returns the values of an array in device memory.
template <class T>
std::vector<T> on_host(const DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  if (!values.empty())
    gpu::check(cudaMemcpy(values.data(), array.data(), values.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

void check_equal(const Window& window, const Window& expected, MemorySpace space) {
  for (std::size_t v = 0; v < expected.results().size(); ++v) {
    const WindowResult& result = window.results()[v];
    const WindowResult& right = expected.results()[v];
    REQUIRE(result.clusters == right.clusters);
    REQUIRE(result.summary == right.summary);
    if (space == MemorySpace::host) {
      REQUIRE(result.labels == right.labels);
      REQUIRE(result.core == right.core);
    } else {
      REQUIRE((result.labels.empty() && result.core.empty()));
      REQUIRE(right.labels == on_host(result.device_labels));
      REQUIRE(right.core == on_host(result.device_core));
    }
    REQUIRE(result.changes.size() == right.changes.size());
    for (std::size_t i = 0; i < result.changes.size(); ++i) {
      REQUIRE(result.changes[i].kind == right.changes[i].kind);
      REQUIRE(std::ranges::equal(result.changes[i].before, right.changes[i].before));
      REQUIRE(std::ranges::equal(result.changes[i].after, right.changes[i].after));
    }
  }
}

/// Points arrive and leave: a few or many, from anywhere or the first ones, with metrics that move points or do not.
void check_stream(std::uint64_t seed) {
  INFO("seed " << seed);
  Random random(seed);
  const std::size_t dims = 1 + random.below(4);
  const bool sphere = dims == 2 && random.chance(0.3);
  const DataSet data = make_data(random.pick(data_kinds()), 2000, dims, Precision::float64, seed);
  const bool narrow = random.chance(0.3) &&
                      std::ranges::all_of(data.doubles, [](double x) { return std::isfinite(static_cast<float>(x)); });
  const double eps = sphere ? 8 : searchable(make_eps(data, random));
  const Sweep sweep = grid({eps}, {1 + static_cast<std::uint32_t>(random.below(9)), 12});
  const bool weighted = random.chance(0.2);
  WindowOptions options{.metric = {.kind = sphere ? MetricKind::greatcircle : MetricKind::euclidean},
                        .weighted = weighted,
                        .max_points = 1500,
                        .engine = {.backend = BackendChoice::cpu}};
  Window on_cpu(dims, sweep, options);
  options.engine.backend = BackendChoice::gpu;
  options.labels = random.chance(0.5) ? MemorySpace::host : MemorySpace::device;
  auto on_gpu = std::make_unique<Window>(dims, sweep, options);
  const bool leave_first = random.chance(0.5);
  for (int s = 0; s < 12; ++s) {
    std::vector<float> narrow_points;
    std::vector<double> points, weights;
    const std::size_t arrive = s == 0 ? 1000 : random.below(s % 4 == 0 ? 1800 : 20);
    for (std::size_t i = 0; i < arrive; ++i) {
      const std::size_t from = random.below(data.size()) * dims;
      for (std::size_t k = 0; k < dims; ++k) {
        const double x = sphere ? random.uniform(-60, 60) : data.doubles[from + k];
        narrow_points.push_back(static_cast<float>(x));
        points.push_back(x);
      }
      if (weighted) weights.push_back(random.uniform(0, 3));
    }
    const std::vector<std::uint64_t> ids = on_cpu.ids();
    std::vector<std::uint64_t> leaving;
    const double share = s % 5 == 4 ? 1 : 0.01;  // all points leave in two of the steps
    for (const std::uint64_t id : ids) {
      if (leave_first ? id < ids.front() + 20 : random.chance(share)) leaving.push_back(id);
    }
    PointsView view;
    if (arrive > 0) {
      view = narrow ? PointsView(std::span<const float>(narrow_points), dims)
                    : PointsView(std::span<const double>(points), dims);
    }
    const WindowStep step{.arriving = view, .weights = weights, .leaving = leaving};
    (void)on_cpu.step(step);
    if (arrive > 0 && random.chance(0.3)) {  // a step that fails leaves the window as it was
      CancelToken cancelled;
      cancelled.cancel();
      REQUIRE_THROWS_AS(on_gpu->step(step, &cancelled), Cancelled);
    }
    REQUIRE(on_gpu->step(step).from_scratch);
    check_equal(*on_gpu, on_cpu, options.labels);
    if (s == 6) {  // a restored window has no changes until its next step
      const WindowState state = on_gpu->state();
      on_gpu = std::make_unique<Window>(state, sweep, options);
    }
  }
}

}  // namespace

TEST_CASE("windows on a GPU have the labels, ids and changes of windows on the CPU") {
  if (!have_gpu()) return;
  for (std::uint64_t seed = 0; seed < sets_of(120); ++seed) check_stream(seed);
}

TEST_CASE("rows of a lattice that become its columns share a point each on a GPU") {
  if (!have_gpu()) return;
  constexpr int kSide = 300;  // more pairs of clusters than the first hash table has room for
  std::vector<double> rows, columns;
  std::vector<std::uint64_t> leaving;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      leaving.push_back(rows.size() / 2 + 1);
      rows.insert(rows.end(), {2.0 * i, 2.0 * j, 2.0 * i + 1, 2.0 * j});
      columns.insert(columns.end(), {2.0 * i, 2.0 * j + 1});
    }
  }
  const Sweep sweep({{1.0, 1}});
  Window on_cpu(2, sweep, {.engine = {.backend = BackendChoice::cpu}});
  Window on_gpu(2, sweep, {.engine = {.backend = BackendChoice::gpu}});
  for (Window* window : {&on_cpu, &on_gpu}) {
    (void)window->step({.arriving = PointsView(std::span<const double>(rows), 2)});
    (void)window->step({.arriving = PointsView(std::span<const double>(columns), 2), .leaving = leaving});
  }
  REQUIRE(on_gpu.results().front().clusters.size() == kSide);
  REQUIRE(on_gpu.results().front().earlier.size() == kSide);
  REQUIRE(on_gpu.results().front().changes.size() == 2 * kSide);  // each row is split, and each column merged
  check_equal(on_gpu, on_cpu, MemorySpace::host);
}

TEST_CASE("a window that the memory of a GPU cannot hold twice is sent in each step") {
  if (!have_gpu()) return;
  const DataSet data = make_data("uniform", 400'000, 2, Precision::float64, 1);
  const PointsView view(std::span<const double>(data.doubles), 2);
  const Sweep sweep({{0.7, 4}});
  bool sent = false;
  for (std::uint64_t mib = 16; mib <= 64; mib += 4) {
    try {
      Window window(2, sweep,
                    {.max_points = 500'000, .engine = {.backend = BackendChoice::gpu, .gpu_memory = mib << 20}});
      Window other(2, sweep, {.max_points = 500'000, .engine = {.backend = BackendChoice::cpu}});
      for (int s = 0; s < 3; ++s) {
        (void)window.step({.arriving = view});
        (void)other.step({.arriving = view});
        check_equal(window, other, MemorySpace::host);
        sent = sent || window.results().front().device_labels.empty();
      }
    } catch (const ResourceError&) {  // NOLINT(bugprone-empty-catch): so little memory is enough for neither way
    }
  }
  REQUIRE(sent);
}

TEST_CASE("labels stay on a GPU only if the points can") {
  if (!have_gpu()) return;
  const Sweep sweep({{1.0, 2}});
  const WindowOptions options{.metric = {.kind = MetricKind::manhattan},
                              .engine = {.backend = BackendChoice::gpu},
                              .labels = MemorySpace::device};
  check_mentions(error_of<UsageError>([&] { const Window window(2, sweep, options); }),
                 {"periodic box", "to the host"});
}

}  // namespace epsflow::test
