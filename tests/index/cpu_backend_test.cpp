#include <epsflow/index/cpu_backend.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::OracleTable;
using test::Random;
using Rows = std::vector<std::vector<std::uint32_t>>;

/// A search, a lane and a table, as the flow would put them together.
class Bench {
 public:
  Bench(const DataSet& data, double eps) : backend_(make_cpu_backend(2)), lane_(backend_->make_lane()), pool_(budget_) {
    search_ = backend_->build_index(data.view(), eps, cancel_);
    std::vector<std::uint32_t> position(data.size());
    const auto order = search_->order();
    for (std::uint32_t p = 0; p < order.size(); ++p) position[order[p]] = p;
    const OracleTable table = data.oracle(eps);
    for (std::uint32_t p = 0; p < order.size(); ++p) {
      expected.emplace_back();
      for (const std::uint32_t id : table.rows[order[p]]) expected.back().push_back(position[id]);
      std::sort(expected.back().begin(), expected.back().end());
    }
  }

  BatchPlan plan(std::uint64_t lane_pairs, TableFormat format = TableFormat::csr, Kernel kernel = Kernel::rows) {
    return search_->plan({.format = format, .kernel = kernel, .workers = 2, .lane_pairs = lane_pairs});
  }

  /// Searches, and fails when `done` is not called once, or with an error.
  void search(const Batch& batch, NeighborTable& table) {
    complete([&](const auto& done) { search_->search(batch, *lane_, table, done); });
  }
  /// The same for the sort.
  void sort_pairs(NeighborTable& table) {
    complete([&](const auto& done) { search_->sort_pairs(*lane_, table, done); });
  }

  std::unique_ptr<NeighborTable> csr_table() {
    return std::make_unique<NeighborTable>(static_cast<std::uint32_t>(expected.size()), pool_.acquire(1 << 24));
  }
  std::unique_ptr<NeighborTable> packed_table() {
    const auto layout = search_->packed_layout();
    REQUIRE(layout != nullptr);
    return std::make_unique<NeighborTable>(layout, pool_.acquire(layout->words() * 4));
  }

  [[nodiscard]] Lane& lane() { return *lane_; }
  [[nodiscard]] NeighborSearch& index() { return *search_; }
  Rows expected;  ///< by position

 private:
  template <class F>
  static void complete(F&& start) {
    int calls = 0;
    std::exception_ptr error;
    start([&](std::exception_ptr e) {
      ++calls;
      error = e;
    });
    REQUIRE(calls == 1);
    if (error != nullptr) std::rethrow_exception(error);
  }

  CancelToken cancel_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Lane> lane_;
  MemoryBudget budget_{std::uint64_t{1} << 30};
  ArenaPool pool_;
  std::unique_ptr<NeighborSearch> search_;
};

void check_rows(const Lane& lane, Run rows, const Rows& expected) {
  REQUIRE(lane.rows == rows);
  REQUIRE(lane.counts.size() == rows.size());
  std::size_t next = 0;
  for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
    REQUIRE(lane.counts[row - rows.begin] == expected[row].size());
    REQUIRE(next + expected[row].size() <= lane.ids.size());
    REQUIRE(std::equal(expected[row].begin(), expected[row].end(), lane.ids.begin() + next));
    next += expected[row].size();
  }
  REQUIRE(lane.ids.size() == next);
}

TEST_CASE("cpu backend: its name, its lanes and its tables; nothing of it waits, nothing needs pinned memory") {
  const auto backend = make_cpu_backend(3);
  CHECK(backend->name() == "cpu");
  CHECK(backend->lanes() >= 3);
  CHECK(backend->tables() == 2);
  CHECK(backend->pinner() == nullptr);
  bool done = false;
  backend->post([&] { done = true; });
  CHECK(done);
}

TEST_CASE("cpu backend: rows, pairs and packed bits are the oracle's, or an overflow that says how many there are") {
  std::size_t overflows = 0;
  std::size_t fits = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 120);
    if (data.size() == 0) continue;
    Random random(seed);
    Bench bench(data, test::make_eps(data, random));
    const std::uint64_t lane_pairs = 1 + random.below(400);
    const auto n = static_cast<std::uint32_t>(data.size());
    auto table = bench.csr_table();
    for (int round = 0; round < 6; ++round) {
      // Any rows, not only those of the plan.
      const auto begin = static_cast<std::uint32_t>(random.below(n));
      const Run rows{begin, static_cast<std::uint32_t>(begin + 1 + random.below(n - begin))};
      std::uint64_t pairs = 0;
      for (std::uint32_t row = rows.begin; row < rows.end; ++row) pairs += bench.expected[row].size();
      for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
        REQUIRE(bench.plan(lane_pairs, TableFormat::csr, kernel).lane_pairs == lane_pairs);
        bench.search({rows, 0}, *table);
        Lane& lane = bench.lane();
        REQUIRE(lane.pairs == pairs);
        REQUIRE_FALSE(lane.out_of_memory);
        REQUIRE_FALSE(lane.ids_in_table);
        // A single row is searched whatever its length.
        REQUIRE(lane.overflow == (pairs > lane_pairs && rows.size() > 1));
        if (lane.overflow) {
          ++overflows;
          REQUIRE(lane.counts.empty());
          REQUIRE(lane.ids.empty());
          continue;
        }
        ++fits;
        if (emits_pairs(kernel)) {
          REQUIRE(lane.counts.empty());
          REQUIRE(lane.ids.empty());
          bench.sort_pairs(*table);
        }
        check_rows(lane, rows, bench.expected);
      }
    }
    if (data.dims > 3) {
      REQUIRE(bench.index().packed_layout() == nullptr);
      continue;
    }
    auto packed = bench.packed_table();
    // From the last batch to the first: rows land in their place in any order.
    BatchPlan by_tests = bench.plan(0, TableFormat::packed);
    std::reverse(by_tests.batches.begin(), by_tests.batches.end());
    for (const Batch& batch : by_tests.batches) bench.search(batch, *packed);
    packed->for_each_row({0, n}, [&](std::uint32_t row, const RowView& view) {
      std::vector<std::uint32_t> found;
      view.for_each([&](std::uint32_t neighbor) { found.push_back(neighbor); });
      REQUIRE(found == bench.expected[row]);
      REQUIRE(view.count == found.size());
    });
  }
  CHECK(overflows > 150);
  CHECK(fits > 750);
}

TEST_CASE("cpu backend: the layout of a packed table is made once") {
  const DataSet data = test::make_data("uniform", 100, 2, Precision::float64, 1);
  Bench bench(data, 1);
  CHECK(bench.index().packed_layout() == bench.index().packed_layout());
}

TEST_CASE("cpu backend: pairs of more rows and candidates than a tile") {
  const DataSet data = test::make_data("all equal", 2600, 1, Precision::float64, 1);
  Bench bench(data, 1);
  const BatchPlan plan = bench.plan(10'000'000, TableFormat::csr, Kernel::global);
  REQUIRE(plan.lane_pairs == 10'000'000);
  auto table = bench.csr_table();
  for (const Run rows : {Run{0, 2600}, Run{1000, 1003}}) {
    bench.search({rows, 0}, *table);
    REQUIRE_FALSE(bench.lane().overflow);
    bench.sort_pairs(*table);
    check_rows(bench.lane(), rows, bench.expected);
  }
}

TEST_CASE("cpu backend: a lane of another backend is an error, told through the completion") {
  struct Foreign final : Lane {
  } foreign;
  const DataSet data = test::make_data("uniform", 10, 2, Precision::float64, 1);
  Bench bench(data, 1);
  (void)bench.plan(100);
  auto table = bench.csr_table();
  std::exception_ptr error;
  bench.index().search({{0, 10}, 0}, foreign, *table, [&](std::exception_ptr e) { error = e; });
  CHECK(error != nullptr);
  error = nullptr;
  bench.index().sort_pairs(foreign, *table, [&](std::exception_ptr e) { error = e; });
  CHECK(error != nullptr);
}

}  // namespace
}  // namespace epsflow::index
