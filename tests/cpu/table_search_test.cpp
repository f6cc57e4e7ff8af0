#include <epsflow/cpu/table_search.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/metric.hpp>
#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/cpu/cpu_backend.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/tile_index.hpp>

namespace epsflow::cpu {
namespace {

using test::DataSet;
using test::Random;
using Rows = std::vector<std::vector<std::uint32_t>>;

std::shared_ptr<const index::SearchIndex> make_index(const DataSet& data, double eps, IndexChoice choice) {
  const CancelToken never;
  if (choice == IndexChoice::grid) return std::make_shared<const index::Grid>(data.view(), eps, Cells::eps, never);
  std::optional<index::LayerKind> kind;
  if (choice == IndexChoice::tree) kind = index::LayerKind::tree;
  return std::make_shared<const index::TileIndex>(data.view(), eps, kind, never);
}

/// An index, its searches and a table, combined as in the flow.
class Bench {
 public:
  Bench(const DataSet& data, double eps, IndexChoice choice = IndexChoice::grid)
      : index_(make_index(data, eps, choice)), pool_(budget_) {
    expected = test::by_position(data.oracle(eps), index_->order()).rows;
  }

  const BatchPlan& plan(std::uint64_t lane_pairs, FormatChoice format = FormatChoice::csr,
                        Kernel kernel = Kernel::rows) {
    search_ = make_table_search(
        index_, std::make_shared<const index::RowSearch>(*index_),
        {.format = format, .kernel = kernel, .workers = 2, .lanes = 2, .lane_pairs = lane_pairs}, cancel_);
    return search_->plan();
  }

  /// Searches. Fails if `done` is not called exactly once or gets an error.
  void search(const Batch& batch, NeighborTable& table) {
    complete([&](const auto& done) { search_->search(batch, 1, table, done); });
  }
  /// Sorts with the same checks.
  void sort(NeighborTable& table) {
    complete([&](const auto& done) { search_->sort(1, table, done); });
  }

  std::unique_ptr<NeighborTable> csr_table() {
    return std::make_unique<NeighborTable>(static_cast<std::uint32_t>(expected.size()), pool_.acquire(1 << 24));
  }
  std::unique_ptr<NeighborTable> packed_table() {
    const auto layout = search_->layout();
    REQUIRE(layout != nullptr);
    return std::make_unique<NeighborTable>(layout, pool_.acquire(layout->words() * 4));
  }

  [[nodiscard]] const BatchResult& found() const { return found_; }
  [[nodiscard]] TableSearch& table_search() { return *search_; }
  Rows expected;  ///< rows by position

 private:
  template <class F>
  void complete(F&& start) {
    int calls = 0;
    start([&](BatchResult found) {
      ++calls;
      found_ = std::move(found);
    });
    REQUIRE(calls == 1);
    if (const auto* failed = std::get_if<BatchFailed>(&found_)) std::rethrow_exception(failed->error);
  }

  CancelToken cancel_;
  std::shared_ptr<const index::SearchIndex> index_;
  MemoryBudget budget_{std::uint64_t{1} << 30};
  ArenaPool pool_;
  std::unique_ptr<TableSearch> search_;
  BatchResult found_;
};

void check_rows(const BatchResult& found, Range rows, const Rows& expected) {
  REQUIRE(std::holds_alternative<LaneRows>(found));
  const auto& lane = std::get<LaneRows>(found);
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

TEST_CASE("cpu backend: its name, its lanes and its groups; nothing of it waits, nothing needs pinned memory") {
  const auto backend = make_cpu_backend(3);
  CHECK(backend->name() == "cpu");
  CHECK(backend->lanes() >= 3);
  CHECK(backend->groups() == 2);
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
    const IndexChoice choice = std::vector{IndexChoice::grid, IndexChoice::tree, IndexChoice::all}[seed % 3];
    Bench bench(data, test::make_eps(data, random), choice);
    const std::uint64_t lane_pairs = 1 + random.below(400);
    const auto n = static_cast<std::uint32_t>(data.size());
    auto table = bench.csr_table();
    for (int round = 0; round < 6; ++round) {
      // These rows are arbitrary, not only the rows of the plan.
      const auto begin = static_cast<std::uint32_t>(random.below(n));
      const Range rows{begin, static_cast<std::uint32_t>(begin + 1 + random.below(n - begin))};
      std::uint64_t pairs = 0;
      for (std::uint32_t row = rows.begin; row < rows.end; ++row) pairs += bench.expected[row].size();
      for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
        REQUIRE(bench.plan(lane_pairs, FormatChoice::csr, kernel).lane_pairs == lane_pairs);
        bench.search({rows, 0}, *table);
        // A single row is searched at any length.
        if (pairs > lane_pairs && rows.size() > 1) {
          ++overflows;
          REQUIRE(std::holds_alternative<BatchTooLarge>(bench.found()));
          REQUIRE(std::get<BatchTooLarge>(bench.found()).needed == pairs);
          continue;
        }
        ++fits;
        if (emits_pairs(kernel)) {
          REQUIRE(std::holds_alternative<UnsortedPairs>(bench.found()));
          REQUIRE(std::get<UnsortedPairs>(bench.found()).count == pairs);
          bench.sort(*table);
        }
        check_rows(bench.found(), rows, bench.expected);
      }
    }
    if (data.dims > 3) {
      REQUIRE_THROWS_AS(bench.plan(0, FormatChoice::packed), UsageError);
      continue;
    }
    // Batches run from the last to the first, because rows may be added in any order.
    BatchPlan by_tests = bench.plan(0, FormatChoice::packed);
    auto packed = bench.packed_table();
    std::reverse(by_tests.batches.begin(), by_tests.batches.end());
    for (const Batch& batch : by_tests.batches) {
      bench.search(batch, *packed);
      REQUIRE(std::holds_alternative<PackedRows>(bench.found()));
      const auto& found = std::get<PackedRows>(bench.found());
      REQUIRE(found.rows == batch.range);
      REQUIRE(found.counts.size() == batch.range.size());
      packed->add_counts(found.rows.begin, found.counts);
    }
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

TEST_CASE("cpu backend: rows of several tiles are the oracle's, whatever the index") {
  for (const std::size_t dims : {2U, 7U, 20U, 65U}) {
    for (const IndexChoice choice : {IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
      INFO("d " << dims << ", index " << static_cast<int>(choice));
      const DataSet data = test::make_data("clustered", 700, dims, Precision::float64, dims);
      Bench bench(data, 0.4 * std::sqrt(static_cast<double>(dims)), choice);
      const BatchPlan plan = bench.plan(1'000'000);
      auto table = bench.csr_table();
      for (const Batch& batch : plan.batches) {
        bench.search(batch, *table);
        check_rows(bench.found(), batch.range, bench.expected);
      }
      for (const Range rows : {Range{0, 700}, Range{100, 300}, Range{127, 129}, Range{699, 700}}) {
        bench.search({rows, 0}, *table);
        check_rows(bench.found(), rows, bench.expected);
      }
    }
  }
}

TEST_CASE("cpu backend: an index says what it is, and holds no more than its points were said to need") {
  const auto backend = make_cpu_backend(1);
  const CancelToken never;
  for (const std::size_t dims : {2U, 6U, 7U, 20U, 65U}) {
    for (const std::size_t n : {0U, 1U, 2U, 40U, 3000U}) {
      const DataSet data = test::make_data("clustered", n, dims, Precision::float32, 3);
      const auto points = backend->load(data.view());
      for (const IndexChoice choice :
           {IndexChoice::automatic, IndexChoice::grid, IndexChoice::tree, IndexChoice::all}) {
        INFO("d " << dims << ", n " << n << ", index " << static_cast<int>(choice));
        const IndexOptions options{.eps = 0.5, .index = choice};
        const auto index = points->build_index(options, never);
        CHECK(index->bytes() <= points->index_bytes(options) + 64);
        const IndexFigures figures = index->figures();
        CHECK(figures.index == (choice == IndexChoice::automatic ? IndexChoice::grid : choice));
        CHECK(figures.decide == DecideChoice::scalar);
        CHECK(figures.candidates >= n);
        CHECK(figures.candidates <= n * n);
        if (choice == IndexChoice::all) CHECK(figures.candidates == n * n);
        CHECK((figures.cells > 0) == (figures.index == IndexChoice::grid && n > 0));
      }
    }
  }
}

TEST_CASE("cpu backend: left open, the index is a tree only where a grid leaves all pairs of many points") {
  const auto backend = make_cpu_backend(1);
  const CancelToken never;
  const auto chosen = [&](const DataSet& data, double eps) {
    const auto points = backend->load(data.view());
    const IndexOptions options{.eps = eps};
    const auto index = points->build_index(options, never);
    CHECK(index->bytes() <= points->index_bytes(options));
    return index->figures().index;
  };
  // No coordinates differ by more than eps.
  CHECK(chosen(test::make_data("uniform", 9000, 8, Precision::float32, 3), 100) == IndexChoice::tree);
  CHECK(chosen(test::make_data("uniform", 9000, 6, Precision::float32, 3), 100) == IndexChoice::grid);
  CHECK(chosen(test::make_data("uniform", 3000, 8, Precision::float32, 3), 100) == IndexChoice::grid);
  CHECK(chosen(test::make_data("clustered", 9000, 8, Precision::float32, 3), 0.3) == IndexChoice::grid);
}

TEST_CASE(
    "cpu backend: cells for clustering are those of a grid alone; float64 decides, and nothing else is promised") {
  const auto backend = make_cpu_backend(1);
  const CancelToken never;
  const DataSet data = test::make_data("clustered", 300, 2, Precision::float64, 3);
  const auto points = backend->load(data.view());
  const auto dense_boxes = [&](IndexChoice choice) {
    return points->build_index({.eps = 0.5, .cells = Cells::dense_box, .index = choice}, never)->figures().dense_boxes;
  };
  CHECK(dense_boxes(IndexChoice::automatic));
  CHECK(dense_boxes(IndexChoice::grid));
  CHECK_FALSE(dense_boxes(IndexChoice::tree));
  CHECK_FALSE(dense_boxes(IndexChoice::all));
  CHECK(points->build_index({.eps = 1, .decide = DecideChoice::scalar}, never) != nullptr);
  for (const DecideChoice decide : {DecideChoice::tensor16, DecideChoice::tensor64}) {
    test::check_mentions(
        test::error_of<UsageError>([&] { (void)points->build_index({.eps = 1, .decide = decide}, never); }),
        {"SearchOptions::decide", "leave it out"});
  }
}

TEST_CASE("cpu backend: left open, the format is the one of fewer bytes") {
  // Full cells need fewer bytes as bits. For sparse points, each range takes a word, and the layout takes more.
  const DataSet full = test::make_data("uniform", 3000, 2, Precision::float64, 1);
  Bench dense(full, 2);
  (void)dense.plan(0, FormatChoice::automatic);
  CHECK(dense.table_search().layout() != nullptr);
  Bench sparse(full, 1e-6);
  (void)sparse.plan(0, FormatChoice::automatic);
  CHECK(sparse.table_search().layout() == nullptr);
}

TEST_CASE("cpu backend: the table of an index of images in a periodic box is that of the points") {
  const Metric periodic{.box = {{0, 10}, {0, 10}}};
  const std::vector<double> at{0.1, 5, 9.9, 5, 5, 5};
  const CancelToken never;
  const auto points = make_cpu_backend(2)->load(PointsView(at, 2), transformed_space(periodic));
  const auto with_images = points->build_index({.eps = 0.5, .cells = Cells::dense_box}, never);
  REQUIRE(with_images->figures().dense_boxes);
  for (const Cells cells : {Cells::dense_box, Cells::eps}) {
    const auto index = points->build_index({.eps = 0.5, .cells = cells}, never);
    const auto search = index->table({.format = FormatChoice::csr, .workers = 1, .lanes = 1});
    MemoryBudget budget(1 << 20);
    ArenaPool pool(budget);
    NeighborTable table(3, pool.acquire(1 << 10));
    Rows rows;
    for (const Batch& batch : search->plan().batches) {
      search->search(batch, 0, table, [&](const BatchResult& result) {
        const auto& found = std::get<LaneRows>(result);
        const std::uint32_t* id = found.ids.data();
        for (const std::uint32_t count : found.counts) {
          rows.emplace_back();
          for (std::uint32_t k = 0; k < count; ++k) rows.back().push_back(search->order().ids[*id++]);
          std::sort(rows.back().begin(), rows.back().end());
        }
      });
    }
    std::sort(rows.begin(), rows.end());
    CHECK(rows == Rows{{0, 1}, {0, 1}, {2}});
  }
}

TEST_CASE("cpu backend: pairs of more rows and candidates than a tile") {
  const DataSet data = test::make_data("all equal", 2600, 1, Precision::float64, 1);
  Bench bench(data, 1);
  const BatchPlan plan = bench.plan(10'000'000, FormatChoice::csr, Kernel::global);
  REQUIRE(plan.lane_pairs == 10'000'000);
  auto table = bench.csr_table();
  for (const Range rows : {Range{0, 2600}, Range{1000, 1003}}) {
    bench.search({rows, 0}, *table);
    REQUIRE(std::holds_alternative<UnsortedPairs>(bench.found()));
    bench.sort(*table);
    check_rows(bench.found(), rows, bench.expected);
  }
}

}  // namespace
}  // namespace epsflow::cpu
