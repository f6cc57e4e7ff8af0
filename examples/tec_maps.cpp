// Space weather: finds connected parts of a map of total electron content (TEC).
//
//   tec_maps                           on a generated map
//   tec_maps FILE LON LAT VTEC         on a real one: the names of its columns
//
// It answers two questions. In (lon, lat): where is coverage dense, and how does that depend on eps and minpts? In
// (lon, lat, TEC): which regions have the same electron content, so that a cluster is a patch of the ionosphere? There
// eps is one number for degrees and TECU, so TEC is scaled first.
#include <cstdio>
#include <string>
#include <vector>

#include <epsflow/io/generate.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace {

/// Returns lon, lat, TEC of each sample in float64.
epsflow::Points load(int argc, char** argv) {
  if (argc == 1) return epsflow::io::generate("tec", 100'000);
  // Samples without a fix are NaN in such files and are dropped.
  epsflow::Points points = epsflow::io::read_points(
      argv[1], {.columns = {argv[2], argv[3], argv[4]}, .on_nan = epsflow::io::NanPolicy::drop});
  if (points.precision() == epsflow::Precision::float64) return points;
  throw epsflow::UsageError("this example works on float64 columns");
}

void print(const char* title, const std::vector<epsflow::VariantResult>& results) {
  std::printf("\n%s\n%8s %7s %9s %9s %9s %9s\n", title, "eps", "minpts", "clusters", "noise", "largest", "seconds");
  for (const epsflow::VariantResult& r : results) {
    std::printf("%8g %7u %9llu %9llu %9llu %9.3f\n", r.variant.eps, r.variant.minpts,
                static_cast<unsigned long long>(r.summary.clusters), static_cast<unsigned long long>(r.summary.noise),
                static_cast<unsigned long long>(r.summary.largest), r.seconds);
  }
}

void cluster(epsflow::Points& samples) {
  const auto values = samples.values<double>();
  const std::size_t n = samples.size();

  // The coverage uses only the positions, over a grid of parameters. Each eps is searched once for all minpts.
  std::vector<double> positions;
  positions.reserve(2 * n);
  for (std::size_t i = 0; i < n; ++i) positions.insert(positions.end(), {values[3 * i], values[3 * i + 1]});
  print("coverage: lon, lat in degrees",
        epsflow::run(epsflow::PointsView(positions, 2), epsflow::grid({0.05, 0.1, 0.2, 0.3}, {4, 16, 64})));

  // For patches, 10 TECU count as much as one degree.
  constexpr double kDegreesPerTecu = 0.1;
  for (std::size_t i = 0; i < n; ++i) values[3 * i + 2] *= kDegreesPerTecu;
  print("patches: lon, lat, TEC / 10", epsflow::run(samples, epsflow::grid({0.2, 0.3, 0.5}, {6, 24})));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 5) {
    std::fprintf(stderr, "usage: tec_maps [FILE LON LAT VTEC]\n");
    return 2;
  }
  try {
    epsflow::Points samples = load(argc, argv);
    std::printf("%zu samples\n", samples.size());
    cluster(samples);
  } catch (const epsflow::Error& e) {
    std::fprintf(stderr, "tec_maps: %s\n", e.what());
    return 1;
  }
  return 0;
}
