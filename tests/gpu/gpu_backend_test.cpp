// Compares tables from every kernel with the oracle, row by row.
#include <epsflow/gpu/gpu_backend.hpp>

#include <algorithm>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/gpu.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>

namespace epsflow::gpu {
namespace {

using test::DataSet;
using test::OracleTable;
using test::Random;
using Rows = std::vector<std::vector<std::uint32_t>>;

struct Request {
  FormatChoice format = FormatChoice::csr;
  Kernel kernel = Kernel::rows;
  std::uint64_t lane_pairs = 0;
  double estimate_factor = 1;
  unsigned lanes = 1;
};

/// Holds a backend and an index, and does the work of a flow with them on one thread.
class Bench {
 public:
  Bench(const DataSet& data, double eps, std::uint64_t gpu_memory = 0)
      : n_(static_cast<std::uint32_t>(data.size())),
        backend_(make_gpu_backend({.memory = gpu_memory, .threads = 2})),
        pool_(budget_, backend_->pinner()),
        points_(backend_->load(data.view())),
        index_(points_->build_index({.eps = eps, .cells = Cells::eps, .index = IndexChoice::grid}, cancel_)) {
    order = index_->table({.format = FormatChoice::csr})->order();
  }

  /// Returns the table by position, with ascending rows.
  Rows table(const Request& request) {
    const auto search = index_->table({.format = request.format,
                                       .kernel = request.kernel,
                                       .workers = 2,
                                       .lanes = request.lanes,
                                       .lane_pairs = request.lane_pairs,
                                       .estimate_factor = request.estimate_factor});
    plan = search->plan();
    retries = 0;
    const auto layout = search->layout();
    packed = layout != nullptr;
    table_ = packed ? std::make_unique<NeighborTable>(layout, pool_.acquire(layout->words() * 4))
                    : std::make_unique<NeighborTable>(n_, pool_.acquire(budget_.total()));
    std::vector<Batch> waiting = plan.batches;
    std::vector<std::uint8_t> seen(n_, 0);
    unsigned turn = 0;
    while (!waiting.empty()) {
      const Batch batch = waiting.back();
      waiting.pop_back();
      const unsigned lane = turn++ % request.lanes;
      BatchResult found = wait([&](auto done) { search->search(batch, lane, *table_, done); });
      if (std::holds_alternative<BatchTooLarge>(found)) {
        ++retries;
        const auto [first, second] = search->split(batch);
        waiting.push_back(first);
        waiting.push_back(second);
        continue;
      }
      REQUIRE(std::holds_alternative<UnsortedPairs>(found) == emits_pairs(request.kernel));
      if (emits_pairs(request.kernel)) found = wait([&](auto done) { search->sort(lane, *table_, done); });
      if (packed) {
        const auto& rows = std::get<PackedRows>(found);
        REQUIRE(rows.counts.size() == rows.rows.size());
        table_->add_counts(rows.rows.begin, rows.counts);
        for (std::uint32_t row = rows.rows.begin; row < rows.rows.end; ++row) ++seen[row];
        continue;
      }
      const auto& rows = std::get<WrittenRows>(found);
      REQUIRE(rows.counts.size() == rows.rows.size());
      table_->add_rows(rows.rows, rows.counts, rows.ids);
      for (std::size_t i = 0; i < rows.rows.size(); ++i) ++seen[rows.rows[i]];
    }
    REQUIRE(std::all_of(seen.begin(), seen.end(), [](std::uint8_t times) { return times == 1; }));
    Rows rows(n_);
    table_->for_each_row({0, n_}, [&](std::uint32_t row, const RowView& view) {
      view.for_each([&](std::uint32_t neighbor) { rows[row].push_back(neighbor); });
      REQUIRE(rows[row].size() == view.count);
      std::sort(rows[row].begin(), rows[row].end());
    });
    return rows;
  }

  [[nodiscard]] const Index& index() const { return *index_; }
  BatchPlan plan;
  std::size_t retries = 0;
  bool packed = false;

 private:
  template <class F>
  BatchResult wait(F&& start) {
    auto promise = std::make_shared<std::promise<BatchResult>>();
    auto answer = promise->get_future();
    start([promise](BatchResult found) { promise->set_value(std::move(found)); });
    REQUIRE(answer.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    BatchResult found = answer.get();
    if (const auto* failed = std::get_if<BatchFailed>(&found)) std::rethrow_exception(failed->error);
    if (const auto* full = std::get_if<DeviceFull>(&found)) std::rethrow_exception(full->error);
    return found;
  }

  std::uint32_t n_;
  CancelToken cancel_;
  MemoryBudget budget_{std::uint64_t{4} << 30};
  std::unique_ptr<Backend> backend_;
  ArenaPool pool_;
  std::unique_ptr<LoadedPoints> points_;
  std::unique_ptr<Index> index_;
  std::unique_ptr<NeighborTable> table_;

 public:
  RowOrder order;  // last: its memory belongs to the backend
};

Rows expected_rows(const DataSet& data, double eps, std::span<const std::uint32_t> order) {
  const OracleTable table = data.oracle(eps);
  std::vector<std::uint32_t> position(order.size());
  for (std::uint32_t p = 0; p < order.size(); ++p) position[order[p]] = p;
  Rows rows;
  for (const std::uint32_t id : order) {
    rows.emplace_back();
    for (const std::uint32_t neighbor : table.rows[id]) rows.back().push_back(position[neighbor]);
    std::sort(rows.back().begin(), rows.back().end());
  }
  return rows;
}

const char* name_of(Kernel kernel) {
  return kernel == Kernel::rows ? "rows" : kernel == Kernel::global ? "global" : "shared";
}

TEST_CASE("gpu backend: every kernel gives the oracle's table on data of every kind") {
  if (!test::have_gpu()) return;
  std::size_t tables = 0;
  std::size_t retries = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 200);
    if (data.size() == 0) continue;
    Random random(seed);
    const double eps = test::make_eps(data, random);
    Bench bench(data, eps);
    const Rows expected = expected_rows(data, eps, bench.order.ids);
    for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
      for (const unsigned lanes : {1U, 3U}) {
        const Request request{.kernel = kernel,
                              .lane_pairs = random.chance(0.5) ? 1 + random.below(400) : 0,
                              .estimate_factor = random.chance(0.5) ? 1 : random.unit(),
                              .lanes = lanes};
        INFO(name_of(kernel) << ", lane pairs " << request.lane_pairs << ", estimate × " << request.estimate_factor);
        REQUIRE(bench.table(request) == expected);
        retries += bench.retries;
        ++tables;
      }
    }
    if (data.dims > 3) {
      REQUIRE_THROWS_AS(bench.table({.format = FormatChoice::packed}), UsageError);
      continue;
    }
    for (const std::uint64_t words : {0ULL, 1ULL, 50ULL}) {
      REQUIRE(bench.table({.format = FormatChoice::packed, .lane_pairs = words}) == expected);
    }
  }
  CHECK(tables > 500);
  CHECK(retries > 100);
}

TEST_CASE("gpu backend: every kernel once on few points") {
  // The data is small enough for tools that check every memory access.
  if (!test::have_gpu()) return;
  for (const std::size_t dims : {2U, 3U, 7U}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      INFO(dims << "-D");
      const DataSet data = test::make_data("clustered", 300, dims, precision, dims);
      Bench bench(data, data.scale);
      const Rows expected = expected_rows(data, data.scale, bench.order.ids);
      for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
        REQUIRE(bench.table({.kernel = kernel, .lanes = 3}) == expected);
        REQUIRE(bench.table({.kernel = kernel, .lane_pairs = 4000, .estimate_factor = 0.3}) == expected);
      }
      if (dims <= 3) REQUIRE(bench.table({.format = FormatChoice::packed}) == expected);
    }
  }
}

TEST_CASE("gpu backend: thousands of points, one to eight dimensions, hundreds of batches") {
  if (!test::have_gpu()) return;
  for (std::size_t dims = 1; dims <= 8; ++dims) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const DataSet data = test::make_data(dims % 2 == 0 ? "clustered" : "quantised", 4000, dims, precision, dims);
      INFO(dims << "-D");
      Bench bench(data, data.scale);
      const Rows expected = expected_rows(data, data.scale, bench.order.ids);
      std::size_t pairs = 0;
      for (const auto& row : expected) pairs += row.size();
      for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
        INFO(name_of(kernel));
        REQUIRE(bench.table({.kernel = kernel, .lanes = 3}) == expected);
        if (kernel == Kernel::rows) REQUIRE(bench.plan.pairs == pairs);
        REQUIRE(bench.table({.kernel = kernel, .lane_pairs = pairs / 200 + 1, .lanes = 3}) == expected);
        // If there are fewer than 100 cells, each batch is one cell.
        REQUIRE((bench.plan.batches.size() >= 100 || bench.plan.batches.front().units() == 1));
        REQUIRE(bench.table({.kernel = kernel, .lane_pairs = pairs / 20 + 1, .estimate_factor = 0.05}) == expected);
        REQUIRE((bench.retries > 0) == emits_pairs(kernel));
      }
      if (dims <= 3) REQUIRE(bench.table({.format = FormatChoice::packed, .lane_pairs = 100, .lanes = 3}) == expected);
    }
  }
}

TEST_CASE("gpu backend: one cell with more points than a block and a tile have room for") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("all equal", 2600, 2, Precision::float64, 1);
  Bench bench(data, 1);
  const Rows expected = expected_rows(data, 1, bench.order.ids);
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    INFO(name_of(kernel));
    REQUIRE(bench.table({.kernel = kernel}) == expected);
    // The buffer is too small for all rows of the cell, so its rows are split.
    REQUIRE(bench.table({.kernel = kernel, .lane_pairs = 10'000}) == expected);
  }
  REQUIRE(bench.table({.format = FormatChoice::packed}) == expected);
}

TEST_CASE("gpu backend: where the GPU has little memory, smaller buffers do it") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("uniform", 3000, 2, Precision::float64, 3);
  Bench bench(data, data.scale * 4, 6 << 20);
  const Rows expected = expected_rows(data, data.scale * 4, bench.order.ids);
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    INFO(name_of(kernel));
    REQUIRE(bench.table({.kernel = kernel, .lane_pairs = 1 << 20, .lanes = 3}) == expected);
  }
}

TEST_CASE("gpu backend: no points, and one") {
  if (!test::have_gpu()) return;
  DataSet none;
  none.dims = 2;
  Bench empty(none, 1);
  CHECK(empty.order.ids.empty());
  CHECK(empty.table({}).empty());
  CHECK(empty.plan.batches.empty());
  const DataSet one = test::make_data("uniform", 1, 3, Precision::float32, 1);
  Bench single(one, 1);
  for (const Kernel kernel : {Kernel::rows, Kernel::global, Kernel::shared}) {
    CHECK(single.table({.kernel = kernel}) == Rows{{0}});
  }
}

TEST_CASE("gpu backend: left open, the format is the one of fewer bytes") {
  if (!test::have_gpu()) return;
  const DataSet data = test::make_data("uniform", 3000, 2, Precision::float64, 1);
  Bench dense(data, data.scale * 8);
  (void)dense.table({.format = FormatChoice::automatic});
  CHECK(dense.packed);
  Bench sparse(data, data.scale * 1e-6);
  (void)sparse.table({.format = FormatChoice::automatic});
  CHECK_FALSE(sparse.packed);
}

TEST_CASE("gpu backend: labels without a table, from either kind of cells, beside the oracle's") {
  if (!test::have_gpu()) return;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 200);
    Random random(seed);
    const double eps = test::make_eps(data, random);
    const auto backend = make_gpu_backend({.threads = 2});
    const auto points = backend->load(data.view());
    const CancelToken cancel;
    const std::vector<std::uint32_t> minpts{20, 7, 4, 2, 1};
    for (const Cells cells : {Cells::eps, Cells::dense_box}) {
      const auto index = points->build_index({.eps = eps, .cells = cells}, cancel);
      const bool mask = random.chance(0.5);
      const auto store = index->label_store({minpts, mask});
      const auto counted = index->count({minpts, mask});
      std::vector<VariantResult> results;
      clustering::cluster_levels(*counted, *store, eps, minpts,
                                 [&](VariantResult&& result) { results.push_back(std::move(result)); });
      REQUIRE(results.size() == minpts.size());
      const OracleTable table = data.oracle(eps);
      for (std::size_t v = 0; v < minpts.size(); ++v) {
        const auto expected = test::oracle_labels(table, minpts[v]);
        REQUIRE(results[v].variant == Variant{eps, minpts[v]});
        REQUIRE(results[v].labels == expected.labels);
        REQUIRE(results[v].summary == expected.summary);
        REQUIRE(results[v].core.size() == (mask ? data.size() : 0));
        for (std::size_t i = 0; i < results[v].core.size(); ++i) {
          REQUIRE(results[v].core[i] == (table.rows[i].size() >= minpts[v] ? 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("gpu backend: a GPU that is not there is named") {
  if (!test::have_gpu()) return;
  test::check_mentions(test::error_of<UsageError>([] { (void)make_gpu_backend({.device = 99}); }),
                       {"EngineOptions::gpu is 99", "are 0"});
}

}  // namespace
}  // namespace epsflow::gpu
