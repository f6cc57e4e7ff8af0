#include <epsflow/stages/build_table.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace epsflow::stages {
namespace {

/// A search that can do nothing but split: one unit, and the rest.
struct TestSearch final : TableSearch {
  [[nodiscard]] const BatchPlan& plan() const override { throw std::logic_error("not asked for"); }
  [[nodiscard]] std::shared_ptr<const PackedLayout> layout() const override { return nullptr; }
  [[nodiscard]] RowOrder order() const override { return {}; }
  [[nodiscard]] std::pair<Batch, Batch> split(const Batch& batch) const override {
    Batch first = batch;
    Batch second = batch;
    first.range.end = second.range.begin = batch.range.begin + 1;
    return {first, second};
  }
  void search(const Batch&, unsigned, NeighborTable&, Completion) override { throw std::logic_error("not asked for"); }
  void sort(unsigned, NeighborTable&, Completion) override { throw std::logic_error("not asked for"); }
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

TEST_CASE("build table: the rows of a batch take their place") {
  Scene scene(1 << 20);
  const std::vector<std::uint32_t> counts{1, 2};
  const std::vector<std::uint32_t> ids{2, 3, 2};
  FoundRows found;
  found.rows = {2, 4};
  found.counts = counts;
  found.ids = ids;
  const auto outcome = BuildTable{}(scene.job, {.range = {2, 4}, .expected_pairs = 3}, found);
  CHECK(outcome.retry.empty());
  CHECK_FALSE(outcome.out_of_memory);
  CHECK(scene.job.rows_done == 2);
  CHECK(scene.job.table->counts()[3] == 2);
  CHECK(scene.row(2) == Ids{2});
  CHECK(scene.row(3) == Ids{3, 2});
}

TEST_CASE("build table: rows that do not follow each other, their ids in the table already") {
  Scene scene(1 << 20);
  const std::vector<std::uint32_t> rows{1, 3};
  const std::vector<std::uint32_t> counts{1, 2};
  const std::vector<std::uint32_t> ids{1, 3, 0};
  std::uint32_t* const place = scene.job.table->reserve(ids.size());
  REQUIRE(place != nullptr);
  std::copy(ids.begin(), ids.end(), place);
  FoundRows found;
  found.row_list = rows;
  found.counts = counts;
  found.ids = {place, ids.size()};
  found.ids_in_table = true;
  const auto outcome = BuildTable{}(scene.job, {.range = {1, 4}, .stride = 2}, found);
  CHECK(outcome.retry.empty());
  CHECK_FALSE(outcome.out_of_memory);
  CHECK(scene.job.rows_done == 2);
  CHECK(scene.row(1) == Ids{1});
  CHECK(scene.row(3) == Ids{3, 0});
}

TEST_CASE("build table: a batch that outgrew its lane comes back in the halves of its index, and is counted") {
  Scene scene(1 << 20);
  FoundRows found;
  found.rows = {0, 3};
  found.overflow = true;
  Trace trace;
  const Batch batch{.range = {0, 3}, .expected_pairs = 10, .stride = 1, .unit = Batch::Unit::cell};
  const auto outcome = BuildTable{&trace}(scene.job, batch, found);
  REQUIRE(outcome.retry.size() == 2);
  CHECK(outcome.retry[0].range == Range{0, 1});
  CHECK(outcome.retry[1].range == Range{1, 3});
  CHECK(outcome.retry[1].unit == Batch::Unit::cell);
  CHECK_FALSE(outcome.out_of_memory);
  CHECK(scene.job.rows_done == 0);
  CHECK(trace.retries() == 1);
}

TEST_CASE("build table: rows that the budget has no room for") {
  Scene scene(100);
  const std::vector<std::uint32_t> counts{50};
  const std::vector<std::uint32_t> ids(50, 0);
  FoundRows found;
  found.rows = {0, 1};
  SECTION("found out as they are copied") {
    found.counts = counts;
    found.ids = ids;
  }
  SECTION("found out by the search") { found.out_of_memory = true; }
  Trace trace;
  const auto outcome = BuildTable{&trace}(scene.job, {.range = {0, 1}, .expected_pairs = 50}, found);
  CHECK(outcome.out_of_memory);
  CHECK(outcome.retry.empty());
  CHECK(scene.job.rows_done == 0);
  CHECK(trace.retries() == 0);
}

}  // namespace
}  // namespace epsflow::stages
