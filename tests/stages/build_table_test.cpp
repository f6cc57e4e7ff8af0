#include <epsflow/stages/build_table.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "support/catch.hpp"

namespace epsflow::stages {
namespace {

struct TestLane final : Lane {
  void sort_pairs() override {}
};

struct Scene {
  explicit Scene(std::uint64_t memory) : budget(memory), pool(budget) {
    job.table = std::make_unique<NeighborTable>(4, pool.acquire(1 << 20));
    job.open_batches = 2;
  }
  MemoryBudget budget;
  ArenaPool pool;
  TableJob job{EpsGroup{1, {4}}};
};

TEST_CASE("build table: the rows of a batch take their place") {
  Scene scene(1 << 20);
  const std::vector<std::uint32_t> counts{1, 2};
  const std::vector<std::uint32_t> ids{2, 3, 2};
  TestLane lane;
  lane.rows = {2, 4};
  lane.counts = counts;
  lane.ids = ids;
  const auto outcome = BuildTable{}(scene.job, {{2, 4}, 3}, lane);
  CHECK(outcome.retry.empty());
  CHECK_FALSE(outcome.out_of_memory);
  CHECK(scene.job.rows_done == 2);
  CHECK(scene.job.table->counts()[3] == 2);
}

TEST_CASE("build table: a batch that outgrew its lane comes back in halves, and is counted") {
  Scene scene(1 << 20);
  TestLane lane;
  lane.rows = {0, 3};
  lane.overflow = true;
  Trace trace;
  const auto outcome = BuildTable{&trace}(scene.job, {{0, 3}, 10}, lane);
  REQUIRE(outcome.retry.size() == 2);
  CHECK(outcome.retry[0].rows == Run{0, 1});
  CHECK(outcome.retry[1].rows == Run{1, 3});
  CHECK_FALSE(outcome.out_of_memory);
  CHECK(scene.job.rows_done == 0);
  CHECK(trace.retries() == 1);
}

TEST_CASE("build table: rows that the budget has no room for") {
  Scene scene(100);
  const std::vector<std::uint32_t> counts{50};
  const std::vector<std::uint32_t> ids(50, 0);
  TestLane lane;
  lane.rows = {0, 1};
  lane.counts = counts;
  lane.ids = ids;
  const auto outcome = BuildTable{}(scene.job, {{0, 1}, 50}, lane);
  CHECK(outcome.out_of_memory);
  CHECK(outcome.retry.empty());
  CHECK(scene.job.rows_done == 0);
}

}  // namespace
}  // namespace epsflow::stages
