// Finds lightning flashes of very different sizes among the radio sources that a mapping array locates.
//
//   lightning_flashes                               on generated sources
//   lightning_flashes FILE X Y Z T                  on real ones: the names of its columns, in km and s
//
// Distances in space and in time count in one distance, by a factor for each column. One hierarchy serves every
// smallest size of clusters, and its cut at an eps has the clusters of core points that DBSCAN finds at this eps.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace {

// 3 km count as much as 0.15 s: flashes are usually separated by these.
const epsflow::Metric kMetric{.scale = {1 / 3.0, 1 / 3.0, 1 / 3.0, 1 / 0.15}};
constexpr std::uint32_t kMinpts = 8;

/// Returns [n × 4] x, y, z in km and t in s: 60 flashes of 40 to some thousand sources, each along three branches, and
/// a tenth of noise.
std::vector<double> generate() {
  std::mt19937_64 random(4);
  const auto uniform = [&](double lo, double hi) { return std::uniform_real_distribution(lo, hi)(random); };
  const auto normal = [&](double mean, double sigma) { return std::normal_distribution(mean, sigma)(random); };
  std::vector<double> sources;
  for (int flash = 0; flash < 60; ++flash) {
    const double length = 0.8 * std::pow(uniform(0.004, 1), -0.7);  // of a branch, in km: up to 38
    const std::array origin{normal(0, 12), normal(0, 12), uniform(5, 10)};
    const double begin = flash + uniform(0, 0.4), angle = uniform(0, 6.28), climb = uniform(-0.1, 0.1);
    for (double left = 50 * length; left > 0; --left) {
      const double along = uniform(0, length), way = angle + std::floor(uniform(0, 3)) * 2.094;
      sources.insert(sources.end(), {origin[0] + along * std::cos(way) + normal(0, 0.1),
                                     origin[1] + along * std::sin(way) + normal(0, 0.1),
                                     origin[2] + along * climb + normal(0, 0.1), begin + along / 35});
    }
  }
  for (std::size_t left = sources.size() / 40; left > 0; --left) {
    sources.insert(sources.end(), {uniform(-40, 40), uniform(-40, 40), uniform(2, 14), uniform(0, 61)});
  }
  return sources;
}

/// Prints how many clusters are selected for several smallest sizes. Leaves are branches of flashes. With epsilon,
/// branches that separate below this eps stay together.
void print_sizes(const epsflow::Hierarchy& tree) {
  std::printf("\nmin_cluster_size  branches  flashes\n");
  for (const std::uint64_t size : {10U, 30U, 100U, 300U, 1000U}) {
    const epsflow::CondensedTree condensed(tree, size);
    const auto branches = condensed.select({.method = epsflow::ClusterSelection::leaf});
    const auto flashes = condensed.select({.epsilon = 1});
    std::printf("%16llu %9zu %8zu\n", static_cast<unsigned long long>(size), branches.nodes.size(),
                flashes.nodes.size());
  }
}

/// Prints DBSCAN's clusters for several eps. Returns true if each cut of the tree has the same core points in them.
bool print_cuts(epsflow::PointsView sources, const epsflow::Hierarchy& tree) {
  std::printf("\n eps  clusters  core points  cut\n");
  bool equal = true;
  for (const epsflow::VariantResult& r : epsflow::run(
           {sources, kMetric}, epsflow::grid({0.1, 0.2, 0.4, 0.7, 1.0, 1.5}, {kMinpts}), {}, {.core_mask = true})) {
    const epsflow::Buffer<std::int32_t> cut = tree.cut(r.variant.eps);
    std::size_t same = 0;
    for (std::size_t i = 0; i < cut.size(); ++i) same += cut[i] == (r.core[i] != 0 ? r.labels[i] : epsflow::kNoise);
    std::printf("%4.1f %9llu %12llu  %s\n", r.variant.eps, static_cast<unsigned long long>(r.summary.clusters),
                static_cast<unsigned long long>(r.summary.core), same == cut.size() ? "equal" : "different");
    equal = equal && same == cut.size();
  }
  return equal;
}

/// Prints the five largest and the five smallest flashes. Their clusters also have sources that are far away, as noise
/// joins them at a large eps: sources with a probability below 0.1 are left out.
void print_flashes(epsflow::PointsView sources, const epsflow::Hierarchy& tree) {
  const epsflow::CondensedTree condensed(tree, 30);
  epsflow::SelectedClusters found = condensed.select({.epsilon = 1});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (found.probabilities[i] < 0.1) found.labels[i] = epsflow::kNoise;
  }
  const epsflow::Catalog rows = epsflow::catalog({.points = sources, .metric = kMetric, .labels = found.labels.span()});
  std::vector<std::size_t> order(rows.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t c) { return rows.size[c]; });
  std::printf("\nsources  birth  death      t s  lasts s     x km    y km    z km  wide km\n");
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k >= 5 && k + 5 < order.size()) continue;
    const std::size_t c = order[k];
    const epsflow::CondensedCluster& cluster = condensed.clusters()[found.nodes[c]];
    const auto extent = [&](std::size_t axis) { return rows.upper[4 * c + axis] - rows.lower[4 * c + axis]; };
    const double* const at = &rows.center[4 * c];
    std::printf("%7llu %6.2f %6.2f %8.2f %8.2f %8.1f %7.1f %7.1f %8.1f\n",
                static_cast<unsigned long long>(rows.size[c]), cluster.birth, cluster.death, rows.lower[4 * c + 3],
                extent(3), at[0], at[1], at[2], std::hypot(extent(0), extent(1)));
  }
}

/// Returns true if all cuts are equal to DBSCAN's clusters.
bool search(epsflow::PointsView sources) {
  const epsflow::Hierarchy tree = std::move(epsflow::hierarchy({sources, kMetric}, std::array{kMinpts}).front());
  std::printf("%zu sources\n", sources.size());
  print_sizes(tree);
  print_flashes(sources, tree);
  return print_cuts(sources, tree);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 6) {
    std::fprintf(stderr, "usage: lightning_flashes [FILE X Y Z T]\n");
    return 2;
  }
  try {
    if (argc == 6) return search(epsflow::io::read_points(argv[1], {.columns = {argv + 2, argv + argc}})) ? 0 : 1;
    return search(epsflow::PointsView(generate(), 4)) ? 0 : 1;
  } catch (const epsflow::Error& e) {
    std::fprintf(stderr, "lightning_flashes: %s\n", e.what());
    return 1;
  }
}
