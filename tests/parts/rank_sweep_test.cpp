#include <epsflow/parts/rank_sweep.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/lineage_check.hpp"
#include "support/points_source.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/parts/local_sweep.hpp>
#include <epsflow/parts/part_lineage.hpp>
#include <epsflow/parts/sweep.hpp>
#include <epsflow/parts/thread_ranks.hpp>
#include <epsflow/pipeline/backends.hpp>
#include <epsflow/pipeline/engine.hpp>
#include <epsflow/pipeline/make_backend.hpp>
#include <epsflow/pipeline/sweep.hpp>
#include <epsflow/pipeline/workers.hpp>

namespace epsflow::parts {
namespace {

using test::check_same;
using test::DataSet;
using test::Random;

const std::vector<EngineOptions> one_thread{{.threads = 1}}, two_threads{{.threads = 2}};

/// Splits n rows among the ranks, in pieces of random size. Some pieces may be empty.
std::vector<std::size_t> random_shares(std::size_t n, int ranks, Random& random) {
  std::vector<std::size_t> ends{0, n};
  for (int r = 1; r < ranks; ++r) ends.push_back(random.below(n + 1));
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// Cuts space at random positions, mostly at coordinates of points. Parts may be empty.
Partition random_cuts(PointsView points, int ranks, Random& random) {
  std::vector<Partition::Cut> cuts;
  // A cut replaces a part. The old part is below the cut, and the new part is above it.
  struct Side {
    std::size_t cut = 0;
    bool above = false;
  };
  std::vector<Side> sides(1);
  for (int part = 1; part < ranks; ++part) {
    Partition::Cut cut;
    cut.axis = static_cast<std::uint32_t>(random.below(points.dims()));
    cut.at = points.size() > 0 && random.chance(0.8) ? points.at(random.below(points.size()), cut.axis)
                                                     : random.uniform(-1, 1);
    const std::size_t old = random.below(static_cast<std::size_t>(part));
    cut.below = -1 - static_cast<std::int32_t>(old);
    cut.above = -1 - static_cast<std::int32_t>(part);
    if (!cuts.empty()) {
      Partition::Cut& parent = cuts[sides[old].cut];
      (sides[old].above ? parent.above : parent.below) = static_cast<std::int32_t>(cuts.size());
    }
    sides[old] = {cuts.size(), false};
    sides.push_back({cuts.size(), true});
    cuts.push_back(cut);
  }
  return Partition(std::move(cuts));
}

/// Sweeps the points of the ranks together, one rank for each set. take: called with the rank and each result of it.
void sweep_on_ranks(
    const std::vector<PointSet>& sets, const Sweep& sweep, const RunOptions& options = {},
    std::span<const EngineOptions> engine = one_thread,
    const std::function<void(std::size_t, VariantResult&&)>& take = [](std::size_t, VariantResult&&) {}) {
  run_ranks(static_cast<int>(sets.size()), [&](Communicator& communicator) {
    const auto r = static_cast<std::size_t>(communicator.rank());
    run_each(sets[r], {.options = engine, .ranks = &communicator}, sweep, options,
             [&](VariantResult&& result) { take(r, std::move(result)); });
  });
}

/// Returns the points of three ranks.
std::vector<PointSet> thirds(PointsView points, const Metric& metric = {}) {
  std::vector<PointSet> sets;
  const std::size_t n = points.size() / 3;
  for (const std::size_t r : {0, 1, 2}) sets.emplace_back(points.rows(r * n, (r + 1) * n), metric);
  return sets;
}

/// Returns integers, fractions that round, or weights of very different sizes. If `negative`, some are below 0.
std::vector<double> random_weights(std::size_t n, bool negative, Random& random) {
  std::vector<double> weights(n);
  const std::size_t kind = random.below(4);
  for (double& w : weights) {
    w = kind == 0 ? static_cast<double>(random.below(4)) : random.uniform(0, 2);
    if (kind == 2) w = std::pow(10, random.uniform(-8, 2));
    if (kind == 3) w = random.chance(0.05) ? 1e12 : 0.1;
    if (negative && random.chance(0.3)) w = -w;
    if (negative) w = std::clamp(w, -1e6, 1e6);
  }
  return weights;
}

RunOptions options_of(PointsView points, Keep keep, bool clusters) {
  RunOptions options;
  options.core_mask = keep == Keep::labels;
  options.keep = keep;
  options.clusters = clusters;
  options.search.index =
      points.dims() > 6 ? IndexChoice::grid : IndexChoice::automatic;  // a GPU has no tiles for parts
  return options;
}

/// Runs a sweep in parts, which `workers` workers take in turn. Some budgets hold only one variant's labels at a time.
std::vector<VariantResult> run_here(PointsView points, std::span<const double> weights, const Metric& metric,
                                    const Sweep& sweep, std::size_t parts, const Partition* cuts, std::size_t workers,
                                    const RunOptions& options) {
  std::vector<std::unique_ptr<Backend>> backends;
  const std::vector<unsigned> gpus = usable_gpus();
  for (std::size_t g = 0; g < std::max<std::size_t>(1, gpus.size()); ++g) {
    EngineOptions engine;
    engine.threads = 1;
    if (!gpus.empty()) engine.gpu = gpus[g];
    backends.push_back(make_backend(resolved(engine), nullptr));
  }
  std::vector<PartWorker> with;
  for (std::size_t w = 0; w < workers; ++w) with.push_back({*backends[w % backends.size()], 1});
  std::vector<VariantResult> results;
  // If the metric does not transform the points, they need not be in memory.
  const PointsSource source = test::source_of(points);
  const bool brought = parts % 2 == 0 && workers != parts && !may_move(metric);
  run_local(
      {.points = brought ? PointRows(source) : PointRows(points),
       .weights = weights,
       .metric = metric,
       .sweep = sweep,
       .parts = parts,
       .partition = cuts,
       .memory = parts % 3 == 0 ? 1 : 10 * points.size()},
      with, [&](VariantResult&& result) { results.push_back(std::move(result)); }, options, CancelToken());
  return results;
}

/// Returns the labels of a run over ranks, put together.
std::vector<VariantResult> run_in_parts(PointsView points, std::span<const double> weights, const Metric& metric,
                                        const Sweep& sweep, int ranks, const std::vector<std::size_t>& shares,
                                        const Partition* cuts, const RunOptions& options) {
  std::vector<std::vector<VariantResult>> of_ranks(static_cast<std::size_t>(ranks));
  EngineOptions engine;
  engine.threads = ranks % 2 == 0 ? 2 : 1;  // with several threads, the next eps is counted while one is merged
  run_ranks(ranks, [&](Communicator& communicator) {
    const auto r = static_cast<std::size_t>(communicator.rank());
    const auto take = [&](VariantResult&& result) { of_ranks[r].push_back(std::move(result)); };
    const PointsView share = points.rows(shares[r], shares[r + 1]);
    const auto of_share = weights.empty() ? weights : weights.subspan(shares[r], share.size());
    const PointsSource source = test::source_of(share);
    const PointRows rows = ranks == 3 ? PointRows(source) : PointRows(share);
    run_each({rows, metric, of_share}, {.options = {&engine, 1}, .ranks = &communicator, .cuts = cuts}, sweep, options,
             take);
  });
  std::vector<VariantResult> all = std::move(of_ranks.front());
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::int32_t> labels(all[i].labels.begin(), all[i].labels.end());
    std::vector<std::int32_t> core_since(all[i].clusters.core_since.begin(), all[i].clusters.core_since.end());
    for (std::size_t r = 1; r < of_ranks.size(); ++r) {
      const VariantResult& other = of_ranks[r].at(i);
      REQUIRE(other.variant.eps == all[i].variant.eps);
      REQUIRE(other.variant.minpts == all[i].variant.minpts);
      REQUIRE(other.summary == all[i].summary);
      labels.insert(labels.end(), other.labels.begin(), other.labels.end());
      all[i].core.insert(all[i].core.end(), other.core.begin(), other.core.end());
      core_since.insert(core_since.end(), other.clusters.core_since.begin(), other.clusters.core_since.end());
      REQUIRE(other.clusters.count() == 0);
    }
    all[i].clusters.core_since = core_since;
    all[i].labels = labels;
  }
  return all;
}

/// Returns the results in the order in which parts deliver them.
std::vector<VariantResult> descending(std::vector<VariantResult> results) {
  std::ranges::sort(results, std::greater(),
                    [](const VariantResult& r) { return std::pair(r.variant.eps, r.variant.minpts); });
  return results;
}

void check_clusters(const Clusters& found, const Clusters& expected) {
  CHECK(found.first_core == expected.first_core);
  CHECK(found.core == expected.core);
  CHECK(found.size == expected.size);
  CHECK(found.joined == expected.joined);
  CHECK(found.core_since == expected.core_since);
}

void check_parts(const DataSet& data, const Metric& metric, const Sweep& sweep, int ranks, Random& random,
                 bool own_cuts, std::span<const double> weights = {}) {
  const std::vector<std::size_t> shares = random_shares(data.size(), ranks, random);
  std::optional<Partition> cuts;
  // Points on a sphere have one dimension more than their rows.
  if (own_cuts && metric.kind == MetricKind::euclidean) cuts = random_cuts(data.view(), ranks, random);
  RunOptions options;
  options.core_mask = true;
  // If weights are below 0, clusters are not nested.
  options.clusters = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
  const Dataset points = Engine(EngineOptions{}).load(data.view(), metric);
  const auto whole = descending(run(weights.empty() ? points : points.weighted(weights), sweep, options));
  std::vector<std::size_t> all_workers{0, 1 + random.below(3)};
  // Each worker has one part, so GPUs cut the points themselves.
  if (!usable_gpus().empty()) all_workers.push_back(static_cast<std::size_t>(ranks));
  for (const std::size_t workers : all_workers) {
    const auto run_with = [&](Keep keep, bool clusters) {
      const RunOptions with = options_of(data.view(), keep, clusters);
      const Partition* const where = cuts ? &*cuts : nullptr;
      return workers == 0
                 ? run_in_parts(data.view(), weights, metric, sweep, ranks, shares, where, with)
                 : run_here(data.view(), weights, metric, sweep, static_cast<std::size_t>(ranks), where, workers, with);
    };
    const bool with_labels = options.clusters && random.chance(0.7);
    const bool with_counts = options.clusters && random.chance(0.7);
    const std::vector<VariantResult> parts = run_with(Keep::labels, with_labels);
    const std::vector<VariantResult> counts = run_with(Keep::summary, with_counts);
    INFO("ranks " << ranks << ", workers " << workers);
    check_same(parts, whole);
    REQUIRE(counts.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CHECK(counts[i].variant == whole[i].variant);
      CHECK(counts[i].summary == whole[i].summary);
      CHECK(counts[i].labels.empty());
      CHECK(counts[i].core.empty());
      if (with_labels) check_clusters(parts[i].clusters, whole[i].clusters);
      if (with_counts) check_clusters(counts[i].clusters, whole[i].clusters);
    }
  }
}

TEST_CASE("parts: labels are those of one run, wherever space is cut, also with weights, of which some are below 0") {
  for (const bool weighted : {false, true}) {
    std::vector<std::string> kinds{"uniform", "clustered", "quantised", "duplicates"};
    if (!weighted) kinds.emplace_back("outlier 1e15");
    for (std::uint64_t seed = 1; seed <= test::sets_of(weighted ? 80 : 60); ++seed) {
      Random random(seed);
      const std::size_t dims = 1 + random.below(8);
      const DataSet data = test::make_data(random.pick(kinds), random.below(400), dims,
                                           random.chance(0.5) ? Precision::float32 : Precision::float64, seed);
      INFO("seed " << seed << ", " << data.kind << ", dims " << dims << ", n " << data.size());
      const double e = data.scale;
      const Sweep sweep = grid({0.3 * e, 0.7 * e, 1.5 * e}, {1, 2, 3, 5, 9, weighted ? 300U : 30U});
      const auto weights = weighted ? random_weights(data.size(), seed % 3 == 0, random) : std::vector<double>();
      const int ranks = static_cast<int>(1 + random.below(random.chance(0.2) ? 64 : 8));
      check_parts(data, {}, sweep, ranks, random, random.chance(0.5), weights);
      if (!weighted) continue;
      check_parts(data, {}, grid({0.7 * e}, {1 + static_cast<std::uint32_t>(random.below(2))}), ranks, random, true,
                  weights);
    }
  }
}

TEST_CASE("parts: weights on a lattice and in periodic boxes, and a chain of them through all parts") {
  Random random(4);
  DataSet lattice{.dims = 2};
  for (int i = 0; i < 400; ++i)
    lattice.doubles.insert(lattice.doubles.end(), {1.0 * (i % 20), 1.0 * (i / 20)});  // NOLINT
  DataSet chain{.dims = 1};
  for (int i = 0; i < 1000; ++i) chain.doubles.push_back(0.5 * ((i * 7) % 1000));
  for (const bool negative : {false, true}) {
    for (const int ranks : {1, 2, 5, 16, 64}) {
      const auto weights = random_weights(lattice.size(), negative, random);
      check_parts(lattice, {}, grid({1.0, 2.0}, {1, 2, 4, 7}), ranks, random, true, weights);
      check_parts(chain, {}, grid({0.5, 1.0}, {1, 2, 3}), ranks, random, ranks % 2 == 0,
                  random_weights(chain.size(), negative, random));
      if (ranks > 5) continue;
      const Metric box{.box = {{0, 20}, {0, 20}}};
      check_parts(lattice, box, grid({1.0, 1.5}, {1, 2, 4, 7}), ranks, random, true, weights);
    }
  }
}

TEST_CASE("parts: weights that cannot be are named by their points among all") {
  const DataSet data = test::make_data("clustered", 300, 2, Precision::float64, 1);
  const auto run_with = [&](const std::vector<double>& weights, bool last_has = true, const RunOptions& options = {}) {
    std::vector<PointSet> sets = thirds(data.view());
    for (const std::size_t r : {0, 1, 2}) {
      sets[r].weights = std::span(weights).subspan(r * 100, r < 2 || last_has ? 100 : 0);
    }
    sweep_on_ranks(sets, grid({0.1}, {2}), options);
  };
  std::vector<double> weights(300, 1.0);
  CHECK_NOTHROW(run_with(weights));
  CHECK_THROWS_WITH(run_with(weights, false), Catch::Contains("300 points and 200 weights"));
  weights[150] = weights[250] = std::nan("");
  const auto one_run = [&] { (void)Engine(EngineOptions{}).load(data.view()).weighted(weights); };
  CHECK_THROWS_WITH(run_with(weights), "the weight of point 150 is nan; weights are finite numbers");
  CHECK_THROWS_WITH(one_run(), "the weight of point 150 is nan; weights are finite numbers");
  weights.assign(300, 1.0);
  weights[120] = 1e300;
  weights[7] = -1;
  weights[270] = -1e300;
  const std::string lost = "the weight of point 0, 1, would be lost beside that of point 120, 1e+300,";
  CHECK_THROWS_WITH(run_with(weights), Catch::StartsWith(lost));
  CHECK_THROWS_WITH(one_run(), Catch::StartsWith(lost));
  weights.assign(300, 1.0);
  weights[299] = -1;
  CHECK_NOTHROW(run_with(weights));
  CHECK_THROWS_WITH(run_with(weights, true, {.clusters = true}), Catch::Contains("some weights are below 0"));
}

TEST_CASE("parts: the lineage of all points comes to the first rank") {
  for (std::uint64_t seed = 1; seed <= test::sets_of(12); ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const DataSet data =
        test::make_data(seed % 2 == 0 ? "clustered" : "uniform", 50 * random.below(20), 2, Precision::float64, seed);
    const std::vector<double> weights =
        seed % 3 == 0 ? random_weights(data.size(), false, random) : std::vector<double>();
    const double e = data.scale;
    // Some eps lack some minpts.
    std::vector<Variant> variants;
    for (const double eps : {0.2 * e, 0.5 * e, 0.9 * e, 1.6 * e}) {
      for (const std::uint32_t minpts : {1U, 2U, 3U, 5U, 9U}) {
        if (random.chance(0.8)) variants.push_back({eps, minpts});
      }
    }
    variants.push_back({e, 4});
    const Sweep sweep(variants);
    const Dataset points = Engine(EngineOptions{}).load(data.view());
    const Lineage expected = epsflow::lineage(weights.empty() ? points : points.weighted(weights), sweep);
    for (const int ranks : {1, 3, 8}) {
      const std::vector<std::size_t> shares = random_shares(data.size(), ranks, random);
      Lineage found;
      std::atomic<bool> none_elsewhere = true;
      run_ranks(ranks, [&](Communicator& communicator) {
        const auto r = static_cast<std::size_t>(communicator.rank());
        const PointsView share = data.view().rows(shares[r], shares[r + 1]);
        const std::span<const double> all(weights);
        Lineage mine = lineage({share, {}, all.empty() ? all : all.subspan(shares[r], share.size())},
                               {.options = one_thread, .ranks = &communicator}, sweep);
        if (r == 0) {
          found = std::move(mine);
        } else if (!mine.cells().empty()) {
          none_elsewhere = false;
        }
      });
      CHECK(none_elsewhere);
      test::check_same_lineage(found, expected);
    }
  }
}

TEST_CASE("parts: one long cluster through all of them") {
  DataSet data{.dims = 2};
  constexpr int kPoints = 3000;
  for (int i = 0; i < kPoints; ++i) {  // a spiral in mixed order
    const double t = 0.002 * ((i * 7) % kPoints);
    data.doubles.insert(data.doubles.end(), {t * std::cos(8 * t), t * std::sin(8 * t)});
  }
  Random random(1);
  for (const int ranks : {2, 7, 64}) {
    check_parts(data, {}, grid({0.1, 0.03}, {2, 3, 4}), ranks, random, false);
    check_parts(data, {}, grid({0.1, 0.03}, {2, 3, 4}), ranks, random, true);
  }
}

TEST_CASE("parts: a lattice, where every pair is exactly at eps and points lie on cuts") {
  DataSet data{.dims = 3};
  for (int x = 0; x < 12; ++x) {
    for (int y = 0; y < 10; ++y) {
      for (int z = 0; z < 9; ++z) {
        if (x == 5 || y == 4) continue;  // the gaps
        data.doubles.insert(data.doubles.end(), {1.0 * x, 1.0 * y, 1.0 * z});
      }
    }
  }
  Random random(2);
  for (const int ranks : {1, 2, 5, 16}) {
    for (const bool owned : {false, true}) {
      check_parts(data, {}, grid({1.0, 2.0}, {2, 4, 5, 6, 7}), ranks, random, owned);
      check_parts(data, {.kind = MetricKind::manhattan}, grid({1.0, 2.0}, {2, 4, 7}), ranks, random, owned);
      check_parts(data, {.kind = MetricKind::chebyshev}, grid({1.0, 2.0}, {2, 9, 27}), ranks, random, owned);
    }
  }
}

TEST_CASE("parts: all points at one position, fewer points than parts, and none") {
  Random random(3);
  for (const std::size_t n : {0, 1, 3, 100}) {
    DataSet data{.dims = 2};
    for (std::size_t i = 0; i < n; ++i) data.doubles.insert(data.doubles.end(), {1.5, -2});
    for (const int ranks : {1, 4, 9}) {
      check_parts(data, {}, grid({0.5}, {1, 2, 100}), ranks, random, false);
      check_parts(data, {}, grid({0.5}, {1, 2, 100}), ranks, random, true);
    }
  }
}

TEST_CASE("parts: on a sphere, and in periodic boxes") {
  for (std::uint64_t seed = 1; seed <= test::sets_of(20); ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const int ranks = static_cast<int>(1 + random.below(9));
    DataSet sky{.dims = 2};
    for (int i = 0; i < 300; ++i) {
      sky.doubles.push_back(random.uniform(-180, 180));
      sky.doubles.push_back(std::asin(random.uniform(-1, 1)) * 57.29577951308232);
    }
    check_parts(sky, {.kind = MetricKind::greatcircle}, grid({3.0, 9.0}, {1, 2, 4, 8}), ranks, random, false);
    DataSet box{.dims = 1 + random.below(3)};
    const double side = 10;
    for (std::size_t i = 0; i < 300 * box.dims; ++i) {
      box.doubles.push_back(random.chance(0.1) ? (random.chance(0.5) ? 0 : side) : random.uniform(0, side));
    }
    Metric metric;
    for (std::size_t k = 0; k < box.dims; ++k) metric.box.push_back(random.chance(0.8) ? BoxSide{0, side} : BoxSide{});
    const double e = box.dims == 1 ? 0.01 : box.dims == 2 ? 0.3 : 0.9;
    check_parts(box, metric, grid({e, 2 * e}, {1, 2, 4, 8}), ranks, random, false);
    check_parts(box, metric, grid({e, 2 * e}, {1, 2, 4, 8}), ranks, random, true);
  }
}

TEST_CASE("parts: float32 points whose images are no float32") {
  for (std::uint64_t seed = 1; seed <= test::sets_of(20); ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    DataSet box;
    box.precision = Precision::float32;
    for (int i = 0; i < 60; ++i) {
      const double off = random.uniform(0, 0.3);
      box.floats.push_back(static_cast<float>(i % 2 == 0 ? off : 100 - off));
    }
    // The eps is the distance of a pair across the face, and then a little less.
    const double low = box.floats[2 * random.below(30)], high = box.floats[2 * random.below(30) + 1];
    const double eps = low + (100 - high);
    check_parts(box, {.box = {{0, 100}}}, grid({eps, std::nextafter(eps, 0.0)}, {1, 2, 5, 9}),
                static_cast<int>(2 + random.below(4)), random, false);
  }
}

TEST_CASE("parts: some ten thousand points, cut evenly") {
  Random random(5);
  const DataSet data = test::make_data("clustered", 20'000, 3, Precision::float64, 5);
  check_parts(data, {}, grid({0.05, 0.1}, {2, 5, 10, 40}), 6, random, false);
  run_ranks(6, [&](Communicator& communicator) {
    const auto r = static_cast<std::size_t>(communicator.rank());
    const PointsView share = data.view().rows(r * 3000, r == 5 ? data.size() : (r + 1) * 3000);
    const Partition cuts = cut_space(communicator, share);
    std::vector<std::uint64_t> points(6);
    for (std::size_t i = 0; i < share.size(); ++i)
      ++points[cuts.part_of([&](std::size_t k) { return share.at(i, k); })];
    communicator.sum(std::span(points));
    // Checks of Catch2 are not thread-safe.
    if (communicator.rank() > 0) return;
    for (const std::uint64_t n : points) CHECK(std::abs(static_cast<double>(n) - 20'000.0 / 6) < 3);
  });
}

TEST_CASE("parts: of more points than a block of rows has, and a sample that leaves some out") {
  Random random(5);
  Points points(300'000, 2, Precision::float32);
  for (float& x : points.values<float>()) x = static_cast<float>(random.unit());
  const std::vector<std::size_t> shares{0, 100'000, 300'000};
  const Sweep sweep = grid({0.002, 0.003}, {4, 8});
  check_same(run_in_parts(points, {}, {}, sweep, 2, shares, nullptr, {.core_mask = true}),
             descending(run(points, sweep, {.threads = 1}, {.core_mask = true})));
}

TEST_CASE("parts: a coordinate that is not finite is named, whether space is cut by its row or not") {
  Random random(6);
  for (const std::size_t row : {2, 5, 99'999}) {
    CAPTURE(row);
    Points points(300'000, 2, Precision::float64);
    for (double& x : points.values<double>()) x = random.unit();
    points.values<double>()[2 * (100'000 + row) + 1] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(sweep_on_ranks(thirds(points), grid({0.002}, {4}), {}, two_threads),
                      Catch::Contains("row " + std::to_string(row)) && Catch::Contains("nan"));
  }
}

TEST_CASE("parts: what a rank holds is within its memory, or told") {
  Random random(8);
  Points points(40'000, 2, Precision::float32);
  for (float& x : points.values<float>()) x = static_cast<float>(random.unit());
  const Sweep sweep = grid({0.004, 0.005, 0.006}, {4, 8});
  const auto run_with = [&](std::uint64_t memory) {
    std::vector<Labels> of_first;
    const std::vector<EngineOptions> engine{{.memory = memory, .threads = 1, .backend = BackendChoice::cpu}};
    sweep_on_ranks({points.view().rows(0, 30'000), points.view().rows(30'000, 40'000)}, sweep, {}, engine,
                   [&](std::size_t r, VariantResult&& result) {
                     if (r == 0) of_first.push_back(std::move(result.labels));
                   });
    return of_first;
  };
  // The budgets hold one eps at a time, and two.
  const std::vector<Labels> one = run_with(3'000'000), two = run_with(30'000'000);
  REQUIRE(one.size() == sweep.size());
  CHECK(one == two);
  CHECK_THROWS_WITH(run_with(1'500'000),
                    Catch::StartsWith("the part of rank 0 needs ") &&
                        Catch::Contains("raise EngineOptions::memory, or spread the ranks over more machines"));
}

TEST_CASE("parts: a rank that fails while a result goes home, or the next eps is counted, ends all") {
  const DataSet data = test::make_data("clustered", 300, 2, Precision::float64, 1);
  const Sweep sweep = grid({0.1, 0.2, 0.3}, {2, 4});
  for (const int fails : {1, 2, 3, 5, 6}) {
    CAPTURE(fails);
    int results = 0;  // of the last rank
    const auto take = [&](std::size_t r, VariantResult&&) {
      if (r == 2 && ++results == fails) throw InputError("no room");
    };
    CHECK_THROWS_WITH(sweep_on_ranks(std::vector<PointSet>(3, data.view()), sweep, {}, two_threads, take),
                      Catch::Contains("no room"));
  }
}

TEST_CASE("parts: a rank without points passes any dimensions and precision") {
  const Sweep sweep = grid({0.3}, {4});
  // Returns the labels of each rank.
  const auto run_shares = [&](const std::vector<PointsView>& shares, const Metric& metric) {
    std::vector<PointSet> sets;
    for (const PointsView& share : shares) sets.emplace_back(share, metric);
    std::vector<Labels> labels(shares.size());
    sweep_on_ranks(sets, sweep, {}, one_thread,
                   [&](std::size_t r, VariantResult&& result) { labels[r] = std::move(result.labels); });
    return labels;
  };
  const Points none(0, 5, Precision::float32);
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const DataSet data = test::make_data("clustered", 300, 2, precision, 1);
    for (const Metric& metric : {Metric{}, Metric{.kind = MetricKind::greatcircle}, Metric{.scale = {1, 0.5}},
                                 Metric{.box = {{-20, 20}, {-6, 6}}}}) {
      CAPTURE(describe(metric));
      const std::vector<Labels> found = run_shares({none, {}, data.view()}, metric);
      CHECK(found[0].empty());
      CHECK(found[1].empty());
      CHECK(found[2] == run({data.view(), metric}, sweep).front().labels);
    }
    const DataSet other = test::make_data("clustered", 9, 3, precision, 1);
    CHECK_THROWS_WITH(run_shares({none, other.view(), data.view()}, {}),
                      Catch::Contains("the ranks differ in the dimensions of their points"));
  }
  CHECK(run_shares({{}, none, {}}, {}) == std::vector<Labels>(3));
}

TEST_CASE("parts: what cannot be") {
  const DataSet data = test::make_data("clustered", 300, 2, Precision::float64, 1);
  const auto run_with = [&](const Sweep& sweep, const RunOptions& options, const Metric& metric = {}) {
    sweep_on_ranks(thirds(data.view(), metric), sweep, options);
  };
  const auto refused = [&](const PointSet& points, std::span<const EngineOptions> engines, const char* words) {
    CHECK_THROWS_WITH(sweep_on_ranks({points, points}, grid({0.1}, {2}), {}, engines), Catch::Contains(words));
  };
  const std::vector<std::uint64_t> slices{0, data.size()};
  refused({data.view(), {}, {}, slices}, one_thread, "a data set for each slice is not to be had of points in parts");
  refused({data.view()}, std::vector<EngineOptions>(2, one_thread.front()), "a rank has one engine, and 2 are given");
  refused({Engine(one_thread.front()).load(data.view())}, {}, "leave Devices empty");
  CHECK_THROWS_WITH(run_with(grid({0.1}, {2}), {.verify = true}), Catch::Contains("RunOptions::verify"));
  CHECK_THROWS_WITH(run_with(grid({0.1}, {2}), {.keep = Keep::core}), Catch::Contains("RunOptions::keep = Keep::core"));
  CHECK_THROWS_WITH(run_with(grid({0.1}, {2}), {.strategy = StrategyChoice::table}), Catch::Contains("table"));
  CHECK_THROWS_WITH(run_with(grid({6.0}, {2}), {}, {.box = {{-20, 20}, {-5.1, 5.1}}}), Catch::Contains("coordinate 1"));
  const Metric coarse{.box = {{-1e17, 1e17}, {}}};
  CHECK_THROWS_WITH(run_with(grid({0.1}, {2}), {}, coarse), Catch::Contains("Metric::box has a side"));
  CHECK_THROWS_WITH(run_here(data.view(), {}, coarse, grid({0.1}, {2}), 3, nullptr, 1, {}),
                    Catch::Contains("Metric::box has a side"));
  // One rank differs or fails. All ranks must end with the reason of that rank.
  CHECK_THROWS_WITH(run_ranks(3,
                              [&](Communicator& communicator) {
                                const double eps = communicator.rank() == 1 ? 0.2 : 0.1;
                                run_each({data.view()}, {.options = one_thread, .ranks = &communicator},
                                         grid({eps}, {2}), {}, [](VariantResult&&) {});
                              }),
                    Catch::Contains("the ranks differ in eps or minpts"));
  const auto full = [](std::size_t r, VariantResult&&) {
    if (r == 2) throw InputError("no room");
  };
  CHECK_THROWS_WITH(sweep_on_ranks(std::vector<PointSet>(3, data.view()), grid({0.1}, {2}), {}, one_thread, full),
                    Catch::Contains("no room"));
}

}  // namespace
}  // namespace epsflow::parts
