// Finds groups of galaxies on the sky and shows how they merge as eps grows.
//
//   sdss_galaxies                      on a generated sky
//   sdss_galaxies FILE RA DEC          on a real catalogue: the names of its columns
//
// With minpts = 2 DBSCAN is the friends-of-friends method of cosmology, and eps is its linking length. A larger minpts
// requires denser groups and forms fewer chains of single galaxies. Right ascension is compressed by cos(dec) towards
// the poles. Here it is scaled by the cosine of the middle declination, which suits a strip but not a whole sky.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include <epsflow/io/generate.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/parts/sweep.hpp>

namespace {

/// Returns ra·cos(middle dec) and dec in degrees, [n × 2].
std::vector<double> sky_positions(const epsflow::Points& catalogue) {
  const epsflow::PointsView rows = catalogue;
  double lo = 90, hi = -90;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lo = std::min(lo, rows.at(i, 1));
    hi = std::max(hi, rows.at(i, 1));
  }
  const double scale = std::cos((lo + hi) / 2 * std::numbers::pi / 180);
  std::vector<double> positions;
  positions.reserve(2 * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    positions.insert(positions.end(), {rows.at(i, 0) * scale, rows.at(i, 1)});
  }
  return positions;
}

/// Prints the five groups with the most members, and the mean position of each.
void print_largest(const epsflow::VariantResult& result, const std::vector<double>& positions) {
  struct Group {
    std::size_t members = 0;
    double x = 0, y = 0;
  };
  std::vector<Group> groups(result.summary.clusters);
  for (std::size_t i = 0; i < result.labels.size(); ++i) {
    if (result.labels[i] == epsflow::kNoise) continue;
    Group& g = groups[static_cast<std::size_t>(result.labels[i])];
    ++g.members;
    g.x += positions[2 * i];
    g.y += positions[2 * i + 1];
  }
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.members > b.members; });
  for (std::size_t g = 0; g < std::min<std::size_t>(5, groups.size()); ++g) {
    const double members = static_cast<double>(groups[g].members);
    std::printf("    %6zu members around (%.2f, %.2f)\n", groups[g].members, groups[g].x / members,
                groups[g].y / members);
  }
}

void cluster(const epsflow::Points& catalogue) {
  const std::vector<double> positions = sky_positions(catalogue);
  // Results come as they are finished, largest eps first, so only the current labels are in memory.
  const epsflow::PointSet points{epsflow::PointsView(positions, 2)};
  const epsflow::Sweep sweep = epsflow::grid({0.05, 0.1, 0.2, 0.4}, {2, 5, 20});
  epsflow::run_each(points, {}, sweep, {}, [&](epsflow::VariantResult&& r) {
    std::printf("eps %.2f deg, minpts %2u: %6llu groups, %6llu galaxies in none\n", r.variant.eps, r.variant.minpts,
                static_cast<unsigned long long>(r.summary.clusters), static_cast<unsigned long long>(r.summary.noise));
    print_largest(r, positions);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4) {
    std::fprintf(stderr, "usage: sdss_galaxies [FILE RA DEC]\n");
    return 2;
  }
  try {
    const epsflow::Points catalogue = argc == 1 ? epsflow::io::generate("galaxies", 50'000)
                                                : epsflow::io::read_points(argv[1], {.columns = {argv[2], argv[3]}});
    std::printf("%zu galaxies\n", catalogue.size());
    cluster(catalogue);
  } catch (const epsflow::Error& e) {
    std::fprintf(stderr, "sdss_galaxies: %s\n", e.what());
    return 1;
  }
  return 0;
}
