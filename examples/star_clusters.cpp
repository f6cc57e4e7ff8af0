// Finds open clusters of stars by position, proper motion and parallax: near and far ones at the same time.
//
//   star_clusters                                     on generated stars
//   star_clusters FILE L B PMRA PMDEC PARALLAX        on real ones: the names of its columns
//
// Near clusters are wide on the sky and in proper motion, far ones narrow among a dense field, so no single eps suits
// both. A hierarchy has the clusters of every eps, and a cluster is selected if it stays whole over a wide range of
// them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/on_threads.hpp>

namespace {

constexpr std::int32_t kGenerated = 14;  // clusters

struct Stars {
  std::vector<double> values;        ///< [n × 5] l and b in degrees, proper motions in mas/yr, parallax in mas
  std::vector<std::int32_t> origin;  ///< [n] the generated cluster of each star, or kNoise
};

/// Returns clusters of 60 to 300 stars, from 2.5 kpc to 170 pc away, among 40,000 other stars. The eighth is double.
Stars generate() {
  std::mt19937_64 random(5);
  const auto uniform = [&](double lo, double hi) { return std::uniform_real_distribution(lo, hi)(random); };
  const auto normal = [&](double mean, double sigma) { return std::normal_distribution(mean, sigma)(random); };
  Stars stars;
  const auto add = [&](std::int32_t origin, const std::array<double, 5>& star) {
    stars.values.insert(stars.values.end(), star.begin(), star.end());
    stars.origin.push_back(origin);
  };
  for (std::int32_t c = 0; c < kGenerated; ++c) {
    const double parallax = 0.4 * std::pow(15, c / (kGenerated - 1.0));
    const double radius = 0.17 * parallax;         // 3 pc
    const double spread = 0.11 * parallax + 0.04;  // 0.5 km/s and the error of measurement
    const double apart = c == 7 ? 2.5 * radius : 0;
    const std::array at{uniform(130, 138), uniform(-4, 4), normal(-1, 4 * parallax), normal(-2, 4 * parallax)};
    for (double left = uniform(60, 300); left > 0; --left) {
      const double l = at[0] + std::copysign(apart, uniform(-1, 1));
      add(c, {normal(l, radius), normal(at[1], radius), normal(at[2], spread), normal(at[3], spread),
              normal(parallax, 0.04)});
    }
  }
  for (int i = 0; i < 40'000; ++i) {
    const double parallax = 0.2 - 0.5 * std::log(uniform(1e-4, 1));
    const double spread = 6 * parallax;  // 30 km/s
    add(epsflow::kNoise, {uniform(127, 141), uniform(-6, 6), normal(-1, spread), normal(-2, spread), parallax});
  }
  return stars;
}

/// Counts generated clusters that were found: most of their stars are most of one cluster.
std::int64_t count_found(const std::vector<std::int32_t>& origin, std::span<const std::int32_t> labels) {
  const epsflow::Contingency table = epsflow::compare(origin, labels);
  return std::ranges::count_if(epsflow::fates(table), [&](const epsflow::Fate& fate) {
    if (fate.cluster == epsflow::kNoise || fate.became.empty()) return false;
    const auto [label, common] = fate.became.front();
    const std::uint64_t size = std::ranges::find(table.b(), label, &epsflow::LabelCount::label)->points;
    return 2 * common > fate.points && 2 * common > size;
  });
}

void search(epsflow::PointsView stars, const std::vector<std::int32_t>& origin) {
  // One degree, 1 mas/yr and 0.25 mas count the same.
  const epsflow::Metric metric{.scale = {1, 1, 1, 1, 4}};
  const std::vector<epsflow::Hierarchy> trees = epsflow::hierarchy({stars, metric}, std::array{5U, 10U, 20U});
  const auto print = [&](std::uint32_t minpts, const char* how, std::span<const std::int32_t> labels) {
    std::printf("%6u  %-14s %8d", minpts, how, *std::ranges::max_element(labels) + 1);
    if (!origin.empty()) std::printf("   %td of %d generated", count_found(origin, labels), kGenerated);
    std::printf("\n");
  };
  std::printf("%zu stars\n\nminpts  selection      clusters\n", stars.size());
  for (const epsflow::Hierarchy& tree : trees) {
    const epsflow::CondensedTree condensed(tree, 30);
    print(tree.minpts(), "eom", condensed.select().labels.span());
    print(tree.minpts(), "eom up to 1000", condensed.select({.max_size = 1000}).labels.span());
    print(tree.minpts(), "leaf", condensed.select({.method = epsflow::ClusterSelection::leaf}).labels.span());
  }
  print(10, "eps 0.4", trees[1].cut(0.4, 30).span());
  print(10, "eps 0.8", trees[1].cut(0.8, 30).span());
  print(10, "eps 1.6", trees[1].cut(1.6, 30).span());

  const epsflow::CondensedTree condensed(trees[1], 30);
  const epsflow::SelectedClusters found = condensed.select({.max_size = 1000});
  const epsflow::Catalog rows = epsflow::catalog({.points = stars, .metric = metric, .labels = found.labels.span()});
  std::printf("\n  stars  persistence  birth  death       l      b    pmra   pmdec  parallax\n");
  for (std::size_t c = 0; c < rows.count(); ++c) {
    const epsflow::CondensedCluster& cluster = condensed.clusters()[found.nodes[c]];
    const double* const at = &rows.center[5 * c];
    std::printf("%7llu %12.2f %6.2f %6.2f %7.2f %6.2f %7.2f %7.2f %9.2f\n",
                static_cast<unsigned long long>(rows.size[c]), found.persistence[c], cluster.birth, cluster.death,
                at[0], at[1], at[2], at[3], at[4]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 7) {
    std::fprintf(stderr, "usage: star_clusters [FILE L B PMRA PMDEC PARALLAX]\n");
    return 2;
  }
  try {
    if (argc == 1) {
      const Stars stars = generate();
      search(epsflow::PointsView(stars.values, 5), stars.origin);
    } else {
      // Stars without a proper motion or a parallax are NaN in such files and are dropped.
      search(epsflow::io::read_points(argv[1],
                                      {.columns = {argv + 2, argv + argc}, .on_nan = epsflow::io::NanPolicy::drop}),
             {});
    }
  } catch (const epsflow::Error& e) {
    std::fprintf(stderr, "star_clusters: %s\n", e.what());
    return 1;
  }
  return 0;
}
