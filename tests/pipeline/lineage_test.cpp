#include <epsflow/pipeline/lineage.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/map_scores.hpp>
#include <epsflow/clustering/relative_validity.hpp>
#include <epsflow/pipeline/hierarchy.hpp>
#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

/// Returns labels and core points of each variant, in the order of the sweep.
std::vector<VariantResult> labelled(const Dataset& data, const Sweep& sweep) {
  return run(data, sweep, {.core_mask = true});
}

/// Returns the cluster of `to` that contains the core points of each cluster of `from`, by their labels.
std::vector<std::uint32_t> ancestors_by_labels(const VariantResult& from, const VariantResult& to) {
  std::map<std::int32_t, std::int32_t> holder;
  for (std::size_t i = 0; i < from.core.size(); ++i) {
    if (from.core[i] == 0) continue;
    const auto [at, fresh] = holder.emplace(from.labels[i], to.labels[i]);
    REQUIRE(at->second == to.labels[i]);  // all core points of a cluster lie in the same cluster
  }
  std::vector<std::uint32_t> ancestors;
  for (const auto& [cluster, in] : holder) ancestors.push_back(static_cast<std::uint32_t>(in));
  return ancestors;
}

/// Recomputes relative_validity() edge by edge from the holders in every other cell.
void check_relative_validity(const Lineage& lineage, const std::vector<std::size_t>& path,
                             const std::vector<double>& validity) {
  for (std::size_t position = 0; position < path.size(); ++position) {
    const LineageCell& cell = lineage.cell(path[position]);
    const double found = validity[path[position]];
    if (cell.clusters() == 1) {
      REQUIRE(std::isnan(found));
      continue;
    }
    double sum = 0;
    for (std::uint32_t k = 0; k < cell.clusters(); ++k) {
      double joined = cell.variant.eps, apart = cell.variant.eps;
      for (std::size_t j = 0; j < position; ++j) {
        const LineageCell& narrower = lineage.cell(path[j]);
        const std::vector<std::uint32_t> in = lineage.ancestors(path[j], path[position]);
        for (std::size_t c = 0; c < in.size(); ++c) {
          if (in[c] == k && narrower.core[c] == cell.core[k]) joined = std::min(joined, narrower.variant.eps);
        }
      }
      for (std::size_t j = position + 1; j < path.size(); ++j) {
        const std::vector<std::uint32_t> in = lineage.ancestors(path[position], path[j]);
        if (std::count(in.begin(), in.end(), in[k]) == 1) apart = lineage.cell(path[j]).variant.eps;
      }
      sum += cell.size[k] * (1 - joined / apart);
    }
    const auto n = static_cast<double>(cell.summary.core + cell.summary.border + cell.summary.noise);
    REQUIRE(found == Approx(n > 0 ? sum / n : 0));
  }
}

/// Applies the elder rule cluster by cluster, from labels only.
std::vector<Bar> bars_by_labels(const std::vector<const VariantResult*>& path) {
  std::vector<Bar> bars;
  std::map<std::int32_t, std::size_t> living;
  for (std::size_t position = 0; position < path.size(); ++position) {
    const VariantResult& r = *path[position];
    std::map<std::int32_t, std::vector<std::size_t>> arriving;
    if (position > 0) {
      const std::vector<std::uint32_t> ancestors = ancestors_by_labels(*path[position - 1], r);
      for (std::size_t k = 0; k < ancestors.size(); ++k) {
        arriving[static_cast<std::int32_t>(ancestors[k])].push_back(living.at(static_cast<std::int32_t>(k)));
      }
    }
    living.clear();
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(r.summary.clusters); ++k) {
      std::vector<std::size_t>& all = arriving[k];
      Bar now{.cluster = static_cast<std::uint32_t>(k)};
      std::uint32_t first = 0xFFFFFFFF;
      for (std::size_t i = 0; i < r.labels.size(); ++i) {
        if (r.labels[i] != k) continue;
        ++now.size;
        if (r.core[i] == 0) continue;
        ++now.core;
        first = std::min(first, static_cast<std::uint32_t>(i));
      }
      if (all.empty()) {
        now.birth = position;
        now.death = path.size();
        now.first_core = first;
        living[k] = bars.size();
        bars.push_back(now);
        continue;
      }
      std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
        const Bar &x = bars[a], &y = bars[b];
        if (x.birth != y.birth) return x.birth < y.birth;
        if (x.core != y.core) return x.core > y.core;
        return x.first_core < y.first_core;
      });
      for (std::size_t a = 1; a < all.size(); ++a) bars[all[a]].death = position;
      Bar& eldest = bars[all.front()];
      eldest.cluster = now.cluster;
      eldest.core = now.core;
      eldest.size = now.size;
      living[k] = all.front();
    }
  }
  return bars;
}

/// Compares a lineage of Keep::core with one with sizes: everything else must be equal.
void check_without_sizes(const Lineage& found, const Lineage& expected,
                         const std::vector<std::vector<std::size_t>>& paths) {
  REQUIRE(expected.has_sizes());
  REQUIRE(!found.has_sizes());
  REQUIRE(found.cells().size() == expected.cells().size());
  for (std::size_t i = 0; i < found.cells().size(); ++i) {
    const LineageCell &a = found.cell(i), &b = expected.cell(i);
    REQUIRE(a.variant == b.variant);
    REQUIRE(a.summary == LabelSummary{.clusters = b.summary.clusters, .core = b.summary.core, .borders_told = false});
    REQUIRE(a.first_core == b.first_core);
    REQUIRE(a.core == b.core);
    REQUIRE(a.size.empty());
    REQUIRE(a.wider == b.wider);
    REQUIRE(a.looser == b.looser);
    REQUIRE(a.parent_eps == b.parent_eps);
    REQUIRE(a.parent_minpts == b.parent_minpts);
  }
  for (const std::vector<std::size_t>& path : paths) {
    std::vector<Bar> bars = expected.bars(path);
    for (Bar& life : bars) life.size = 0;
    REQUIRE(found.bars(path) == bars);
  }
  CHECK_THROWS_WITH(relative_validity(found), Catch::Contains("Keep::summary"));
  CHECK_THROWS_WITH(MapScores(found, 1, 1), Catch::Contains("Keep::summary"));
  // A lineage can be rebuilt from its cells, except if only some cells have sizes.
  std::vector<LineageCell> cells(found.cells().begin(), found.cells().end());
  REQUIRE(Lineage(cells).cells().size() == cells.size());
  for (LineageCell& cell : cells) {
    if (cell.clusters() == 0) continue;
    cell.size = cell.core;
    CHECK_THROWS_WITH(Lineage(cells), Catch::Contains("do not belong together"));
    break;
  }
}

void check_lineage(const Dataset& data, const std::vector<double>& eps, const std::vector<std::uint32_t>& minpts,
                   const RunOptions& options) {
  const Sweep sweep = grid(eps, minpts);
  const std::vector<VariantResult> results = labelled(data, sweep);
  const Lineage lineage = epsflow::lineage(data, sweep, options);
  REQUIRE(lineage.cells().size() == sweep.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const LineageCell& cell = lineage.cell(i);
    INFO("eps " << cell.variant.eps << ", minpts " << cell.variant.minpts);
    REQUIRE(cell.summary == results[i].summary);
    std::vector<std::uint32_t> sizes(cell.clusters()), cores(cell.clusters());
    for (std::size_t p = 0; p < data.size(); ++p) {
      if (results[i].labels[p] == kNoise) continue;
      ++sizes[static_cast<std::size_t>(results[i].labels[p])];
      cores[static_cast<std::size_t>(results[i].labels[p])] += results[i].core[p];
    }
    REQUIRE(cell.size == sizes);
    REQUIRE(cell.core == cores);
    REQUIRE(lineage.find(cell.variant.eps, cell.variant.minpts) == i);
    if (cell.wider) REQUIRE(cell.parent_eps == ancestors_by_labels(results[i], results[*cell.wider]));
    if (cell.looser) REQUIRE(cell.parent_minpts == ancestors_by_labels(results[i], results[*cell.looser]));
    for (std::size_t j = 0; j < results.size(); ++j) {
      const Variant &a = cell.variant, &b = lineage.cell(j).variant;
      if (b.eps < a.eps || b.minpts > a.minpts) continue;
      const std::vector<std::uint32_t> ancestors = ancestors_by_labels(results[i], results[j]);
      REQUIRE(lineage.ancestors(i, j) == ancestors);
      // The core points must agree one by one too.
      std::vector<std::int32_t> ours, theirs;
      for (std::size_t p = 0; p < data.size(); ++p) {
        if (results[i].core[p] == 0) continue;
        ours.push_back(results[i].labels[p]);
        theirs.push_back(results[j].labels[p]);
      }
      const Contingency by_points(ours, theirs);
      REQUIRE(std::ranges::equal(lineage.contingency(i, j).overlaps(), by_points.overlaps()));
      REQUIRE(lineage.rank(i, j) == std::set<std::uint32_t>(ancestors.begin(), ancestors.end()).size());
    }
  }
  const std::vector<double> validity = relative_validity(lineage);
  std::vector<std::vector<std::size_t>> paths;
  for (const std::uint32_t m : minpts) {
    paths.push_back(lineage.along_eps(m));
    check_relative_validity(lineage, paths.back(), validity);
  }
  for (const double e : eps) paths.push_back(lineage.along_minpts(e));
  // On this slanted path, minpts falls as eps rises.
  std::vector<std::size_t> slanted;
  for (std::size_t k = 0; k < std::min(eps.size(), minpts.size()); ++k) {
    slanted.push_back(lineage.find(eps[k], minpts[minpts.size() - 1 - k]));
  }
  paths.push_back(slanted);
  for (const std::vector<std::size_t>& path : paths) {
    std::vector<const VariantResult*> along;
    for (const std::size_t i : path) along.push_back(&results[i]);
    REQUIRE(lineage.bars(path) == bars_by_labels(along));
  }
  check_core(data, data, sweep, options);
  RunOptions core = options;
  core.keep = Keep::core;
  check_without_sizes(epsflow::lineage(data, sweep, core), lineage, paths);
}

/// Returns ascending radii, from hardly any neighbours to many.
std::vector<double> some_eps(const DataSet& data, std::size_t count) {
  std::vector<double> eps;
  for (std::size_t k = 0; k < count; ++k) {
    eps.push_back(data.scale * (0.25 + 0.4 * static_cast<double>(k)));
  }
  return eps;
}

TEST_CASE("lineage: clusters lie where labels and core points say, on every way") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const std::vector<std::string> kinds{"uniform", "clustered", "quantised", "duplicates", "outlier 1e15"};
    const std::size_t dims = 1 + random.below(5);
    const DataSet data = make_data(random.pick(kinds), 20 + random.below(120), dims,
                                   random.chance(0.5) ? Precision::float32 : Precision::float64, seed);
    INFO("seed " << seed << ", " << data.kind << ", dims " << dims);
    const Dataset loaded = Engine().load(data.view());
    for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
      check_lineage(loaded, some_eps(data, 4), {1, 2, 3, 5, 9}, {.strategy = strategy});
    }
  }
}

TEST_CASE("lineage: many dimensions, a tree and all pairs") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const DataSet data = make_data("clustered", 150, 9, Precision::float64, seed);
    INFO("seed " << seed);
    const Dataset loaded = Engine().load(data.view());
    for (const IndexChoice index : {IndexChoice::automatic, IndexChoice::tree, IndexChoice::all}) {
      check_lineage(loaded, some_eps(data, 4), {2, 4, 8},
                    {.strategy = StrategyChoice::direct, .search = {.index = index}});
    }
  }
}

TEST_CASE("lineage: in a periodic box, and of points with weights") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    INFO("seed " << seed);
    DataSet data{.dims = 1 + random.below(3)};
    for (std::size_t i = 0; i < 150 * data.dims; ++i) data.doubles.push_back(random.uniform(0, 1));
    const Metric box{.box = std::vector<BoxSide>(data.dims, {0, 1})};
    const std::vector<double> eps = data.dims == 1   ? std::vector<double>{0.001, 0.004, 0.01}
                                    : data.dims == 2 ? std::vector<double>{0.02, 0.05, 0.09}
                                                     : std::vector<double>{0.08, 0.12, 0.2};
    const Engine engine;
    check_lineage(engine.load(data.view(), box), eps, {1, 2, 4, 6}, {});
    std::vector<double> weights;
    for (std::size_t i = 0; i < data.size(); ++i)
      weights.push_back(seed % 3 == 0 && random.chance(0.2) ? 0 : random.uniform(0.1, 2));
    for (const StrategyChoice strategy : {StrategyChoice::direct, StrategyChoice::table}) {
      check_lineage(engine.load(data.view()).weighted(weights), eps, {1, 2, 4, 6}, {.strategy = strategy});
      check_lineage(engine.load(data.view(), box).weighted(weights), eps, {1, 2, 4, 6}, {.strategy = strategy});
    }
  }
}

TEST_CASE("lineage: thousands of points, several radii under way") {
  const DataSet data = make_data("clustered", 4000, 2, Precision::float64, 3);
  const Dataset loaded = Engine().load(data.view());
  const Sweep sweep = grid(some_eps(data, 9), {2, 3, 5, 8, 13, 21, 34, 300});
  const std::vector<VariantResult> results = labelled(loaded, sweep);
  const Lineage lineage = epsflow::lineage(loaded, sweep);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const LineageCell& cell = lineage.cell(i);
    REQUIRE(cell.summary == results[i].summary);
    if (cell.wider) REQUIRE(cell.parent_eps == ancestors_by_labels(results[i], results[*cell.wider]));
    if (cell.looser) REQUIRE(cell.parent_minpts == ancestors_by_labels(results[i], results[*cell.looser]));
  }
}

TEST_CASE("lineage: clusters, births and deaths are those of the tree of the same minpts, cut at each eps") {
  for (std::uint64_t seed = 1; seed <= test::sets_of(60); ++seed) {
    Random random(seed);
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates"});
    const DataSet data = test::make_data(kind, 20 + random.below(120), 1 + random.below(3), Precision::float64, seed);
    INFO("seed " << seed << ", " << test::describe(data));
    const std::vector<double> eps = some_eps(data, 6);
    const std::vector<std::uint32_t> minpts{1, 2, 4, 9};
    RunOptions options;
    options.keep = Keep::core;
    const Lineage lineage = epsflow::lineage(Engine().load(data.view()), grid(eps, minpts), options);
    for (const Hierarchy& tree : hierarchy(data.view(), minpts)) {
      const std::vector<std::size_t> path = lineage.along_eps(tree.minpts());
      std::vector<VariantResult> cuts(eps.size());
      std::vector<const VariantResult*> along;
      for (std::size_t k = 0; k < eps.size(); ++k) {
        INFO("eps " << eps[k] << ", minpts " << tree.minpts());
        cuts[k].labels = Labels(tree.cut(eps[k]).span());
        std::vector<std::uint32_t> first, core;
        for (std::uint32_t p = 0; p < data.size(); ++p) {
          const std::int32_t label = cuts[k].labels[p];
          cuts[k].core.push_back(label != kNoise);
          if (label == kNoise) continue;
          if (label == static_cast<std::int32_t>(first.size())) {  // clusters are numbered by their first points
            first.push_back(p);
            core.push_back(0);
          }
          ++core[static_cast<std::size_t>(label)];
        }
        cuts[k].summary.clusters = first.size();
        REQUIRE(lineage.cell(path[k]).first_core == first);
        REQUIRE(lineage.cell(path[k]).core == core);
        if (k > 0) REQUIRE(lineage.cell(path[k - 1]).parent_eps == ancestors_by_labels(cuts[k - 1], cuts[k]));
        along.push_back(&cuts[k]);
      }
      std::vector<Bar> bars = bars_by_labels(along);
      for (Bar& bar : bars) bar.size = 0;
      REQUIRE(lineage.bars(path) == bars);
    }
  }
}

TEST_CASE("lineage: a list of variants has ties where it has cells, and no others") {
  const DataSet data = make_data("clustered", 120, 2, Precision::float64, 5);
  const double e = data.scale;
  const Sweep sweep({{e, 4}, {2 * e, 3}, {3 * e, 4}, {e, 2}, {3 * e, 2}});
  const Dataset loaded = Engine().load(data.view());
  const std::vector<VariantResult> results = labelled(loaded, sweep);
  const Lineage lineage = epsflow::lineage(loaded, sweep);
  REQUIRE(lineage.cell(0).wider == 2);  // skips an eps without minpts 4
  REQUIRE(lineage.cell(0).looser == 3);
  REQUIRE(lineage.cell(1).wider == std::nullopt);
  REQUIRE(lineage.cell(1).looser == std::nullopt);
  REQUIRE(lineage.cell(0).parent_eps == ancestors_by_labels(results[0], results[2]));
  REQUIRE(lineage.cell(3).parent_eps == ancestors_by_labels(results[3], results[4]));
  REQUIRE(lineage.ancestors(0, 4) == ancestors_by_labels(results[0], results[4]));
  CHECK_THROWS_WITH(lineage.ancestors(0, 1), Catch::Contains("has no way from"));
  CHECK_THROWS_WITH(lineage.ancestors(2, 0), Catch::Contains("no smaller eps"));
  CHECK_THROWS_WITH(lineage.find(e, 7), Catch::Contains("has no variant"));
  // A smaller minpts of the first eps is a dead end.
  const Sweep around({{e, 8}, {e, 6}, {2 * e, 8}, {2 * e, 4}});
  const std::vector<VariantResult> others = labelled(loaded, around);
  REQUIRE(epsflow::lineage(loaded, around).ancestors(0, 3) == ancestors_by_labels(others[0], others[3]));
}

TEST_CASE("lineage: of no points, one point and no clusters") {
  const std::vector<double> one{1, 2};
  const Engine engine;
  const Lineage of_none = lineage(engine.load({std::span<const double>(), 2}), grid({1, 2}, {1, 2}));
  for (const LineageCell& cell : of_none.cells()) REQUIRE(cell.clusters() == 0);
  const Lineage of_one = lineage(engine.load({std::span<const double>(one), 2}), grid({1, 2}, {1, 2}));
  REQUIRE(of_one.cell(of_one.find(1, 1)).size == std::vector<std::uint32_t>{1});
  REQUIRE(of_one.cell(of_one.find(1, 2)).clusters() == 0);
  REQUIRE(of_one.rank(of_one.find(1, 1), of_one.find(2, 1)) == 1);
  REQUIRE(of_one.bars(of_one.along_eps(2)).empty());
}

TEST_CASE("lineage: is made again of its cells, and not of others") {
  const DataSet data = make_data("clustered", 120, 2, Precision::float64, 5);
  const Sweep sweep = grid(some_eps(data, 3), {2, 4});
  const Lineage lineage = epsflow::lineage(Engine().load(data.view()), sweep);
  const std::vector<LineageCell> cells(lineage.cells().begin(), lineage.cells().end());
  const Lineage again(cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    REQUIRE(again.cell(i).variant == cells[i].variant);
    if (cells[i].wider) REQUIRE(again.ancestors(i, *cells[i].wider) == lineage.ancestors(i, *cells[i].wider));
  }
  const std::size_t first = lineage.find(some_eps(data, 1).front(), 4);
  REQUIRE(cells[first].clusters() > 0);
  const auto refused = [&](auto&& change) {
    std::vector<LineageCell> changed = cells;
    change(changed[first]);
    CHECK_THROWS_WITH(Lineage(changed), Catch::Contains("do not belong together"));
  };
  refused([](LineageCell& cell) { cell.core.pop_back(); });
  refused([](LineageCell& cell) { cell.size.push_back(1); });
  refused([](LineageCell& cell) { cell.parent_eps.pop_back(); });
  refused([](LineageCell& cell) { cell.parent_minpts.front() = 1'000'000; });
  refused([](LineageCell& cell) { cell.wider = 1'000'000; });
  refused([](LineageCell& cell) { cell.wider = std::nullopt; });
  refused([&](LineageCell& cell) { cell.looser = cell.wider = first; });
  // These counts do not match the clusters.
  refused([](LineageCell& cell) { ++cell.summary.clusters; });
  refused([](LineageCell& cell) { ++cell.summary.core; });
  refused([](LineageCell& cell) { ++cell.summary.border; });
  refused([](LineageCell& cell) { ++cell.summary.largest; });
  refused([](LineageCell& cell) { cell.core.front() = cell.size.front() + 1; });
  refused([](LineageCell& cell) { --cell.size.front(); });
  refused([](LineageCell& cell) { cell.variant.minpts = 0; });
  for (const double eps :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    refused([&](LineageCell& cell) { cell.variant.eps = eps; });
  }
  REQUIRE(Lineage(std::vector<LineageCell>()).cells().empty());
}

TEST_CASE("lineage: weights below 0 are refused, as points may cease to be core") {
  const std::vector<double> points{0, 1, 2};
  const Dataset data = Engine().load({std::span<const double>(points), 1}).weighted(std::vector<double>{2, -1, 1});
  CHECK_THROWS_WITH(lineage(data, grid({0.5, 1}, {1})), Catch::Contains("some weights are below 0"));
}

TEST_CASE("lineage: what keeps nothing refuses what needs labels") {
  const auto refused = [](const RunOptions& options) { return error_of<UsageError>([&] { check_options(options); }); };
  check_mentions(refused({.core_mask = true, .keep = Keep::summary}),
                 {"RunOptions::core_mask goes with labels", "Keep::summary makes none"});
  check_mentions(refused({.core_mask = true, .keep = Keep::core}), {"Keep::core makes none"});
  check_mentions(refused({.verify = true, .keep = Keep::core}), {"RunOptions::verify checks labels"});
  check_mentions(refused({.method = VariantMethod::each, .clusters = true}), {"RunOptions::clusters"});
}

}  // namespace
}  // namespace epsflow::test
