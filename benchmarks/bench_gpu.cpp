// Times the kernels and tables of the GPU on their own, for the points of a file:
//
//   bench_gpu kernels FILE EPS [--first N] [--repeat N]     device time of each kernel over all points
//   bench_gpu tables FILE EPS KERNEL [--repeat N] [--packed 1]   tables into host memory, relative to the bus
//   bench_gpu start FILE EPS MINPTS     the steps of a process's first run, and later runs
//   bench_gpu catalog …, direct …, tiles …     see bench_catalog.cpp, bench_direct.cpp and bench_tiles.cpp
//
// Prints one line of JSON. kernels: median milliseconds, and the threads of each launch. tables: seconds from the index
// to the last row, for the first table and later ones; bus: a copy of 1 GiB from the device to pinned memory.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <epsflow/gpu/base/tuning.hpp>
#include <epsflow/gpu/grid/device_grid.hpp>
#include <epsflow/gpu/tables/search_kernels.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/session.hpp>

#include <epsflow/pipeline/sweep.hpp>
#include "bench_gpu.hpp"

namespace {

using namespace epsflow;
using bench::Json;

using bench::median;

/// Returns the median milliseconds of the work on the stream.
template <class F>
double time_on(const gpu::Stream& stream, int repeat, F&& work) {
  std::vector<double> times;
  work();  // the first run loads the kernel
  for (int i = 0; i < repeat; ++i) {
    const gpu::Event begin, end;
    begin.record(stream);
    work();
    end.record(stream);
    end.synchronize();
    times.push_back(end.since(begin));
  }
  return median(times);
}

Json measure_kernels(PointsView points, double eps, int repeat) {
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  const CancelToken cancel;
  const gpu::DevicePoints device(points, 0, memory, pinned, std::thread::hardware_concurrency());
  const gpu::Stream stream;
  std::vector<double> index_times;
  for (int i = 0; i <= repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const gpu::DeviceGrid again(device, eps, memory, pinned, cancel);
    index_times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  const gpu::DeviceGrid grid(device, eps, memory, pinned, cancel);
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

  Json json{{"points", n}, {"eps", eps}, {"cells", view.cells}, {"pairs", pairs}, {"index_ms", median(index_times)}};
  json["count"] = {{"ms", time_on(stream, repeat, count)}, {"threads", n}};
  json["scan"] = {{"ms", time_on(stream, repeat, scan)}};
  const gpu::DeviceBuffer<std::uint32_t> rows(memory, stream.get(), std::max(pairs, grid.packed_words()));
  json["fill"] = {{"ms", time_on(stream, repeat,
                                 [&] {
                                   gpu::launch_fill_rows(view, {0, n}, offsets.data(), rows.data(), stream.get());
                                 })},
                  {"threads", std::uint64_t{n} * gpu::tuning::kRowThreads}};
  json["pack"] = {{"ms", time_on(stream, repeat,
                                 [&] {
                                   gpu::launch_pack_rows(view, {0, n}, 0, rows.data(), counts.data(), stream.get());
                                 })},
                  {"threads", n},
                  {"words", grid.packed_words()}};
  const gpu::DeviceBuffer<std::uint32_t> pair_memory(memory, stream.get(), 4 * pairs);
  const gpu::PairBuffer buffer{pair_memory.data(), pair_memory.data() + 2 * pairs, pairs, counters.data()};
  const auto reset = [&] { gpu::check(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream.get())); };
  json["global"] = {{"ms", time_on(stream, repeat,
                                   [&] {
                                     reset();
                                     gpu::launch_global(view, {0, 1, n}, buffer, stream.get());
                                   })},
                    {"threads", n}};
  json["shared"] = {{"ms", time_on(stream, repeat,
                                   [&] {
                                     reset();
                                     gpu::launch_shared(view, {0, 1, view.cells, {0, n}}, buffer, stream.get());
                                   })},
                    {"threads", std::uint64_t{view.cells} * gpu::tuning::kCellThreads}};
  const std::uint64_t emitted = gpu::read_values(counters.data(), 1, stream.get()).front();
  if (emitted != pairs) throw Error("the kernels disagree");
  json["sort"] = {
      {"ms", time_on(stream, repeat, [&] {
         gpu::TwoBuffers<std::uint32_t> keys{pair_memory.data(), pair_memory.data() + pairs};
         gpu::TwoBuffers<std::uint32_t> values{pair_memory.data() + 2 * pairs, pair_memory.data() + 3 * pairs};
         gpu::launch_sort(keys, values, pairs, static_cast<int>(std::bit_width(n - 1)), {memory, stream.get()});
       })}};
  return json;
}

/// Returns the GB/s of a copy from the device to pinned memory.
double measure_bus(int repeat) {
  constexpr std::uint64_t kBytes = 1ULL << 30;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pool;
  const gpu::Stream stream;
  const gpu::DeviceBuffer<std::byte> from(memory, stream.get(), kBytes);
  const gpu::PinnedBytes to = pool.acquire(kBytes);
  const double ms = time_on(stream, repeat, [&] {
    gpu::check(cudaMemcpyAsync(to.as<void>(), from.data(), kBytes, cudaMemcpyDeviceToHost, stream.get()));
  });
  return static_cast<double>(kBytes) / ms * 1e-6;
}

Json measure_tables(PointsView points, double eps, const std::string& kernel, bool packed, int repeat) {
  const EngineOptions engine{.memory = 100_GiB, .backend = BackendChoice::gpu};
  RunOptions options;
  options.tables = 1;
  options.search.kernel = kernel == "global" ? Kernel::global : kernel == "shared" ? Kernel::shared : Kernel::rows;
  options.search.format = packed ? FormatChoice::packed : FormatChoice::csr;
  Json json{{"points", points.size()}, {"eps", eps}, {"kernel", kernel}, {"packed", packed}};
  const double bus = measure_bus(5);
  Trace trace;
  Observer observer;
  observer.trace = &trace;
  const Dataset data = load(
      points, [&] { return Engine(engine, observer.on_notice); }, observer);
  Session session(data, options, observer);
  std::vector<stages::EpsGroup> groups(repeat, stages::EpsGroup{eps, {4}});
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
  std::vector<double> steady(seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end());
  const double steady_s = median(steady);
  json["pairs"] = pairs;
  json["bus_gb_per_s"] = bus;
  json["first_s"] = seconds.front();
  json["steady_s"] = steady_s;
  json["gpairs_per_s_first"] = static_cast<double>(pairs) / seconds.front() * 1e-9;
  json["gpairs_per_s_steady"] = static_cast<double>(pairs) / steady_s * 1e-9;
  json["share_of_bus"] = static_cast<double>(pairs) * 4 / steady_s * 1e-9 / bus;
  json["retries"] = trace.retries();
  json["seconds"] = seconds;
  json["stage_s"] = bench::stage_seconds(trace);  // summed over all tables
  return json;
}

/// Returns the milliseconds of a process's first steps. CUDA loads code when a kernel is first used.
Json measure_start(PointsView points, double eps, std::uint32_t minpts) {
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
  const Sweep sweep = grid({eps}, {minpts});
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
  return json;
}

int measure(const bench::Words& words) {
  struct Measurement {
    const char* name;
    std::size_t least;  ///< plain words, the name included
    int (*run)(const bench::Words& words);
  };
  const auto print = [](const Json& json) {
    std::cout << json.dump() << "\n";
    return 0;
  };
  const std::string& what = words[0];
  for (const Measurement& other :
       {Measurement{"catalog", 4, bench_catalog}, {"direct", 3, bench_direct}, {"tiles", 3, bench_tiles}}) {
    if (what == other.name && words.size() >= other.least) return other.run(words);
  }
  const int repeat = words.repeat(7);
  if (words.size() < 3) throw UsageError("bench_gpu " + what + " needs more words; see the head of bench_gpu.cpp");
  const Points points = io::read_points(words[1]);
  const double eps = std::stod(words[2]);
  if (what == "kernels") {
    PointsView view = points;
    if (const std::size_t first = words.number("--first"); first > 0 && first < points.size()) {
      view.visit([&](auto values) { view = PointsView(values.first(first * points.dims()), points.dims()); });
    }
    return print(measure_kernels(view, eps, repeat));
  }
  if (what == "tables") return print(measure_tables(points, eps, words[3], words.number("--packed") == 1, repeat));
  if (what == "start") return print(measure_start(points, eps, static_cast<std::uint32_t>(std::stoul(words[3]))));
  throw UsageError("there is no measurement " + what);
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run({"bench_gpu kernels FILE EPS [--first N] [--repeat N]\n"
                              "       bench_gpu tables FILE EPS rows|global|shared [--repeat N] [--packed 1]\n"
                              "       bench_gpu start FILE EPS MINPTS\n"
                              "       bench_gpu catalog|direct|tiles …",
                              1,
                              {"--core", "--weighted", "--check", "--phases", "--reach", "--portable"}},
                             argc, argv, measure);
}
