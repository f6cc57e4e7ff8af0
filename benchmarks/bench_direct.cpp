// Times direct clustering on the GPU, with points and labels in device memory:
//
//   bench_gpu direct FILE EPS MINPTS [EPS MINPTS …] [--check] [--phases] [--repeat N] [--reach]
//   bench_gpu direct MADE N EPS MINPTS [EPS MINPTS …] [--phases]     N points, generated on the device:
//     --uniform   in the unit square, float64; --uniform32 the same in float32
//     --lattice   at distance 1 in three dimensions, in cubes of 100³ with gaps of 2 between them, float32; N is a cube
//     --haloes    like h10, in N / 10⁷ times its volume: 2,000 haloes for each million, of power-law sizes, over a
//                 uniform background, float32
//
// Prints for each pair: milliseconds from points to labels with the index, median and minimum after two warm-ups;
// counts of the labelling; the peak of device memory in addition to points and labels, in bytes per point. --check
// compares the labels with the CPU backend, --phases prints the device time of each phase. --reach selects a search
// point by point on a grid of eps cells, for any number of dimensions.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include <epsflow/gpu/direct/device_clustering.hpp>
#include <epsflow/gpu/direct/direct_task.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "bench_direct_points.hpp"
#include "bench_gpu.hpp"

namespace {

using namespace epsflow;

/// Returns the points to be generated on the device, or nullopt if a file is given.
std::optional<bench::MadePoints> made_by(const bench::Words& words) {
  for (const char* name : {"--uniform", "--uniform32", "--lattice", "--haloes"}) {
    if (words.has(name)) return bench::MadePoints{*bench::shape_of(name), words.number(name)};
  }
  return std::nullopt;
}

bool same_as_on_the_cpu(PointsView points, double eps, std::uint32_t minpts, const std::vector<std::int32_t>& labels,
                        const LabelSummary& summary) {
  const auto results = run(points, grid({eps}, {minpts}), EngineOptions{.backend = BackendChoice::cpu});
  return results.front().labels == labels && results.front().summary == summary;
}

void measure(const gpu::DevicePoints& points, const bench::Words& words, double eps, std::uint32_t minpts,
             gpu::DeviceMemory& memory, gpu::PinnedPool& pinned) {
  const CancelToken cancel;
  const gpu::Stream stream;
  const std::uint32_t n = points.device().size;
  const gpu::DeviceBuffer<std::int32_t> labels(memory, stream.get(), n);
  stream.synchronize();
  const std::uint64_t held = memory.used();
  LabelSummary summary;
  const std::vector<double> times = bench::times_of(2, words.repeat(7), [&] {
    const auto clustering = gpu::make_device_clustering(
        {points, eps, {minpts, minpts}, memory, pinned, cancel},
        words.has("--reach") ? std::make_shared<gpu::DeviceGrid>(points, eps, memory, pinned, cancel) : nullptr);
    const LabelTarget target{labels.data(), nullptr};
    summary = clustering->unite(minpts).label({&target, 1}).front().summary;
  });
  std::printf(
      "n %u eps %g minpts %u: median %.3f ms, min %.3f ms; clusters %llu, noise %llu, core %llu, largest %llu; %.1f "
      "bytes",
      n, eps, minpts, bench::median(times), std::ranges::min(times), static_cast<unsigned long long>(summary.clusters),
      static_cast<unsigned long long>(summary.noise), static_cast<unsigned long long>(summary.core),
      static_cast<unsigned long long>(summary.largest),
      static_cast<double>(memory.most_used() - held) / static_cast<double>(n));
  if (words.has("--check") && !made_by(words)) {
    const auto found = gpu::read_values(labels.data(), n, stream.get());
    std::printf(", labels %s", same_as_on_the_cpu(points.host(), eps, minpts, found, summary) ? "EQUAL" : "DIFFER");
  }
  std::printf("\n");
  if (words.has("--phases")) {
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

}  // namespace

int bench_direct(const bench::Words& words) {
  const gpu::KeptStreams streams;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  std::optional<Points> read;
  const gpu::Stream stream;
  gpu::DeviceBuffer<std::byte> made;  // declared after its stream
  std::unique_ptr<gpu::DevicePoints> points;
  const std::optional<bench::MadePoints> wanted = made_by(words);
  if (wanted) {
    made = {memory, stream.get(), bench::bytes_of(*wanted)};
    points = std::make_unique<gpu::DevicePoints>(bench::make_points(*wanted, made.data(), memory, stream), memory);
  } else {
    read = io::read_points(words[1]);
    points = std::make_unique<gpu::DevicePoints>(read->view(), 0, memory, pinned, 16);
  }
  for (std::size_t i = wanted ? 1 : 2; i + 1 < words.size(); i += 2) {
    measure(*points, words, std::stod(words[i]), static_cast<std::uint32_t>(std::stoul(words[i + 1])), memory, pinned);
  }
  return 0;
}
