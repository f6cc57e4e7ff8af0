// Times catalogues on the GPU, with points and labels in device memory:
//
//   bench_gpu catalog FILE EPS MINPTS [--box LENGTH] [--core] [--weighted] [--repeat N]
//
// Loads the points before, and copies them to the device in the precision of the file. First compares the catalogue
// with the host's: counts must be equal, all other columns must agree to 1e-12 of the largest value. Then prints
// medians and minima after two warm-ups, in milliseconds: a run whose labels stay on the device, the same with the
// catalogue in host memory, the catalogue alone. box: side of a periodic box, from 0 on. core: core points, too.
// weighted: masses.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/gpu/base/error.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "bench_gpu.hpp"

namespace {

using namespace epsflow;

/// Returns a copy in device memory, which is never freed.
template <class T>
const T* on_device(const T* values, std::size_t count) {
  void* memory = nullptr;
  gpu::check(cudaMalloc(&memory, count * sizeof(T)));
  gpu::check(cudaMemcpy(memory, values, count * sizeof(T), cudaMemcpyHostToDevice));
  return static_cast<const T*>(memory);
}

template <class T>
std::vector<T> on_host(const DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  gpu::check(cudaMemcpy(values.data(), array.data(), array.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// Returns the largest difference, relative to the largest value.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = std::max(largest, std::abs(b[k]));
    most = std::max(most, std::abs(a[k] - b[k]));
  }
  return largest > 0 ? most / largest : most;
}

bool check_catalog(const Catalog& made, const Catalog& expected) {
  const bool counts = made.cluster == expected.cluster && made.size == expected.size && made.core == expected.core &&
                      made.first_core == expected.first_core;
  const std::pair<const char*, double> found[] = {
      {"weight", difference(made.weight, expected.weight)}, {"center", difference(made.center, expected.center)},
      {"spread", difference(made.spread, expected.spread)}, {"lower", difference(made.lower, expected.lower)},
      {"upper", difference(made.upper, expected.upper)},    {"radius", difference(made.radius, expected.radius)}};
  bool all = counts;
  std::printf("counts %s; differences:", counts ? "EQUAL" : "DIFFER");
  for (const auto& [name, value] : found) {
    std::printf(" %s %.1e", name, value);
    all = all && value <= 1e-12;
  }
  std::printf(" %s\n", all ? "OK" : "TOO LARGE");
  return all;
}

void measure(const char* what, int repeat, const auto& work) {
  const std::vector<double> times = bench::times_of(2, repeat, work);
  std::printf("%-20s median %.3f ms, min %.3f ms\n", what, bench::median(times), std::ranges::min(times));
  std::fflush(stdout);
}

}  // namespace

int bench_catalog(const bench::Words& words) {
  const bool masked = words.has("--core"), weighted = words.has("--weighted");
  const int repeat = words.repeat(15);
  const Points read = io::read_points(words[1]);
  const PointsView view = read.view();
  const std::size_t n = view.size();
  Metric metric;
  if (words.has("--box")) metric.box.assign(view.dims(), {0, std::stod(words.text("--box"))});
  const Engine engine({.backend = BackendChoice::gpu});
  const Dataset data = engine.load(view, metric);
  const DevicePointsView points = view.visit(
      [&](auto values) { return DevicePointsView(on_device(values.data(), values.size()), n, view.dims()); });
  std::vector<double> masses;
  if (weighted) {
    for (std::size_t i = 0; i < n; ++i) masses.push_back(0.5 + static_cast<double>(i % 1000) / 1000);
  }
  const std::span<const double> weights(weighted ? on_device(masses.data(), n) : nullptr, masses.size());
  const Sweep sweep = words.sweep(2);
  const auto labelled = [&] {
    return std::move(run(data, sweep, {.core_mask = masked, .labels = MemorySpace::device}).front());
  };
  const auto catalogued = [&](const VariantResult& result) {
    return engine.catalog({.points = points,
                           .metric = metric,
                           .labels = {result.device_labels.data(), n},
                           .core = {result.device_core.data(), result.device_core.size()},
                           .weights = weights});
  };
  const VariantResult result = labelled();
  const Catalog made = catalogued(result);
  std::uint64_t in_clusters = 0;
  for (const std::uint64_t size : made.size) in_clusters += size;
  std::printf("n %zu, clusters %zu, points in them %llu, largest %llu\n", n, made.count(),
              static_cast<unsigned long long>(in_clusters), static_cast<unsigned long long>(result.summary.largest));
  const std::vector<std::int32_t> labels = on_host(result.device_labels);
  const std::vector<std::uint8_t> core = on_host(result.device_core);
  const bool good = check_catalog(
      made, catalog({.points = view, .metric = metric, .labels = labels, .core = core, .weights = masses}));
  if (!good) return 1;
  measure("labels", repeat, [&] { (void)labelled(); });
  measure("labels, catalogue", repeat, [&] { (void)catalogued(labelled()); });
  measure("catalogue", repeat, [&] { (void)catalogued(result); });
  return 0;
}
