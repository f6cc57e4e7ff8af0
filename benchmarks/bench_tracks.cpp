// Times tracks of clusters from slice to slice, and prints one line of JSON:
//
//   bench_tracks [--slices N] [--points N] [--match cores|ids] [--sphere] [--threads N] [--repeat N]
//
// Each slice has 20 round patches, which drift, and one point in ten outside of them; a patch is a cluster, and its points are core. In the
// plane, or with --sphere in longitude and latitude. eps is such that a point of a patch has 20 others of its slice around it. seconds: of each
// repetition, from labelled points in memory to links, cells, tracks and the rows of the table.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/pipeline/tracks.hpp>

namespace {

using namespace epsflow;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPatches = 20;
constexpr double kRadius = 4;  ///< of a patch

bool has(int argc, char** argv, const char* name) {
  return std::any_of(argv + 1, argv + argc, [&](const char* word) { return std::strcmp(word, name) == 0; });
}
std::size_t number(int argc, char** argv, const char* name, std::size_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::stoull(argv[i + 1]);
  }
  return otherwise;
}

struct Maps {
  std::vector<std::uint64_t> starts{0};
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> core;
  std::vector<std::int64_t> ids;
  std::vector<double> places;
};

Maps make_maps(std::size_t slices, std::size_t points) {
  Maps maps;
  std::mt19937_64 random(1);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  double x[kPatches];
  double y[kPatches];
  for (std::size_t k = 0; k < kPatches; ++k) {
    x[k] = unit() * 360 - 180;
    y[k] = unit() * 120 - 60;
  }
  for (std::size_t s = 0; s < slices; ++s) {
    for (std::size_t k = 0; k < kPatches; ++k) {
      x[k] = std::remainder(x[k] + unit(), 360);
      y[k] = std::clamp(y[k] + unit() - 0.5, -60.0, 60.0);
    }
    for (std::size_t i = 0; i < points; ++i) {
      const std::size_t patch = random() % kPatches;
      const bool noise = random() % 10 == 0;
      const double r = kRadius * std::sqrt(unit());
      const double angle = 2 * std::numbers::pi * unit();
      maps.labels.push_back(noise ? kNoise : static_cast<std::int32_t>(patch));
      maps.core.push_back(noise ? 0 : 1);
      maps.ids.push_back(static_cast<std::int64_t>(i));
      maps.places.push_back(noise ? unit() * 360 - 180 : std::remainder(x[patch] + r * std::cos(angle), 360));
      maps.places.push_back(noise ? unit() * 180 - 90 : y[patch] + r * std::sin(angle));
    }
    maps.starts.push_back(maps.labels.size());
  }
  return maps;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::size_t slices = number(argc, argv, "--slices", 2880);
    const std::size_t points = number(argc, argv, "--points", 10000);
    const bool by_ids = has(argc, argv, "ids");
    const bool sphere = has(argc, argv, "--sphere");
    const Maps maps = make_maps(slices, points);
    // Of 0.9 · points / patches in a disc of the radius, 20 are within eps.
    const double eps = kRadius * std::sqrt(20 / (0.9 * static_cast<double>(points) / kPatches));
    const SlicedLabels labels{.starts = maps.starts,
                              .labels = maps.labels,
                              .core = maps.core,
                              .points = {std::span<const double>(maps.places), 2},
                              .metric = {.kind = sphere ? MetricKind::greatcircle : MetricKind::euclidean},
                              .ids = maps.ids};
    nlohmann::ordered_json json{
        {"slices", slices}, {"points", points}, {"match", by_ids ? "ids" : "cores"}, {"sphere", sphere}, {"eps", eps}};
    for (std::size_t i = 0; i < number(argc, argv, "--repeat", 3); ++i) {
      const auto begin = Clock::now();
      const TrackedSlices found = track(labels, {.match = by_ids ? TrackMatch::ids : TrackMatch::cores, .eps = eps},
                                        {.threads = static_cast<unsigned>(number(argc, argv, "--threads", 0))});
      json["seconds"].push_back(std::chrono::duration<double>(Clock::now() - begin).count());
      json["links"] = found.tracks.links.size();
      json["cells"] = found.tracks.cells;
      json["tracks"] = found.tracks.tracks;
    }
    std::cout << json.dump() << "\n";
    return 0;
  } catch (const Error& error) {
    std::cerr << "bench_tracks: " << error.what() << "\n";
    return 1;
  }
}
