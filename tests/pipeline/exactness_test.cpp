// Labels must equal the oracle's, element for element, for all options.
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/random_points.hpp"
#include "support/settings.hpp"
#include "support/watchdog.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

Settings random_options(Random& random, std::size_t dims) {
  Settings options;
  SearchOptions& search = options.run.search;
  options.engine.threads = 1U << random.below(4);
  options.run.tables = static_cast<unsigned>(random.below(4));
  options.run.verify = random.chance(0.1);
  options.run.strategy = random.pick(std::vector<StrategyChoice>{StrategyChoice::automatic, StrategyChoice::table,
                                                                 StrategyChoice::direct, StrategyChoice::direct});
  search.index = random.pick(std::vector<IndexChoice>{IndexChoice::automatic, IndexChoice::automatic, IndexChoice::grid,
                                                      IndexChoice::tree, IndexChoice::all});
  if (options.run.strategy == StrategyChoice::direct || random.chance(0.3)) return options;
  const bool any_kernel = search.index == IndexChoice::automatic || search.index == IndexChoice::grid;
  search.kernel = random.chance(0.7) || !any_kernel ? Kernel::rows
                  : random.chance(0.5)              ? Kernel::global
                                                    : Kernel::shared;
  const bool packable = dims <= 3 && any_kernel && search.kernel == Kernel::rows;
  const std::uint64_t format = random.below(3);
  search.format = format == 0               ? FormatChoice::csr
                  : format == 1 && packable ? FormatChoice::packed
                                            : FormatChoice::automatic;
  options.run.method = random.chance(0.5) ? VariantMethod::nested : VariantMethod::each;
  search.lanes = static_cast<unsigned>(random.below(6));
  search.lane_pairs = random.chance(0.5) ? 1 + random.below(50) : 0;
  search.estimate_factor = random.chance(0.3) ? 0.2 : 1;
  return options;
}

Sweep random_sweep(const DataSet& data, Random& random) {
  std::vector<double> eps;
  for (std::uint64_t i = 0; i < 1 + random.below(4); ++i) eps.push_back(searchable(make_eps(data, random)));
  std::vector<std::uint32_t> minpts;
  for (std::uint64_t i = 0; i < 1 + random.below(4); ++i) {
    minpts.push_back(static_cast<std::uint32_t>(random.chance(0.9) ? 1 + random.below(12) : 1 + random.below(300)));
  }
  if (random.chance(0.5)) return grid(eps, minpts);
  std::vector<Variant> list;
  for (std::uint64_t i = 0; i < 1 + random.below(6); ++i) list.push_back({random.pick(eps), random.pick(minpts)});
  return Sweep(list);
}

/// Runs the sweep and compares every variant with the oracle. Returns the number of variants.
std::size_t check_sweep(const DataSet& data, const Sweep& sweep, const Settings& options) {
  const Watchdog watchdog(describe(data) + "; " + describe(options));
  INFO(describe(data) << "; " << describe(options));
  REQUIRE(wrong(run(data.view(), sweep, options), sweep, data) == "");
  return sweep.size();
}

TEST_CASE("exactness: random data, sweeps and options give the oracle's labels") {
  constexpr std::uint64_t kSeed = 1'000'003;
  std::size_t cases = 0;
  std::size_t variants = 0;
  for (std::uint64_t seed = kSeed; seed < kSeed + test::sets_of(5000); ++seed) {
    INFO("seed " << seed);
    const DataSet data = random_data(seed, 160);
    Random random(seed ^ 0x5DEECE66DULL);
    const Sweep sweep = random_sweep(data, random);
    variants += check_sweep(data, sweep, random_options(random, data.dims));
    ++cases;
  }
  REQUIRE(cases >= test::sets_of(2000));
  REQUIRE(variants >= 2 * cases);
}

TEST_CASE("exactness: thousands of points, so that cells, batches and blocks are many") {
  for (std::uint64_t seed = 1; seed <= test::sets_of(24); ++seed) {
    INFO("seed " << seed);
    Random random(seed * 77);
    const std::string& kind = data_kinds()[seed % data_kinds().size()];
    const std::size_t dims = 1 + seed % 5;
    const DataSet data =
        make_data(kind, 1500 + random.below(1500), dims, seed % 3 == 0 ? Precision::float32 : Precision::float64, seed);
    check_sweep(data, random_sweep(data, random), random_options(random, dims));
  }
}

TEST_CASE("exactness: all options agree on one data set") {
  const DataSet data = make_data("quantised", 400, 2, Precision::float64, 5);
  const Sweep sweep = grid({data.scale, data.scale * 2, data.scale * 3}, {1, 3, 8, 40});
  std::vector<RunOptions> ways;
  for (const StrategyChoice strategy : {StrategyChoice::automatic, StrategyChoice::table, StrategyChoice::direct}) {
    ways.push_back({.strategy = strategy});
  }
  for (RunOptions way : ways_of_tables(data.dims)) {
    for (const std::uint64_t lane_pairs : {0U, 1U, 37U, 5000U}) {
      way.search.lane_pairs = lane_pairs;
      ways.push_back(way);
    }
  }
  REQUIRE(2 * ways.size() == 118);
  for (const RunOptions& way : ways) {
    for (const unsigned threads : {1U, 4U}) {
      const Settings options{.engine = {.threads = threads}, .run = way};
      INFO(describe(options));
      REQUIRE(wrong(run(data.view(), sweep, options), sweep, data) == "");
    }
  }
}

TEST_CASE("exactness: pairs at exactly eps are neighbours, those one step beyond are not") {
  // These are 3-4-5 triangles with exact sums, so the distance is exactly eps.
  const std::vector<double> at{0, 0, 3, 4, 100, 0, 103, std::nextafter(4.0, 5.0)};
  const auto labels = run(PointsView(at, 2), grid({5.0}, {2})).front().labels;
  CHECK(labels == std::vector<std::int32_t>{0, 0, -1, -1});
  // 0.1 + 0.2 > 0.3 in float64: |0 - 0.30000000000000004| is over eps 0.3.
  const std::vector<double> sum{0, 0.1 + 0.2, 10, 10.25};
  const auto line = run(PointsView(sum, 1), grid({0.3}, {2})).front().labels;
  CHECK(line == std::vector<std::int32_t>{-1, -1, 0, 0});
}

TEST_CASE("exactness: float32 points are widened, not rounded again") {
  // In float32 the difference would round to exactly eps. In float64 it is slightly larger.
  const std::vector<float> values{0.1F, 1.1F};
  const double difference = static_cast<double>(1.1F) - static_cast<double>(0.1F);
  REQUIRE(difference > 1.0);
  REQUIRE(1.1F - 0.1F == 1.0F);
  const PointsView points(values, 1);
  CHECK(run(points, grid({1.0}, {2})).front().labels == std::vector<std::int32_t>{-1, -1});
  CHECK(run(points, grid({difference}, {2})).front().labels == std::vector<std::int32_t>{0, 0});
}

TEST_CASE("exactness: wherever candidates come from, from a table and without one") {
  for (const std::size_t dims : {2U, 7U, 20U, 65U}) {
    for (const std::string kind : {"clustered", "quantised", "all equal", "outlier 1e15", "tiny", "huge"}) {
      const DataSet data = make_data(kind, 300, dims, dims == 20 ? Precision::float32 : Precision::float64, dims);
      const double typical = data.scale * std::sqrt(static_cast<double>(dims));
      for (const IndexChoice index : {IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
        for (const StrategyChoice strategy : {StrategyChoice::table, StrategyChoice::direct}) {
          const Settings options{.engine = {.threads = 2, .backend = BackendChoice::cpu},
                                 .run = {.strategy = strategy, .search = {.index = index}}};
          check_sweep(data, grid({searchable(typical), searchable(typical * 0.6)}, {2, 5}), options);
        }
      }
    }
  }
}

TEST_CASE("exactness: many dimensions") {
  for (const std::size_t dims : {9U, 16U, 33U, 100U}) {
    for (const std::string kind : {"uniform", "clustered", "quantised", "outlier 1e300"}) {
      INFO("d " << dims << ", " << kind);
      const DataSet data = make_data(kind, 90, dims, dims == 16 ? Precision::float32 : Precision::float64, dims);
      Random random(dims);
      const double typical = std::sqrt(data.squared_distance(0, 1));
      check_sweep(data, grid({typical, typical * 0.7, typical * 1.3}, {1, 2, 5}), random_options(random, dims));
    }
  }
}

}  // namespace
}  // namespace epsflow::test
