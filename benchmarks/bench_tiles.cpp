// The search by tiles on the GPU, points and pairs in device memory:
//
//   bench_gpu tiles FILE|KIND:N:DIMS EPS [EPS …] [--index auto|grid|tree|all] [--decide auto|scalar|tensor64|tensor16] [--portable] [--repeat N]
//
// KIND: of `epsflow generate`. For each eps, milliseconds, medians after two warm-ups: of the index (order and list of tiles), of
// the frame (centre, survey, factors and bounds), and of the search, from the factors to the list of all pairs, open ones
// included. Then the pairs, ordered, each point with itself; the share of all pairs of tiles that was compared; the
// pairs open; and the rate of 2·n²·d operations in the time of the search.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <epsflow/gpu/tiles/tile_search.hpp>
#include <epsflow/io/generate.hpp>
#include <epsflow/io/read_points.hpp>

#include "bench_gpu.hpp"

namespace {

using namespace epsflow;

struct Arguments {
  std::string source;
  std::vector<double> eps;
  IndexChoice index = IndexChoice::all;
  DecideChoice decide = DecideChoice::tensor16;
  bool portable = false;
  int repeat = 5;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--index") {
      if (value == "auto") arguments.index = IndexChoice::automatic;
      if (value == "grid") arguments.index = IndexChoice::grid;
      if (value == "tree") arguments.index = IndexChoice::tree;
      ++i;
    } else if (word == "--decide") {
      if (value == "auto") arguments.decide = DecideChoice::automatic;
      if (value == "scalar") arguments.decide = DecideChoice::scalar;
      if (value == "tensor64") arguments.decide = DecideChoice::tensor64;
      ++i;
    } else if (word == "--portable") {
      arguments.portable = true;
    } else if (word == "--repeat") {
      arguments.repeat = std::max(1, std::atoi(argv[++i]));
    } else if (arguments.source.empty()) {
      arguments.source = word;
    } else {
      arguments.eps.push_back(std::atof(word.c_str()));
    }
  }
  return arguments;
}

Points points_of(const std::string& source) {
  const std::size_t first = source.find(':');
  if (first == std::string::npos) return io::read_points(source);
  const std::size_t second = source.find(':', first + 1);
  io::GeneratorOptions options;
  options.dims = std::strtoull(source.c_str() + second + 1, nullptr, 10);
  return io::generate(source.substr(0, first), std::strtoull(source.c_str() + first + 1, nullptr, 10), options);
}

const char* name_of(DecideChoice decide) {
  return decide == DecideChoice::scalar ? "scalar" : decide == DecideChoice::tensor64 ? "tensor64" : "tensor16";
}

const char* name_of(IndexChoice index) {
  return index == IndexChoice::all ? "all" : index == IndexChoice::tree ? "tree" : "grid";
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const gpu::DevicePoints& points, double eps, const Arguments& arguments, gpu::DeviceMemory& memory,
             gpu::PinnedPool& pinned) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmUps = 2;
  const CancelToken cancel;
  const gpu::Stream stream;
  const std::uint32_t n = points.device().size;
  std::vector<double> index_times, frame_times, search_times;
  gpu::TileFigures figures;
  std::uint64_t pairs = 0;
  bool kept = false;
  IndexChoice index = IndexChoice::all;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  for (int i = 0; i < kWarmUps + arguments.repeat; ++i) {
    auto begin = Clock::now();
    const auto tiles = std::make_shared<gpu::DeviceTileOrder>(points, eps, arguments.index, memory, pinned, cancel);
    tiles->stream().synchronize();
    const double ordered = since(begin);
    begin = Clock::now();
    gpu::TileSearch search(points, tiles, {eps, arguments.decide, arguments.portable}, memory, cancel);
    search.stream().synchronize();
    const double frame = since(begin);
    begin = Clock::now();
    search.for_each_list([](gpu::PairList) {});
    search.stream().synchronize();
    const double found = since(begin);
    if (i >= kWarmUps) {
      index_times.push_back(ordered);
      frame_times.push_back(frame);
      search_times.push_back(found);
    }
    if (i > 0) continue;
    figures = search.figures();
    kept = search.kept();
    index = tiles->kind();
    const gpu::DeviceBuffer<std::uint32_t> counts(memory, stream.get(), n);
    const gpu::DeviceBuffer<std::uint64_t> sums(memory, stream.get(), 2);
    gpu::launch_fill(counts.data(), n, 1, stream.get());
    stream.synchronize();
    search.for_each_list(
        [&](gpu::PairList list) { gpu::launch_count_pairs(list, counts.data(), search.stream().get()); });
    search.stream().synchronize();
    gpu::launch_sum_and_largest(counts.data(), n, sums.data(), {memory, stream.get()});
    pairs = gpu::read_values(sums.data(), 2, stream.get()).front();
  }
  const double tiles = std::ceil(n / 128.0);
  const double operations = 2.0 * n * n * points.device().dims;
  std::printf(
      "n %u d %u eps %g: index %.3f frame %.3f search %.3f ms (min %.3f); pairs %llu; tiles %.4f, open %llu (%.4f of "
      "pairs), %s, by %s of %s, %.1f TFLOP/s\n",
      n, points.device().dims, eps, median(index_times), median(frame_times), median(search_times),
      *std::min_element(search_times.begin(), search_times.end()), static_cast<unsigned long long>(pairs),
      static_cast<double>(figures.tile_pairs) / (tiles * (tiles + 1) / 2),
      static_cast<unsigned long long>(figures.open_pairs),
      2 * static_cast<double>(figures.open_pairs) / static_cast<double>(pairs), kept ? "kept" : "not kept",
      name_of(figures.decider), name_of(index), operations / median(search_times) * 1e-9);
  std::fflush(stdout);
}

int measure_all(const Arguments& arguments) {
  if (arguments.eps.empty()) {
    std::fprintf(stderr,
                 "usage: bench_gpu tiles FILE|KIND:N:DIMS EPS [EPS …] [--index auto|grid|tree|all] [--decide "
                 "auto|scalar|tensor64|tensor16] [--portable] [--repeat N]\n");
    return 2;
  }
  const gpu::KeptStreams streams;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  const Points read = points_of(arguments.source);
  const gpu::DevicePoints points(read.view(), 0, memory, pinned, 16);
  for (const double eps : arguments.eps) measure(points, eps, arguments, memory, pinned);
  return 0;
}

}  // namespace

int bench_tiles(int argc, char** argv) {
  try {
    return measure_all(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gpu tiles: %s\n", error.what());
    return 1;
  }
}
