// Every path must give the labels that scikit-learn gives for the small golden set in tests/golden, and every cut of a
// hierarchy the labels of its core points.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/real_data.hpp"
#include "support/settings.hpp"

#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

struct GoldenSet {
  bool single = false;
  std::size_t dims = 0;
  std::vector<Variant> variants;      ///< in the order of their labels
  std::vector<LabelSummary> summary;  ///< of each variant: only clusters, noise and core
};

std::map<std::string, GoldenSet> load_sets(const std::filesystem::path& folder) {
  std::map<std::string, GoldenSet> sets;
  for (const std::vector<std::string>& cell : load_csv(folder / "golden.csv")) {
    REQUIRE(cell.size() == 8);
    GoldenSet& set = sets[cell[0]];
    set.single = cell[1] == "<f4";
    set.dims = std::stoull(cell[2]);
    set.variants.push_back({std::stod(cell[3]), static_cast<std::uint32_t>(std::stoul(cell[4]))});
    set.summary.push_back({std::stoull(cell[5]), std::stoull(cell[6]), std::stoull(cell[7])});
  }
  return sets;
}

/// Calls check(set, points, labels) for each set.
void each_set(const std::function<void(const GoldenSet&, PointsView, const std::vector<std::int8_t>&)>& check) {
  const std::filesystem::path folder = EPSFLOW_GOLDEN_FOLDER;
  const std::map<std::string, GoldenSet> sets = load_sets(folder);
  REQUIRE(sets.size() == 13);
  for (const auto& [name, set] : sets) {
    CAPTURE(name);
    const auto labels = load_npy<std::int8_t>(folder / (name + ".labels.npy"), "|i1");
    const auto file = folder / (name + ".npy");
    if (set.single) {
      check(set, PointsView(load_npy<float>(file, "<f4"), set.dims), labels);
    } else {
      check(set, PointsView(load_npy<double>(file, "<f8"), set.dims), labels);
    }
  }
}

void check_set(const GoldenSet& set, PointsView points, const std::vector<std::int8_t>& labels) {
  const Sweep sweep(set.variants);
  REQUIRE(labels.size() == points.size() * sweep.size());
  std::vector<RunOptions> ways = ways_of_tables(set.dims);
  for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table, StrategyChoice::direct}) {
    ways.push_back({.strategy = strategy});
  }
  for (const RunOptions& way : ways) {
    const Settings options{.engine = {.backend = BackendChoice::cpu}, .run = way};
    INFO(describe(options));
    const std::vector<VariantResult> results = run(points, sweep, options);
    REQUIRE(results.size() == sweep.size());
    for (std::size_t v = 0; v < results.size(); ++v) {
      CAPTURE(results[v].variant.eps, results[v].variant.minpts);
      const auto first = labels.begin() + static_cast<std::ptrdiff_t>(v * points.size());
      const std::vector<std::int32_t> expected(first, first + static_cast<std::ptrdiff_t>(points.size()));
      CHECK(results[v].labels == expected);
      CHECK(results[v].summary.clusters == set.summary[v].clusters);
      CHECK(results[v].summary.noise == set.summary[v].noise);
      CHECK(results[v].summary.core == set.summary[v].core);
    }
  }
}

void check_cuts(const GoldenSet& set, PointsView points, const std::vector<std::int8_t>& labels) {
  const std::vector<Variant>& variants = set.variants;
  std::vector<std::uint32_t> minpts;
  for (const Variant& variant : variants) minpts.push_back(variant.minpts);
  const std::vector<Hierarchy> trees = hierarchy(points, minpts);
  const std::vector<VariantResult> swept = run(points, Sweep(variants), {.run = {.core_mask = true}});
  for (std::size_t v = 0; v < variants.size(); ++v) {
    CAPTURE(variants[v].eps, variants[v].minpts);
    const Buffer<std::int32_t> cut = trees[v].cut(variants[v].eps);
    std::vector<std::int32_t> expected(points.size(), -1);
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (swept[v].core[p] != 0) expected[p] = labels[v * points.size() + p];
    }
    CHECK(std::ranges::equal(cut, expected));
    CHECK(static_cast<std::size_t>(std::ranges::max(cut) + 1) == set.summary[v].clusters);
    CHECK(points.size() - std::ranges::count(cut, -1) == set.summary[v].core);
  }
}

}  // namespace

TEST_CASE("golden: every strategy, kernel, format and method gives scikit-learn's labels") { each_set(check_set); }

TEST_CASE("golden: cuts of hierarchies give the core points of scikit-learn's clusters") { each_set(check_cuts); }

}  // namespace epsflow::test
