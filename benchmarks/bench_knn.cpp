// Times the distances of all points to their k-th nearest other points, and prints one line of JSON:
//
//   bench_knn FILE|uniform:N:DIMS K [--backend cpu|gpu] [--repeat N] [--threads N] [--float32] [--check]
//
// uniform: points spread evenly over a cube. seconds: of each repetition, from points in memory that an engine has loaded to distances
// in memory; on a GPU the points are on the device. load_s: to load them. mean: of the distances. On a GPU device_ms, too: of each
// repetition, by CUDA events, from points on the device to distances on the device; the order of the points and all else
// that is made for the search included, their extents and the check for NaN not. --check: whether device and CPU agree, point by point.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/k_distance.hpp>
#ifdef EPSFLOW_WITH_CUDA
#include <epsflow/gpu/nearest/device_nearest.hpp>
#endif

namespace {

using namespace epsflow;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

bool has(int argc, char** argv, const char* name) {
  return std::any_of(argv + 3, argv + argc, [&](const char* word) { return std::strcmp(word, name) == 0; });
}
const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  for (int i = 3; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): the same points each time.
Points uniform(std::size_t n, std::size_t dims) {
  Points points(n, dims, Precision::float64);
  std::uint64_t counter = 0;
  for (double& value : points.values<double>()) {
    std::uint64_t z = ++counter * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    value = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  return points;
}

Points rounded(PointsView points) {
  Points single(points.size(), points.dims(), Precision::float32);
  points.visit([&](auto values) {
    std::transform(values.begin(), values.end(), single.values<float>().begin(),
                   [](auto value) { return static_cast<float>(value); });
  });
  return single;
}

Points make_points(const std::string& source) {
  if (source.rfind("uniform:", 0) != 0) return io::read_points(source);
  const std::size_t colon = source.find(':', 8);
  if (colon == std::string::npos) throw UsageError("say uniform:N:DIMS");
  return uniform(std::stoull(source.substr(8)), std::stoull(source.substr(colon + 1)));
}

#ifdef EPSFLOW_WITH_CUDA
void measure_device(PointsView points, std::uint32_t k, int repeat, bool check, nlohmann::ordered_json& json) {
  const gpu::KeptStreams streams;
  gpu::DeviceMemory memory(0, 0);
  gpu::PinnedPool pinned;
  const gpu::DevicePoints loaded(points, 0, memory, pinned, 8);
  const std::span<const std::uint32_t> ks(&k, 1);
  if (!gpu::serves_nearest(loaded, ks)) return;
  const gpu::Stream stream;
  const gpu::DeviceBuffer<double> found(memory, stream.get(), points.size());
  const gpu::StreamDrain drain(stream);
  json["device_ms"] = nlohmann::json::array();
  for (int i = -2; i < repeat; ++i) {  // two to warm up
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
  const Clock::time_point begin = Clock::now();
  const std::vector<double> expected = k_distances(cpu.load(points), k);
  json["cpu_s"] = seconds_since(begin);
  json["equal"] = on_device == expected;
}
#endif

void measure(int argc, char** argv) {
  Points points = make_points(argv[1]);
  if (has(argc, argv, "--float32")) points = rounded(points);
  const auto k = static_cast<std::uint32_t>(std::atoi(argv[2]));
  const int repeat = std::max(1, std::atoi(option(argc, argv, "--repeat", "5")));
  EngineOptions options;
  options.threads = static_cast<unsigned>(std::atoi(option(argc, argv, "--threads", "0")));
  const std::string backend = option(argc, argv, "--backend", "auto");
  if (backend == "cpu") options.backend = BackendChoice::cpu;
  if (backend == "gpu") options.backend = BackendChoice::gpu;

  const Engine engine(options);
  nlohmann::ordered_json json{
      {"points", points.size()}, {"dims", points.dims()}, {"k", k}, {"backend", engine.backend()}};
  const Clock::time_point begin = Clock::now();
  const Dataset data = engine.load(points);
  json["load_s"] = seconds_since(begin);
  json["seconds"] = nlohmann::json::array();
  double sum = 0;
  for (int i = 0; i < repeat; ++i) {
    const Clock::time_point start = Clock::now();
    const std::vector<double> distances = k_distances(data, k);
    json["seconds"].push_back(seconds_since(start));
    sum = 0;
    for (const double distance : distances) sum += distance;
  }
  json["mean"] = sum / static_cast<double>(points.size());
#ifdef EPSFLOW_WITH_CUDA
  if (engine.backend() == "gpu") measure_device(points, k, repeat, has(argc, argv, "--check"), json);
#endif
  std::cout << json.dump() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_knn FILE|uniform:N:DIMS K [--OPTION [VALUE] …]\n");
    return 2;
  }
  try {
    measure(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_knn: %s\n", e.what());
    return 1;
  }
  return 0;
}
