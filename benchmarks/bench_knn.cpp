// Times the distances of all points to their k-th nearest other points, and prints one line of JSON:
//
//   bench_knn FILE|uniform:N:DIMS K [--backend cpu|gpu] [--repeat N] [--threads N] [--float32] [--check]
//
// uniform: points distributed evenly in a cube. seconds: of each repetition, from points in an engine (on a GPU: on the
// device) to distances in host memory. load_s: of loading. mean: the mean distance. On a GPU also device_ms: of each
// repetition, by CUDA events, from points on the device to distances on the device. It includes the order of the points
// and all other preparation of the search, except their extents and the check for NaN. --check: compares the device
// with the CPU, point by point.
#include <optional>
#include <span>

#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#ifdef EPSFLOW_WITH_CUDA
#include <epsflow/gpu/nearest/device_nearest.hpp>
#endif

#include "bench.hpp"
#include "made_points.hpp"

namespace {

using namespace epsflow;

Points rounded(PointsView points) {
  Points single(points.size(), points.dims(), Precision::float32);
  points.visit([&](auto values) {
    std::transform(values.begin(), values.end(), single.values<float>().begin(),
                   [](auto value) { return static_cast<float>(value); });
  });
  return single;
}

#ifdef EPSFLOW_WITH_CUDA
void measure_device(PointsView points, std::uint32_t k, int repeat, bool check, bench::Json& json) {
  const gpu::KeptStreams streams;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  const gpu::DevicePoints loaded(points, 0, memory, pinned, 8);
  const std::span<const std::uint32_t> ks(&k, 1);
  if (!gpu::serves_nearest(loaded, ks)) return;
  const gpu::Stream stream;
  const gpu::DeviceBuffer<double> found(memory, stream.get(), points.size());
  const gpu::StreamDrain drain(stream);
  for (int i = -2; i < repeat; ++i) {  // two warm-ups
    const gpu::Event begin, end;
    begin.record(stream);
    const bool done = gpu::find_nearest(loaded, ks, gpu::NearestForm::distances, found.data(), memory, stream);
    end.record(stream);
    end.synchronize();
    json["resolved"] = done;
    if (i >= 0) json["device_ms"].push_back(end.since(begin));
  }
  if (!check) return;
  const std::vector<double> on_device = gpu::read_values(found.data(), found.size(), stream.get());
  const Engine cpu({.backend = BackendChoice::cpu});
  std::vector<double> expected;
  json["cpu_s"] = bench::seconds_of([&] { expected = k_distances(cpu.load(points), k); });
  json["equal"] = on_device == expected;
}
#endif

int measure(const bench::Words& words) {
  Points points = bench::points_of<double>(words[0]);
  if (words.has("--float32")) points = rounded(points);
  const auto k = static_cast<std::uint32_t>(std::stoul(words[1]));
  EngineOptions options;
  words.set(options);
  const Engine engine(options);
  bench::Json json{{"points", points.size()}, {"dims", points.dims()}, {"k", k}, {"backend", engine.backend()}};
  std::optional<Dataset> data;
  json["load_s"] = bench::seconds_of([&] { data = engine.load(points); });
  std::vector<double> distances;
  for (int i = 0; i < words.repeat(5); ++i) {
    json["seconds"].push_back(bench::seconds_of([&] { distances = k_distances(*data, k); }));
  }
  double sum = 0;
  for (const double distance : distances) sum += distance;
  json["mean"] = sum / static_cast<double>(points.size());
#ifdef EPSFLOW_WITH_CUDA
  if (engine.backend() == "gpu") measure_device(points, k, words.repeat(5), words.has("--check"), json);
#endif
  std::cout << json.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return epsflow::bench::run({"bench_knn FILE|uniform:N:DIMS K [--OPTION [VALUE] …]", 2, {"--float32", "--check"}},
                             argc, argv, measure);
}
