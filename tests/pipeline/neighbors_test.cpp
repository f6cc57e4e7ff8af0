#include <epsflow/pipeline/neighbors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/real_data.hpp"
#include "support/settings.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/metric.hpp>

namespace epsflow::test {
namespace {

void check_neighbors(const DataSet& data, double eps, const Settings& options) {
  INFO(describe(data) << ", eps " << format_number(eps));
  const OracleTable expected = data.oracle(eps);
  const Neighbors found = neighbors(data.view(), eps, Distances::include, options);
  REQUIRE(found.size() == data.size());
  REQUIRE(found.pairs() == expected.pairs());
  REQUIRE(found.ids.size() == expected.pairs());
  REQUIRE(found.distances.size() == expected.pairs());
  REQUIRE(found.offsets[0] == 0);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto row = found.row(i);
    REQUIRE(std::ranges::equal(row, expected.rows[i]));
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double squared = data.squared_distance(i, row[k]);
      if (squared >= 0x1p-1000) {
        REQUIRE(found.distances[found.offsets[i] + k] == std::sqrt(squared));
        continue;
      }
      double distance = 0;  // used if squares underflow
      for (std::size_t axis = 0; axis < data.dims; ++axis) {
        distance = std::hypot(distance, data.view().at(i, axis) - data.view().at(row[k], axis));
      }
      REQUIRE(found.distances[found.offsets[i] + k] == Approx(distance).epsilon(1e-14).margin(1e-323));
    }
  }
}

TEST_CASE("neighbors: ids, offsets and distances are the oracle's in every format") {
  std::size_t pairs_with_ties = 0;
  for (std::uint64_t seed = 1; seed <= test::sets_of(300); ++seed) {
    INFO("seed " << seed);
    const DataSet data = random_data(seed, 120);
    Random random(seed + 9999);
    Settings options;
    options.engine.threads = static_cast<unsigned>(1 + random.below(4));
    options.run.search.lane_pairs = random.chance(0.5) ? 1 + random.below(40) : 0;
    const double eps = searchable(make_eps(data, random));
    for (const FormatChoice format : {FormatChoice::csr, FormatChoice::packed}) {
      if (format == FormatChoice::packed && data.dims > 3) continue;
      options.run.search.format = format;
      options.run.search.kernel = Kernel::rows;
      check_neighbors(data, eps, options);
    }
    options.run.search.format = FormatChoice::csr;
    options.run.search.kernel = seed % 2 == 0 ? Kernel::global : Kernel::shared;
    check_neighbors(data, eps, options);
    pairs_with_ties += data.kind == "quantised" ? 1 : 0;
  }
  CHECK(pairs_with_ties > 0);
}

TEST_CASE("neighbors: distances whose powers vanish, by any norm") {
  const std::vector<double> x{0, 0, 3e-200, 4e-200, 0, 0.01, 0.5, 0};
  const PointsView points(x, 2);
  const auto distances = [&](const Metric& metric) {
    const Neighbors found = neighbors({points, metric}, 0.9, Distances::include);
    REQUIRE(found.offsets[1] == 4);
    return std::vector<double>(found.distances.data(), found.distances.data() + 4);
  };
  CHECK(distances({})[0] == 0);
  CHECK(distances({})[1] == Approx(5e-200).margin(0));
  CHECK(distances({.kind = MetricKind::manhattan})[1] == Approx(7e-200).margin(0));
  CHECK(distances({.kind = MetricKind::chebyshev})[1] == 4e-200);
  CHECK(distances({.kind = MetricKind::minkowski, .power = 3})[1] == Approx(std::cbrt(91.0) * 1e-200).margin(0));
  CHECK(distances({.box = {{0, 8}, {0, 8}}})[2] == Approx(0.01).epsilon(1e-12));
  const std::vector<double> by_power = distances({.kind = MetricKind::minkowski, .power = 400});
  CHECK(by_power[1] == Approx(4e-200).margin(0));
  CHECK(by_power[2] == Approx(0.01).epsilon(1e-12));
  CHECK(by_power[3] == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("neighbors: distances only on request") {
  CHECK(Neighbors{}.size() == 0);
  CHECK(Neighbors{}.pairs() == 0);
  const DataSet data = make_data("clustered", 50, 2, Precision::float64, 1);
  const Neighbors found = neighbors(data.view(), 0.5);
  CHECK(found.distances.empty());
  CHECK(found.pairs() == data.oracle(0.5).pairs());
}

TEST_CASE("neighbors: batches that outgrow their lane are split, counted, and lose no pair") {
  // The estimate takes the share of candidates that are neighbours from a sample. It is a third among scattered points
  // and one in the heaps of equal points, whose batches therefore hold three times the expected pairs.
  DataSet data = make_data("uniform", 1500, 2, Precision::float64, 11);
  for (int heap = 0; heap < 3; ++heap) {
    for (int i = 0; i < 80; ++i) data.doubles.insert(data.doubles.end(), {100.0 + 10 * heap, 50.0});
  }
  const double eps = 1;
  const OracleTable expected = data.oracle(eps);
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    for (const std::uint64_t lane_pairs : {1U, 60U, 400U, 1000U}) {
      INFO("lane pairs " << lane_pairs);
      const Settings options{
          .engine = {.backend = BackendChoice::cpu},  // a GPU counts its rows first
          .run = {.search = {.kernel = kernel, .format = FormatChoice::csr, .lane_pairs = lane_pairs}}};
      Trace trace;
      const Neighbors found = neighbors(data.view(), eps, Distances::omit, options, {.trace = &trace});
      CHECK(found.pairs() == expected.pairs());
      bool equal = true;
      for (std::size_t i = 0; i < data.size(); ++i) equal &= std::ranges::equal(found.row(i), expected.rows[i]);
      CHECK(equal);
      // A batch of one row cannot be split and gets a larger buffer instead.
      if (lane_pairs >= 400) CHECK(trace.retries() > 0);
    }
  }
}

TEST_CASE("neighbors: a radius that is no radius, and coordinates that are no numbers, are named") {
  std::vector<double> at{0, 1, 2, 3};
  const PointsView points(at, 2);
  for (const double eps : {0.0, -2.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    check_error<UsageError>({"eps " + format_number(eps)}, [&] { (void)neighbors(points, eps); });
  }
  at[3] = std::nan("");
  check_error<InputError>({"row 1", "column 1", "nan"}, [&] { (void)neighbors(points, 1); });
}

TEST_CASE("neighbors: a packed table that cannot be is refused") {
  const DataSet data = make_data("uniform", 30, 4, Precision::float64, 3);
  Settings options{.run = {.search = {.format = FormatChoice::packed}}};
  check_error<UsageError>({"packed"}, [&] { (void)neighbors(data.view(), 1, Distances::omit, options); });
  options.run.search.kernel = Kernel::global;
  const DataSet flat = make_data("uniform", 30, 2, Precision::float64, 3);
  check_error<UsageError>({"packed"}, [&] { (void)neighbors(flat.view(), 1, Distances::omit, options); });
}

TEST_CASE("neighbors: cancelled before it begins") {
  const DataSet data = make_data("clustered", 100, 2, Precision::float64, 2);
  CHECK_THROWS_AS(neighbors(data.view(), 0.3, Distances::omit, {}, cancelled()), Cancelled);
}

TEST_CASE("neighbors: real data have as many pairs as scikit-learn counts") {
  const auto folder = real_data();
  if (!folder) return;
  const std::vector<std::string> files{"nyc_pickups.npy", "flights_2020.npy", "lidar_autzen.npy", "selfjoin_100k.txt"};
  std::set<std::pair<std::string, double>> done;
  std::size_t compared = 0;
  for (const Golden& golden : load_golden(*folder)) {
    if (std::find(files.begin(), files.end(), golden.file) == files.end()) continue;
    // 50 million pairs would make the test slow under sanitizers and prove nothing more.
    if (golden.pairs > 30'000'000 || !done.emplace(golden.file, golden.eps).second) continue;
    INFO(golden.file << ", eps " << golden.eps);
    const auto file = *folder / golden.file;
    if (!std::filesystem::exists(file)) {
      WARN("skipped: " << file.string() << " is not there");
      continue;
    }
    const std::vector<double> values = file.extension() == ".npy" ? load_npy<double>(file, "<f8") : load_numbers(file);
    const PointsView points(values, golden.dims);
    REQUIRE(points.size() == golden.rows);
    for (const FormatChoice format : {FormatChoice::packed, FormatChoice::csr}) {
      CHECK(neighbors(points, golden.eps, Distances::omit, {.run = {.search = {.format = format}}}).pairs() ==
            golden.pairs);
    }
    ++compared;
  }
  CHECK(compared >= 7);
}

}  // namespace
}  // namespace epsflow::test
