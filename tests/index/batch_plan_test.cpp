#include <epsflow/index/batch_plan.hpp>

#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

void check_cover(const BatchPlan& plan, std::uint32_t n) {
  std::uint32_t next = 0;
  for (const Batch& batch : plan.batches) {
    REQUIRE(batch.unit == Batch::Unit::row);
    REQUIRE(batch.stride == 1);
    REQUIRE(batch.range.begin == next);
    REQUIRE(batch.range.end > batch.range.begin);
    REQUIRE(batch.units() == batch.range.size());
    next = batch.range.end;
  }
  REQUIRE(next == n);
  REQUIRE_FALSE(plan.counted);
  next = 0;
  for (const Range& block : plan.blocks) {
    REQUIRE(block.begin == next);
    REQUIRE(block.end > block.begin);
    next = block.end;
  }
  REQUIRE(next == n);
}

TEST_CASE("batch plan: batches hold every row once, in order, for any data and lane") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 300);
    Random random(seed);
    const Grid grid(data.view(), test::make_eps(data, random), Cells::eps, CancelToken());
    const RowSearch search(grid);
    TableOptions options;
    options.workers = static_cast<unsigned>(1 + random.below(8));
    options.lane_pairs = random.chance(0.7) ? 1 + random.below(2000) : 0;
    const BatchPlan pairs = plan_by_pairs(grid, search, options, CancelToken());
    check_cover(pairs, grid.size());
    REQUIRE(pairs.lane_pairs == (options.lane_pairs > 0 ? options.lane_pairs : kLanePairs));
    for (const Batch& batch : pairs.batches) {
      REQUIRE((batch.range.size() == 1 || batch.expected_pairs <= pairs.lane_pairs));
    }
    const BatchPlan tests = plan_packed(grid, make_packed_layout(grid), options);
    check_cover(tests, grid.size());
    REQUIRE(tests.pairs == 0);
    REQUIRE(tests.lane_pairs == 0);
  }
}

TEST_CASE("batch plan: the estimate is near the truth where points are spread evenly") {
  const DataSet data = test::make_data("uniform", 10'000, 2, Precision::float64, 8);
  const double eps = 1;
  const Grid grid(data.view(), eps, Cells::eps, CancelToken());
  TableOptions options;
  options.lane_pairs = 10'000;
  const BatchPlan plan = plan_by_pairs(grid, RowSearch(grid), options, CancelToken());
  const double pairs = static_cast<double>(data.oracle(eps).pairs());
  CHECK(static_cast<double>(plan.pairs) > pairs * 0.8);
  CHECK(static_cast<double>(plan.pairs) < pairs * 1.2);
  // The number of batches must be close to the need of the pairs.
  CHECK(plan.batches.size() >= static_cast<std::size_t>(pairs * 0.8 / 10'000));
  CHECK(plan.batches.size() <= static_cast<std::size_t>(pairs * 1.6 / 10'000) + 2);
}

TEST_CASE("batch plan: batches are of bounded work, and there are enough for all workers") {
  const DataSet data = test::make_data("all equal", 20'000, 2, Precision::float32, 8);
  const Grid grid(data.view(), 1, Cells::eps, CancelToken());
  const BatchPlan plan = plan_packed(grid, make_packed_layout(grid), {.workers = 4});
  check_cover(plan, 20'000);
  CHECK(plan.batches.size() >= 16);
  for (const Batch& batch : plan.batches) {
    CHECK(std::uint64_t{batch.range.size()} * 20'000 <= kMostTests + kFewestTests);
  }
}

TEST_CASE("batch plan: the estimate times a factor, and batches as if it were true") {
  const DataSet data = test::make_data("uniform", 10'000, 2, Precision::float64, 8);
  const Grid grid(data.view(), 1, Cells::eps, CancelToken());
  TableOptions options;
  options.lane_pairs = 1000;
  const BatchPlan whole = plan_by_pairs(grid, RowSearch(grid), options, CancelToken());
  options.estimate_factor = 0.25;
  const BatchPlan quarter = plan_by_pairs(grid, RowSearch(grid), options, CancelToken());
  check_cover(quarter, grid.size());
  CHECK(static_cast<double>(quarter.pairs) == Approx(static_cast<double>(whole.pairs) / 4).epsilon(0.001));
  CHECK(quarter.lane_pairs == whole.lane_pairs);
  CHECK(quarter.batches.size() * 2 < whole.batches.size());
}

TEST_CASE("batch plan: a batch counts every stride-th unit of its range, the first among them") {
  CHECK(Batch{.range = {5, 5}}.units() == 0);
  CHECK(Batch{.range = {5, 15}}.units() == 10);
  CHECK(Batch{.range = {5, 15}, .stride = 5}.units() == 2);
  CHECK(Batch{.range = {5, 16}, .stride = 5}.units() == 3);
  CHECK(Batch{.range = {0, 4'294'967'295U}, .stride = 4'000'000'000U}.units() == 2);
}

TEST_CASE("batch plan: halves of a batch") {
  const auto [first, second] = split_range(Batch{{10, 15}, 101});
  CHECK(first.range == Range{10, 12});
  CHECK(second.range == Range{12, 15});
  CHECK(first.expected_pairs + second.expected_pairs == 101);
  const auto [one, other] = split_range(Batch{{4'000'000'000U, 4'000'000'002U}, 0});
  CHECK(one.range == Range{4'000'000'000U, 4'000'000'001U});
  CHECK(other.range == Range{4'000'000'001U, 4'000'000'002U});
}

TEST_CASE("batch plan: a cancelled token stops it") {
  const DataSet data = test::make_data("uniform", 100, 2, Precision::float64, 8);
  const Grid grid(data.view(), 1, Cells::eps, CancelToken());
  CancelToken token;
  token.cancel();
  CHECK_THROWS_AS(plan_by_pairs(grid, RowSearch(grid), {}, token), Cancelled);
}

}  // namespace
}  // namespace epsflow::index
