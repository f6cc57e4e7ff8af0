// Times the search by tiles on the GPU, with points and pairs in device memory:
//
//   bench_gpu tiles FILE|KIND:N:DIMS EPS [EPS …] [--index auto|grid|tree|all] [--decide auto|scalar|tensor64|tensor16]
//   [--portable] [--repeat N]
//
// KIND: a kind of `epsflow generate`. Prints for each eps the median milliseconds after two warm-ups: of the index
// (order and list of tiles), of the frame (centre, survey, factors and bounds), and of the search, from the factors to
// the list of all pairs, including undecided ones. Then prints the ordered pairs, with each point and itself; the share
// of tile pairs that was compared; the undecided pairs; and the rate of 2·n²·d operations in the time of the search.
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

Points points_of(const std::string& source) {
  const std::size_t first = source.find(':');
  if (first == std::string::npos) return io::read_points(source);
  const std::size_t second = source.find(':', first + 1);
  io::GeneratorOptions options;
  options.dims = std::strtoull(source.c_str() + second + 1, nullptr, 10);
  return io::generate(source.substr(0, first), std::strtoull(source.c_str() + first + 1, nullptr, 10), options);
}

/// Returns the choice of an option, or `otherwise`.
template <class Choice>
Choice choice(const bench::Words& words, const char* name, Choice otherwise) {
  return words.has(name) ? choice_of<Choice>(words.text(name)).value() : otherwise;
}

void measure(const gpu::DevicePoints& points, double eps, const bench::Words& words, gpu::DeviceMemory& memory,
             gpu::PinnedPool& pinned) {
  constexpr int kWarmUps = 2;
  const CancelToken cancel;
  const gpu::Stream stream;
  const std::uint32_t n = points.device().size;
  std::vector<double> index_times, frame_times, search_times;
  gpu::TileFigures figures;
  std::uint64_t pairs = 0;
  bool kept = false;
  IndexChoice index = IndexChoice::all;
  for (int i = 0; i < kWarmUps + words.repeat(5); ++i) {
    std::shared_ptr<gpu::DeviceTileOrder> tiles;
    const double ordered = 1e3 * bench::seconds_of([&] {
                             const auto wanted = choice(words, "--index", IndexChoice::all);
                             tiles =
                                 std::make_shared<gpu::DeviceTileOrder>(points, eps, wanted, memory, pinned, cancel);
                             tiles->stream().synchronize();
                           });
    std::optional<gpu::TileSearch> made;
    const double frame =
        1e3 * bench::seconds_of([&] {
          const auto decide = choice(words, "--decide", DecideChoice::tensor16);
          made.emplace(points, tiles, gpu::TileSearchOptions{eps, decide, words.has("--portable")}, memory, cancel);
          made->stream().synchronize();
        });
    gpu::TileSearch& search = *made;
    const double found = 1e3 * bench::seconds_of([&] {
                           search.for_each_list([](gpu::PairsOnDevice) {});
                           search.stream().synchronize();
                         });
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
        [&](gpu::PairsOnDevice list) { gpu::launch_count_pairs(list, counts.data(), search.stream().get()); });
    search.stream().synchronize();
    gpu::launch_sum_and_largest(counts.data(), n, sums.data(), {memory, stream.get()});
    pairs = gpu::read_values(sums.data(), 2, stream.get()).front();
  }
  const double tiles = std::ceil(n / 128.0);
  const double operations = 2.0 * n * n * points.device().dims;
  std::printf(
      "n %u d %u eps %g: index %.3f frame %.3f search %.3f ms (min %.3f); pairs %llu; tiles %.4f, open %llu (%.4f of "
      "pairs), %s, by %s of %s, %.1f TFLOP/s\n",
      n, points.device().dims, eps, bench::median(index_times), bench::median(frame_times), bench::median(search_times),
      std::ranges::min(search_times), static_cast<unsigned long long>(pairs),
      static_cast<double>(figures.tile_pairs) / (tiles * (tiles + 1) / 2),
      static_cast<unsigned long long>(figures.undecided_pairs),
      2 * static_cast<double>(figures.undecided_pairs) / static_cast<double>(pairs), kept ? "kept" : "not kept",
      word_of(figures.filter).data(), word_of(index).data(), operations / bench::median(search_times) * 1e-9);
  std::fflush(stdout);
}

}  // namespace

int bench_tiles(const bench::Words& words) {
  const gpu::KeptStreams streams;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  const Points read = points_of(words[1]);
  const gpu::DevicePoints points(read.view(), 0, memory, pinned, 16);
  for (std::size_t i = 2; i < words.size(); ++i) measure(points, std::stod(words[i]), words, memory, pinned);
  return 0;
}
