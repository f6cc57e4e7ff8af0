#include <epsflow/stages/build_table.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow::stages {
namespace {

/// A search that can only split a batch: into one unit and the rest.
struct TestSearch final : TableSearch {
  [[nodiscard]] const BatchPlan& plan() const override { return plan_; }
  [[nodiscard]] RowOrder order() const override { return {}; }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override {
    Batch first = batch;
    Batch second = batch;
    first.range.end = second.range.begin = batch.range.begin + 1;
    return {first, second};
  }
  void search(const Batch&, unsigned, NeighborTable&, Completion) override { throw std::logic_error("not asked for"); }

 private:
  BatchPlan plan_;
};

struct Scene {
  explicit Scene(std::uint64_t memory) : budget(memory), pool(budget) {
    job.search = std::make_unique<TestSearch>();
    job.table = std::make_unique<NeighborTable>(4, pool.acquire(1 << 20));
  }
  [[nodiscard]] std::vector<std::uint32_t> row(std::uint32_t row) const {
    std::vector<std::uint32_t> ids;
    job.table->for_each_row({row, row + 1}, [&](std::uint32_t, const RowView& view) {
      view.for_each([&](std::uint32_t neighbor) { ids.push_back(neighbor); });
    });
    return ids;
  }
  MemoryBudget budget;
  ArenaPool pool;
  EpsJob job{EpsGroup{1, {4}}};
};

using Ids = std::vector<std::uint32_t>;

TEST_CASE("build table: the rows of a batch are entered") {
  Scene scene(1 << 20);
  const std::vector<std::uint32_t> counts{1, 2};
  const std::vector<std::uint32_t> ids{2, 3, 2};
  const auto outcome =
      BuildTable{scene.pool}(scene.job, {.range = {2, 4}, .expected_pairs = 3}, LaneRows{{2, 4}, counts, ids}, true);
  CHECK(outcome.retry.empty());
  CHECK_FALSE(outcome.table_full);
  CHECK(scene.job.rows_done == 2);
  CHECK(scene.job.table->counts()[3] == 2);
  CHECK(scene.row(2) == Ids{2});
  CHECK(scene.row(3) == Ids{3, 2});
}

TEST_CASE("build table: a batch that outgrew its lane comes back in the halves of its index, and is counted") {
  Scene scene(1 << 20);
  Trace trace;
  const Batch batch{.range = {0, 3}, .expected_pairs = 10, .stride = 1, .unit = Batch::Unit::cell};
  const auto outcome = BuildTable{scene.pool, &trace}(scene.job, batch, BatchTooLarge{10}, true);
  REQUIRE(outcome.retry.size() == 2);
  CHECK(outcome.retry[0].range == Range{0, 1});
  CHECK(outcome.retry[1].range == Range{1, 3});
  CHECK(outcome.retry[1].unit == Batch::Unit::cell);
  CHECK_FALSE(outcome.table_full);
  CHECK(scene.job.rows_done == 0);
  CHECK(trace.retries() == 1);
}

TEST_CASE("build table: rows that the budget has no room for") {
  Scene scene(100);
  const std::vector<std::uint32_t> counts{50};
  const std::vector<std::uint32_t> ids(50, 0);
  BatchResult found;
  SECTION("found out as they are copied") { found = LaneRows{{0, 1}, counts, ids}; }
  SECTION("found out by the search") { found = TableFull{}; }
  Trace trace;
  const auto outcome = BuildTable{scene.pool, &trace}(scene.job, {.range = {0, 1}, .expected_pairs = 50}, found, false);
  CHECK(outcome.table_full);
  CHECK(outcome.retry.empty());
  CHECK(scene.job.rows_done == 0);
  CHECK(trace.retries() == 0);
  test::check_mentions(test::error_of<ResourceError>([&] {
                         (void)BuildTable{scene.pool}(scene.job, {.range = {0, 1}, .expected_pairs = 50}, found, true);
                       }),
                       {"the neighbour table of eps 1 needs about", "EngineOptions::memory"});
}

TEST_CASE("build table: a search that failed says so, and leaves nothing in the table") {
  Scene scene(1 << 20);
  const auto error = std::make_exception_ptr(std::runtime_error("injected"));
  for (const BatchResult& failed : {BatchResult(BatchFailed{error}), BatchResult(DeviceFull{error})}) {
    CHECK_THROWS_WITH(BuildTable{scene.pool}(scene.job, {.range = {0, 4}}, failed, false), "injected");
  }
  CHECK_THROWS_AS(BuildTable{scene.pool}(scene.job, {.range = {0, 4}}, UnsortedPairs{1}, false), Error);
  CHECK(scene.job.rows_done == 0);
}

TEST_CASE("build table: many rows are entered part by part, whichever way their ids came") {
  constexpr std::uint32_t n = 100'000;
  MemoryBudget budget(std::uint64_t{1} << 30);
  ArenaPool pool(budget);
  EpsJob job{EpsGroup{1, {4}}};
  job.table = std::make_unique<NeighborTable>(n, pool.acquire(1 << 24));
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> counts;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t row = 0; row < n; ++row) {
    rows.push_back(n - 1 - row);
    counts.push_back(row % 3);
    for (std::uint32_t k = 0; k < counts.back(); ++k) ids.push_back(row + k);
  }
  std::uint32_t* const reserved = job.table->reserve(ids.size());
  REQUIRE(reserved != nullptr);
  std::copy(ids.begin(), ids.end(), reserved);
  const bool listed = GENERATE(false, true);
  const RowNumbers numbers = listed ? RowNumbers(std::span<const std::uint32_t>(rows)) : RowNumbers(Range{0, n});
  const auto outcome = BuildTable{pool}(job, {.range = {0, n}}, WrittenRows{numbers, counts, reserved}, true);
  CHECK(outcome.retry.empty());
  CHECK_FALSE(outcome.table_full);
  CHECK(job.rows_done == n);
  std::size_t wrong = 0;
  job.table->for_each_row({0, n}, [&](std::uint32_t row, const RowView& view) {
    const std::uint32_t i = listed ? n - 1 - row : row;
    std::uint32_t next = i;
    if (view.count != i % 3) ++wrong;
    view.for_each([&](std::uint32_t id) { wrong += id == next++ ? 0 : 1; });
  });
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace epsflow::stages
