// The GPU's kernels and tables on their own, catalogues in device memory, and the first steps of a process.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <epsflow/catalog/device_catalog.hpp>
#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>
#include <epsflow/gpu/tables/search_kernels.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/session.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "cases.hpp"
#include "device.hpp"
#include "points.hpp"

namespace epsflow::bench {
namespace {

/// Returns the median milliseconds of the work on the stream.
double time_on(const gpu::Stream& stream, int repeat, const auto& work) {
  std::vector<double> times;
  work();  // the first run loads the kernel
  for (int i = 0; i < repeat; ++i) {
    DeviceClock clock(stream);
    work();
    times.push_back(clock.lap());
  }
  return median(times);
}

/// Returns the GB/s of a copy from the device to pinned memory.
double measure_bus(int repeat) {
  constexpr std::uint64_t kBytes = 1ULL << 30;
  Device device;
  const gpu::DeviceBuffer<std::byte> from(device.memory, device.stream.get(), kBytes);
  const gpu::PinnedBytes to = device.pinned.acquire(kBytes);
  const double ms = time_on(device.stream, repeat, [&] {
    gpu::check(cudaMemcpyAsync(to.as<void>(), from.data(), kBytes, cudaMemcpyDeviceToHost, device.stream.get()));
  });
  return static_cast<double>(kBytes) / ms * 1e-6;
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

/// Adds how two catalogues differ. Returns true if it is no more than rounding.
bool add_differences(const Catalog& made, const Catalog& expected, Json& json) {
  bool equal = made.cluster == expected.cluster && made.size == expected.size && made.core == expected.core &&
               made.first_core == expected.first_core;
  json["counts_equal"] = equal;
  const std::pair<const char*, std::vector<double> Catalog::*> columns[] = {
      {"weight", &Catalog::weight}, {"center", &Catalog::center}, {"spread", &Catalog::spread},
      {"lower", &Catalog::lower},   {"upper", &Catalog::upper},   {"radius", &Catalog::radius}};
  for (const auto& [name, column] : columns) {
    const double found = difference(made.*column, expected.*column);
    json["differences"][name] = found;
    equal = equal && found <= 1e-12;
  }
  json["equal"] = equal;
  return equal;
}

}  // namespace

bool time_kernels(const Words& words) {
  const Points all = points_of(words);
  const std::size_t first = words.number("--first");
  const PointsView points = first > 0 && first < all.size() ? all.view().rows(0, first) : all.view();
  const double eps = words.eps(1);
  const int repeat = words.repeat(7);
  Device device;
  gpu::DeviceMemory& memory = device.memory;
  const gpu::Stream& stream = device.stream;
  const gpu::DevicePoints loaded = device.load(points);
  const auto make_grid = [&] { return gpu::DeviceGrid(loaded, eps, memory, device.pinned, device.cancel); };
  const auto index_s = seconds_of_each(
      repeat, [&] { (void)make_grid(); }, 1);
  const gpu::DeviceGrid grid = make_grid();
  const gpu::GridView& view = grid.view();
  const std::uint32_t n = view.size;

  const gpu::DeviceBuffer<std::uint32_t> counts(memory, stream.get(), n);
  const gpu::DeviceBuffer<std::uint64_t> offsets(memory, stream.get(), std::uint64_t{n} + 1);
  const gpu::DeviceBuffer<std::uint64_t> counters(memory, stream.get(), 3);
  const auto count = [&] { gpu::launch_count_rows(view, {0, 1, n}, counts.data(), stream.get()); };
  const auto scan = [&] { gpu::launch_offsets(counts.data(), n, offsets.data(), {memory, stream.get()}); };
  count();
  scan();
  const std::uint64_t pairs = gpu::read_values(offsets.data() + n, 1, stream.get()).front();

  Json json{{"points", n}, {"eps", eps}, {"cells", view.cells}, {"pairs", pairs}, {"index_ms", 1e3 * median(index_s)}};
  const auto time = [&](const char* name, const auto& work) { json[name]["ms"] = time_on(stream, repeat, work); };
  time("count", count);
  json["count"]["threads"] = n;
  time("scan", scan);
  const gpu::DeviceBuffer<std::uint32_t> rows(memory, stream.get(), std::max(pairs, grid.packed_words()));
  time("fill", [&] { gpu::launch_fill_rows(view, {0, n}, offsets.data(), rows.data(), stream.get()); });
  json["fill"]["threads"] = std::uint64_t{n} * gpu::tuning::kRowThreads;
  time("pack", [&] { gpu::launch_pack_rows(view, {0, n}, 0, rows.data(), counts.data(), stream.get()); });
  json["pack"]["threads"] = n;
  json["pack"]["words"] = grid.packed_words();
  const gpu::DeviceBuffer<std::uint32_t> pair_memory(memory, stream.get(), 4 * pairs);
  const gpu::PairBuffer buffer{pair_memory.data(), pair_memory.data() + 2 * pairs, pairs, counters.data()};
  const auto reset = [&] { gpu::check(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream.get())); };
  time("global", [&] {
    reset();
    gpu::launch_global(view, {0, 1, n}, buffer, stream.get());
  });
  json["global"]["threads"] = n;
  time("shared", [&] {
    reset();
    gpu::launch_shared(view, {0, 1, view.cells, {0, n}}, buffer, stream.get());
  });
  json["shared"]["threads"] = std::uint64_t{view.cells} * gpu::tuning::kCellThreads;
  const std::uint64_t emitted = gpu::read_values(counters.data(), 1, stream.get()).front();
  if (emitted != pairs) throw Error("the kernels disagree");
  time("sort", [&] {
    gpu::TwoBuffers<std::uint32_t> keys{pair_memory.data(), pair_memory.data() + pairs};
    gpu::TwoBuffers<std::uint32_t> values{pair_memory.data() + 2 * pairs, pair_memory.data() + 3 * pairs};
    gpu::launch_sort(keys, values, pairs, static_cast<int>(std::bit_width(n - 1)), {memory, stream.get()});
  });
  return print(json);
}

bool time_tables(const Words& words) {
  const Points points = points_of(words);
  const double eps = words.eps(1);
  const bool packed = words.number("--packed") == 1;
  RunOptions options{.tables = 1};
  options.search.kernel = choice_of<Kernel>(words[2]).value();
  options.search.format = packed ? FormatChoice::packed : FormatChoice::csr;
  const double bus = measure_bus(5);
  Trace trace;
  const Observer observer{.trace = &trace};
  const EngineOptions engine{.memory = 100_GiB, .backend = BackendChoice::gpu};
  const Dataset data = load(
      points, [&] { return Engine(engine, observer.on_notice); }, observer);
  Session session(data, options, observer);
  std::vector<stages::EpsGroup> groups(words.repeat(7), stages::EpsGroup{eps, {4}});
  std::uint64_t pairs = 0;
  std::vector<double> seconds;
  session.run(groups, {.consume =
                           [&](const stages::EpsJob& job) {
                             pairs = job.table->pairs();
                             seconds.push_back(job.table_seconds);
                           },
                       .bytes = [](std::size_t) { return std::uint64_t{0}; },
                       .result = nullptr,
                       .progress = [](double, double) {}});
  // The first table allocates its memory. It counts only if there is no other.
  const double steady_s = median({seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end()});
  const auto in_all = static_cast<double>(pairs);
  return print({{"points", points.size()},
                {"eps", eps},
                {"kernel", words[2]},
                {"packed", packed},
                {"pairs", pairs},
                {"bus_gb_per_s", bus},
                {"first_s", seconds.front()},
                {"steady_s", steady_s},
                {"gpairs_per_s_first", in_all / seconds.front() * 1e-9},
                {"gpairs_per_s_steady", in_all / steady_s * 1e-9},
                {"share_of_bus", in_all * 4 / steady_s * 1e-9 / bus},
                {"retries", trace.retries()},
                {"seconds", seconds},
                {"stage_s", stage_seconds(trace)}});
}

bool time_start(const Words& words) {
  const Points points = points_of(words);
  const Sweep sweep = grid({words.eps(1)}, {words.count(2)});
  Json json;
  auto last = std::chrono::steady_clock::now();
  const auto step = [&](const char* name) {
    const auto now = std::chrono::steady_clock::now();
    json[name] = std::chrono::duration<double, std::milli>(now - last).count();
    last = std::chrono::steady_clock::now();
  };
  gpu::check(cudaSetDevice(0));
  gpu::check(cudaFree(nullptr));
  step("context_ms");
  {
    const Engine engine({.backend = BackendChoice::gpu});
    step("engine_ms");
    const Dataset data = engine.load(points);
    step("load_ms");
    (void)run(data, sweep);
    step("run_ms");
    (void)run(data, sweep);
    step("second_run_ms");
    (void)engine.load(points);
    step("second_load_ms");
  }
  step("end_ms");
  (void)run(points, sweep, {.backend = BackendChoice::gpu});
  step("all_anew_ms");
  return print(json);
}

bool time_catalog(const Words& words) {
  const bool masked = words.has("--core"), weighted = words.has("--weighted");
  const int repeat = words.repeat(15);
  const Points read = points_of(words);
  const PointsView view = read;
  const std::size_t n = view.size();
  const Metric metric = metric_of(words, view.dims());
  const Engine engine({.backend = BackendChoice::gpu});
  const Dataset data = engine.load(view, metric);
  Device device;
  gpu::DeviceBuffer<std::byte> coordinates;
  const DevicePointsView points = view.visit([&](auto values) {
    coordinates = gpu::copy_of(std::as_bytes(values), device.memory, device.stream.get());
    return DevicePointsView(reinterpret_cast<decltype(values.data())>(coordinates.data()), n, view.dims());
  });
  std::vector<double> masses;
  if (weighted) {
    for (std::size_t i = 0; i < n; ++i) masses.push_back(0.5 + static_cast<double>(i % 1000) / 1000);
  }
  const auto masses_on_device = gpu::copy_of(std::span<const double>(masses), device.memory, device.stream.get());
  const Sweep sweep = words.sweep(1);
  const auto labelled = [&] {
    return std::move(run(data, sweep, {.core_mask = masked, .labels = MemorySpace::device}).front());
  };
  const auto catalogued = [&](const VariantResult& result) {
    return engine.catalog({.points = points,
                           .metric = metric,
                           .labels = {result.device_labels.data(), n},
                           .core = {result.device_core.data(), result.device_core.size()},
                           .weights = {masses_on_device.data(), masses.size()}});
  };
  const VariantResult result = labelled();
  const Catalog made = catalogued(result);
  std::uint64_t in_clusters = 0;
  for (const std::uint64_t size : made.size) in_clusters += size;
  Json json{
      {"points", n}, {"clusters", made.count()}, {"in_clusters", in_clusters}, {"largest", result.summary.largest}};
  const auto labels = gpu::read_values(result.device_labels.data(), n, device.stream.get());
  const auto core = gpu::read_values(result.device_core.data(), result.device_core.size(), device.stream.get());
  const Catalog expected =
      catalog({.points = view, .metric = metric, .labels = labels, .core = core, .weights = masses});
  if (!add_differences(made, expected, json)) return print(json);
  const auto time = [&](const char* name, const auto& work) {
    json[name] = summary_ms(seconds_of_each(repeat, work, 2));
  };
  time("labels_ms", [&] { (void)labelled(); });
  time("labels_and_catalogue_ms", [&] { (void)catalogued(labelled()); });
  time("catalogue_ms", [&] { (void)catalogued(result); });
  return print(json);
}

}  // namespace epsflow::bench
