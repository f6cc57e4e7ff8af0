// Direct clustering on the GPU, points and labels in device memory:
//
//   bench_gpu direct FILE EPS MINPTS [EPS MINPTS …] [--check] [--phases] [--repeat N] [--reach]
//   bench_gpu direct MADE N EPS MINPTS [EPS MINPTS …] [--phases]     N points made on the device:
//     --uniform   of the unit square, float64; --uniform32 the same in float32
//     --lattice   at distance 1 in three dimensions, in cubes of 100³ with gaps of 2 between them, float32; N a third power
//     --haloes    as h10 has them, in N / 10⁷ times its volume: 2,000 haloes for each million, of power-law sizes, over a uniform background,
//                 float32
//
// For each pair: milliseconds from points to labels, index included, median and minimum after two warm-ups; counts of the
// labelling; the most device memory held at once beside points and labels, in bytes for each point. --check compares the labels with those of the CPU backend, --phases says where the device's time goes.
// --reach: point by point on a grid of cells as wide as a neighbourhood, whatever the dimensions.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/gpu/direct/device_clustering.hpp>
#include <epsflow/gpu/direct/direct_task.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "bench_direct_points.hpp"
#include "bench_gpu.hpp"

namespace {

using namespace epsflow;

struct Arguments {
  std::string file;
  bench::MadePoints made;  ///< in place of a file
  std::vector<std::pair<double, std::uint32_t>> variants;
  bool check = false;
  bool phases = false;
  bool reach = false;
  int repeat = 7;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  std::vector<const char*> numbers;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--check") {
      arguments.check = true;
    } else if (word == "--phases") {
      arguments.phases = true;
    } else if (word == "--reach") {
      arguments.reach = true;
    } else if (word == "--repeat" && i + 1 < argc) {
      arguments.repeat = std::max(1, std::atoi(argv[++i]));
    } else if (const std::optional<bench::Shape> shape = bench::shape_of(word); shape && i + 1 < argc) {
      arguments.made = {*shape, std::strtoull(argv[++i], nullptr, 10)};
    } else if (arguments.file.empty() && arguments.made.size == 0) {
      arguments.file = word;
    } else {
      numbers.push_back(argv[i]);
    }
  }
  for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) {
    arguments.variants.emplace_back(std::atof(numbers[k]), static_cast<std::uint32_t>(std::atoll(numbers[k + 1])));
  }
  return arguments;
}

bool same_as_on_the_cpu(PointsView points, double eps, std::uint32_t minpts, const std::vector<std::int32_t>& labels,
                        const LabelSummary& summary) {
  const auto results = run(points, grid({eps}, {minpts}), EngineOptions{.backend = BackendChoice::cpu});
  return results.front().labels == labels && results.front().summary == summary;
}

void measure(const gpu::DevicePoints& points, const Arguments& arguments, double eps, std::uint32_t minpts,
             gpu::DeviceMemory& memory, gpu::PinnedPool& pinned) {
  constexpr int kWarmUps = 2;
  const CancelToken cancel;
  const gpu::Stream stream;
  const std::uint32_t n = points.device().size;
  const gpu::DeviceBuffer<std::int32_t> labels(memory, stream.get(), n);
  stream.synchronize();
  const std::uint64_t held = memory.used();
  std::vector<double> times;
  LabelSummary summary;
  for (int i = 0; i < kWarmUps + arguments.repeat; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto clustering = gpu::make_device_clustering(
        {points, eps, {minpts, minpts}, memory, pinned, cancel},
        arguments.reach ? std::make_shared<gpu::DeviceGrid>(points, eps, memory, pinned, cancel) : nullptr);
    const LabelTarget target{labels.data(), nullptr};
    summary = clustering->unite(minpts).label({&target, 1}).front().summary;
    const auto end = std::chrono::steady_clock::now();
    if (i >= kWarmUps) times.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::printf(
      "n %u eps %g minpts %u: median %.3f ms, min %.3f ms; clusters %llu, noise %llu, core %llu, largest %llu; %.1f "
      "bytes",
      n, eps, minpts, times[times.size() / 2], times.front(), static_cast<unsigned long long>(summary.clusters),
      static_cast<unsigned long long>(summary.noise), static_cast<unsigned long long>(summary.core),
      static_cast<unsigned long long>(summary.largest),
      static_cast<double>(memory.most_used() - held) / static_cast<double>(n));
  if (arguments.check && arguments.made.size == 0) {
    const auto found = gpu::read_values(labels.data(), n, stream.get());
    std::printf(", labels %s", same_as_on_the_cpu(points.host(), eps, minpts, found, summary) ? "EQUAL" : "DIFFER");
  }
  std::printf("\n");
  if (arguments.phases) {
    gpu::PhaseMarks marks;
    marks.begin(stream);
    const auto clustering =
        gpu::make_device_clustering({points, eps, {minpts, minpts}, memory, pinned, cancel, &marks});
    const LabelTarget target{labels.data(), nullptr};
    (void)clustering->unite(minpts).label({&target, 1});
    double sum = 0;
    for (const auto& [phase, milliseconds] : marks.times()) {
      std::printf("  %-10s %8.3f\n", phase, milliseconds);
      sum += milliseconds;
    }
    std::printf("  %-10s %8.3f\n", "all", sum);
  }
  std::fflush(stdout);
}

int measure_all(const Arguments& arguments) {
  if (arguments.variants.empty()) {
    std::fprintf(stderr,
                 "usage: bench_gpu direct FILE|--uniform|--uniform32|--lattice|--haloes N EPS MINPTS [EPS MINPTS …] "
                 "[--check] [--phases]\n");
    return 2;
  }
  const gpu::KeptStreams streams;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  std::optional<Points> read;
  const gpu::Stream stream;
  gpu::DeviceBuffer<std::byte> made;  // after its stream
  std::unique_ptr<gpu::DevicePoints> points;
  if (arguments.made.size > 0) {
    made = {memory, stream.get(), bench::bytes_of(arguments.made)};
    points =
        std::make_unique<gpu::DevicePoints>(bench::make_points(arguments.made, made.data(), memory, stream), memory);
  } else {
    read = io::read_points(arguments.file);
    points = std::make_unique<gpu::DevicePoints>(read->view(), 0, memory, pinned, 16);
  }
  for (const auto& [eps, minpts] : arguments.variants) measure(*points, arguments, eps, minpts, memory, pinned);
  return 0;
}

}  // namespace

int bench_direct(int argc, char** argv) {
  try {
    return measure_all(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gpu direct: %s\n", error.what());
    return 1;
  }
}
