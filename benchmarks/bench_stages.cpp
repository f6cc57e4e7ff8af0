// Each stage by itself, on generated points: where the time of a sweep goes. Google Benchmark; its options apply.
#include <benchmark/benchmark.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <filesystem>
#include <memory>
#include <variant>
#include <vector>

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/clustering/table_source.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/cpu/cpu_backend.hpp>
#include <epsflow/io/generate.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/write_labels.hpp>

namespace {

using namespace epsflow;

constexpr std::size_t kPoints = 1'000'000;
constexpr double kEps = 0.1;

/// Positions of a generated TEC map: lon, lat.
const std::vector<double>& positions() {
  static const std::vector<double> values = [] {
    Points points = io::generate("tec", kPoints);
    std::vector<double> xy;
    for (std::size_t i = 0; i < kPoints; ++i) {
      xy.insert(xy.end(), {points.view().at(i, 0), points.view().at(i, 1)});
    }
    return xy;
  }();
  return values;
}

/// Everything up to a finished table.
struct Made {
  Made(FormatChoice format, Kernel kernel) {
    const auto threads = static_cast<unsigned>(tbb::this_task_arena::max_concurrency());
    search = index->table({.format = format, .kernel = kernel, .workers = 2, .lanes = threads});
    const auto layout = search->layout();
    table = layout != nullptr
                ? std::make_unique<NeighborTable>(layout, pool.acquire(layout->words() * 4))
                : std::make_unique<NeighborTable>(static_cast<std::uint32_t>(kPoints), pool.acquire(budget.total()));
    table->set_blocks(search->plan().blocks);
  }

  void fill() {
    const std::vector<Batch>& batches = search->plan().batches;
    tbb::parallel_for(std::size_t{0}, batches.size(), [&](std::size_t b) { fill(batches[b]); });
  }
  void fill(const Batch& batch) {
    BatchResult found;
    const auto done = [&](BatchResult result) { found = std::move(result); };
    const auto lane = static_cast<unsigned>(tbb::this_task_arena::current_thread_index());
    search->search(batch, lane, *table, done);
    if (std::holds_alternative<BatchTooLarge>(found)) {
      const auto [first, second] = search->split(batch);
      fill(first);
      fill(second);
      return;
    }
    if (std::holds_alternative<UnsortedPairs>(found)) search->sort(lane, *table, done);
    if (const auto* packed = std::get_if<PackedRows>(&found))
      return table->add_counts(packed->rows.begin, packed->counts);
    const auto& rows = std::get<LaneRows>(found);  // throws where the search failed
    if (!table->append(rows.rows, rows.counts, rows.ids)) std::terminate();
  }

  CancelToken cancel;
  std::unique_ptr<Backend> backend = cpu::make_cpu_backend(2);
  MemoryBudget budget{8ULL << 30};
  ArenaPool pool{budget};
  std::unique_ptr<LoadedPoints> points = backend->load({positions(), 2});
  std::unique_ptr<Index> index = points->build_index({.eps = kEps, .cells = Cells::reach}, cancel);
  std::unique_ptr<TableSearch> search;
  std::unique_ptr<NeighborTable> table;
};

void build_index(benchmark::State& state) {
  const CancelToken cancel;
  const auto backend = cpu::make_cpu_backend(2);
  const auto points = backend->load({positions(), 2});
  for (auto _ : state) {
    benchmark::DoNotOptimize(points->build_index({.eps = kEps, .cells = Cells::reach}, cancel));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kPoints));
}

void make_table(benchmark::State& state, FormatChoice format, Kernel kernel) {
  std::uint64_t pairs = 0;
  for (auto _ : state) {
    Made made(format, kernel);
    made.fill();
    pairs = made.table->pairs();
    state.counters["bytes_per_pair"] = static_cast<double>(made.table->bytes()) / static_cast<double>(pairs);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * pairs));
}

void cluster(benchmark::State& state, FormatChoice format, bool nested) {
  Made made(format, Kernel::rows);
  made.fill();
  const RowOrder order = made.search->order();
  clustering::TableSource source(*made.table, order.ids);
  const clustering::ClusterInput input{source, kEps};
  const std::vector<std::uint32_t> minpts{4, 8, 16, 32, 48, 64, 80, 100};
  for (auto _ : state) {
    if (nested) {
      clustering::cluster_nested(input, minpts, made.cancel, [](VariantResult&&) {});
    } else {
      for (const std::uint32_t m : minpts) benchmark::DoNotOptimize(clustering::cluster(input, m, made.cancel));
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * minpts.size()));
}

void read_file(benchmark::State& state, const char* name) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("epsflow_bench_" + std::to_string(kPoints) + name);
  io::write_points(file, {positions(), 2}, {"lon", "lat"}, io::Overwrite::replace);
  for (auto _ : state) benchmark::DoNotOptimize(io::read_points(file));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * std::filesystem::file_size(file)));
  std::filesystem::remove(file);
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK(build_index)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(make_table, packed, FormatChoice::packed, Kernel::rows)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(make_table, csr_rows, FormatChoice::csr, Kernel::rows)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(make_table, csr_pairs, FormatChoice::csr, Kernel::global)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_nested_packed, FormatChoice::packed, true)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_each_packed, FormatChoice::packed, false)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_nested_csr, FormatChoice::csr, true)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_each_csr, FormatChoice::csr, false)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(read_file, csv, ".csv")->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(read_file, npy, ".npy")->Unit(kMs)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
