// Clusterings and searches of the GPU, from points in device memory to results there.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <epsflow/gpu/direct/device_clustering.hpp>
#include <epsflow/gpu/direct/direct_task.hpp>
#include <epsflow/gpu/nearest/device_nearest.hpp>
#include <epsflow/gpu/tiles/tile_search.hpp>
#include <epsflow/gpu/trees/device_boruvka.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#include <epsflow/pipeline/sweep.hpp>

#include "cases.hpp"
#include "device.hpp"
#include "points.hpp"

namespace epsflow::bench {
namespace {

Json measure_direct(const gpu::DevicePoints& points, double eps, std::uint32_t minpts, const Words& words,
                    Device& device) {
  gpu::DeviceMemory& memory = device.memory;
  gpu::PinnedPool& pinned = device.pinned;
  const CancelToken& cancel = device.cancel;
  const gpu::Stream& stream = device.stream;
  const std::uint32_t n = points.device().size;
  const gpu::DeviceBuffer<std::int32_t> labels(memory, stream.get(), n);
  const LabelTarget target{labels.data(), nullptr};
  stream.synchronize();
  const std::uint64_t held = memory.used();
  LabelSummary summary;
  const auto seconds = seconds_of_each(
      words.repeat(7),
      [&] {
        const auto clustering = gpu::make_device_clustering(
            {points, eps, {minpts, minpts}, memory, pinned, cancel},
            words.has("--reach") ? std::make_shared<gpu::DeviceGrid>(points, eps, memory, pinned, cancel) : nullptr);
        summary = clustering->unite(minpts).label({&target, 1}).front().summary;
      },
      2);
  Json json{{"points", n},
            {"eps", eps},
            {"minpts", minpts},
            {"ms", summary_ms(seconds)},
            {"clusters", summary.clusters},
            {"noise", summary.noise},
            {"core", summary.core},
            {"largest", summary.largest},
            {"bytes_per_point", static_cast<double>(memory.most_used() - held) / static_cast<double>(n)}};
  if (words.has("--check")) {
    const auto found = gpu::read_values(labels.data(), n, stream.get());
    const auto expected = run(points.host(), grid({eps}, {minpts}), EngineOptions{.backend = BackendChoice::cpu});
    json["equal"] = expected.front().labels == found && expected.front().summary == summary;
  }
  if (words.has("--phases")) {
    gpu::PhaseMarks marks;
    marks.begin(stream);
    const auto clustering =
        gpu::make_device_clustering({points, eps, {minpts, minpts}, memory, pinned, cancel, &marks});
    (void)clustering->unite(minpts).label({&target, 1});
    double sum = 0;
    for (const auto& [phase, milliseconds] : marks.times()) {
      json["phases_ms"][phase] = milliseconds;
      sum += milliseconds;
    }
    json["phases_ms"]["all"] = sum;
  }
  return json;
}

Json measure_tiles(const gpu::DevicePoints& points, double eps, const Words& words, Device& device) {
  constexpr int kWarmUps = 2;
  gpu::DeviceMemory& memory = device.memory;
  const gpu::Stream& stream = device.stream;
  const std::uint32_t n = points.device().size, d = points.device().dims;
  const auto wanted = words.choice("--index", IndexChoice::all);
  const auto decide = words.choice("--decide", DecideChoice::tensor16);
  std::vector<double> index_times, frame_times, search_times;
  gpu::TileFigures figures;
  std::uint64_t pairs = 0;
  bool kept = false;
  IndexChoice index = IndexChoice::all;
  for (int i = 0; i < kWarmUps + words.repeat(5); ++i) {
    std::shared_ptr<gpu::DeviceTileOrder> tiles;
    const double ordered = seconds_of([&] {
      tiles = std::make_shared<gpu::DeviceTileOrder>(points, eps, wanted, memory, device.pinned, device.cancel);
      tiles->stream().synchronize();
    });
    std::optional<gpu::TileSearch> made;
    const double framed = seconds_of([&] {
      made.emplace(points, tiles, gpu::TileSearchOptions{eps, decide, words.has("--portable")}, memory, device.cancel);
      made->stream().synchronize();
    });
    gpu::TileSearch& search = *made;
    const double searched = seconds_of([&] {
      search.for_each_list([](gpu::PairsOnDevice) {});
      search.stream().synchronize();
    });
    if (i >= kWarmUps) {
      index_times.push_back(1e3 * ordered);
      frame_times.push_back(1e3 * framed);
      search_times.push_back(1e3 * searched);
    }
    if (i > 0) continue;
    figures = search.figures();
    kept = search.cached();
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
  const double operations = 2.0 * n * n * d;
  const auto undecided = static_cast<double>(figures.undecided_pairs);
  return {{"points", n},
          {"dims", d},
          {"eps", eps},
          {"index_ms", median(index_times)},
          {"frame_ms", median(frame_times)},
          {"search_ms", median(search_times)},
          {"search_min_ms", std::ranges::min(search_times)},
          {"pairs", pairs},
          {"tile_pairs", static_cast<double>(figures.tile_pairs) / (tiles * (tiles + 1) / 2)},
          {"undecided", figures.undecided_pairs},
          {"undecided_of_pairs", 2 * undecided / static_cast<double>(pairs)},
          {"kept", kept},
          {"filter", word_of(figures.filter)},
          {"index", word_of(index)},
          {"tflop_per_s", operations / median(search_times) * 1e-9}};
}

}  // namespace

bool time_direct(const Words& words) {
  Device device;
  const Points read = points_of(words);
  const gpu::DevicePoints points = device.load(read);
  bool good = true;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    good = print(measure_direct(points, words.eps(i), words.count(i + 1), words, device)) && good;
  }
  return good;
}

bool time_tiles(const Words& words) {
  Device device;
  const Points read = points_of(words);
  const gpu::DevicePoints points = device.load(read);
  for (std::size_t i = 1; i < words.size(); ++i) print(measure_tiles(points, words.eps(i), words, device));
  return true;
}

void add_nearest_on_device(PointsView points, std::uint32_t k, int repeat, bool check, Json& json) {
  Device device;
  const gpu::DevicePoints loaded = device.load(points);
  const std::span<const std::uint32_t> ks(&k, 1);
  if (!gpu::serves_nearest(loaded, ks)) return;
  const gpu::DeviceBuffer<double> found(device.memory, device.stream.get(), points.size());
  const gpu::StreamDrain drain(device.stream);
  for (int i = -2; i < repeat; ++i) {  // two warm-ups
    DeviceClock clock(device.stream);
    json["resolved"] =
        gpu::find_nearest(loaded, ks, gpu::NearestForm::distances, found.data(), device.memory, device.stream);
    const double milliseconds = clock.lap();
    if (i >= 0) json["device_ms"].push_back(milliseconds);
  }
  if (!check) return;
  const std::vector<double> on_device = gpu::read_values(found.data(), found.size(), device.stream.get());
  const Engine cpu({.backend = BackendChoice::cpu});
  std::vector<double> expected;
  json["cpu_s"] = seconds_of([&] { expected = k_distances(cpu.load(points), k); });
  json["equal"] = on_device == expected;
}

void add_trees_on_device(PointsView points, std::span<const std::uint32_t> minpts, std::uint64_t size, int repeat,
                         Json& json) {
  Device device;
  gpu::DeviceMemory& memory = device.memory;
  const gpu::Stream& stream = device.stream;
  const gpu::DevicePoints loaded = device.load(points);
  const gpu::StreamDrain drain(stream);
  for (int i = -1; i < repeat; ++i) {  // one warm-up
    DeviceClock clock(stream);
    const auto add = [&](const char* name) {
      const double milliseconds = clock.lap();
      if (i >= 0) json[name].push_back(milliseconds);
    };
    auto trees =
        gpu::DeviceBoruvka::of(loaded, std::ranges::max(minpts), {0, memory, device.pinned, device.cancel}, stream);
    if (!trees) return;
    add("lists_ms");
    for (const std::uint32_t m : minpts) {
      (void)clock.lap();  // leaves out what freed the last memory
      trees->run(m);
      add("tree_ms");
      const gpu::DeviceTree tree = trees->sorted();
      gpu::launch_sums_to_eps(tree.edges.data(), tree.core.data(), static_cast<std::uint32_t>(points.size()),
                              stream.get());
      const gpu::DeviceDendrogram dendrogram(tree, trees->order(), {memory, stream.get()});
      add("join_ms");
      const gpu::DeviceCondensed clusters = dendrogram.condense(size);
      add("condense_ms");
      const ChosenClusters chosen = choose_clusters(clusters.clusters, {});
      const auto of_clusters = gpu::copy_of(std::span<const SelectedCluster>(chosen.of_clusters), memory, stream.get());
      const gpu::DeviceBuffer<std::int32_t> labels(memory, stream.get(), points.size());
      const gpu::DeviceBuffer<double> probabilities(memory, stream.get(), points.size());
      gpu::launch_label(clusters, of_clusters.data(), labels.data(), probabilities.data(), stream.get());
      add("labels_ms");
    }
    json["device_bytes"] = memory.most_used();
  }
}

}  // namespace epsflow::bench
