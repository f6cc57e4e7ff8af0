// Each stage by itself, on generated points: where the time of a sweep goes. Google Benchmark; its options apply.
#include <benchmark/benchmark.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <filesystem>
#include <memory>
#include <vector>

#include <epsflow/clustering/dbscan.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/index/cpu_backend.hpp>
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
    Points points = io::generate("tec", kPoints, 1);
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
  Made(TableFormat format, Kernel k) : kernel(k) {
    search = backend->build_index({positions(), 2}, kEps, cancel);
    const auto layout = search->packed_layout();
    plan = search->plan({.format = format, .kernel = kernel, .workers = 2});
    table = format == TableFormat::packed
                ? std::make_unique<NeighborTable>(layout, pool.acquire(layout->words() * 4))
                : std::make_unique<NeighborTable>(static_cast<std::uint32_t>(kPoints), pool.acquire(budget.total()));
    table->set_blocks(plan.blocks);
    for (int i = 0; i < tbb::this_task_arena::max_concurrency(); ++i) lanes.push_back(backend->make_lane());
  }

  void fill() {
    tbb::parallel_for(std::size_t{0}, plan.batches.size(), [&](std::size_t b) { fill(plan.batches[b]); });
  }
  void fill(const Batch& batch) {
    const auto done = [](std::exception_ptr e) {
      if (e != nullptr) std::terminate();
    };
    Lane& lane = *lanes[static_cast<std::size_t>(tbb::this_task_arena::current_thread_index())];
    search->search(batch, lane, *table, done);
    if (lane.overflow) {
      const auto [first, second] = search->split(batch);
      fill(first);
      fill(second);
      return;
    }
    if (emits_pairs(kernel)) search->sort_pairs(lane, *table, done);
    if (table->format() == TableFormat::csr && !table->append(lane.rows, lane.counts, lane.ids)) std::terminate();
  }

  Kernel kernel;
  CancelToken cancel;
  std::unique_ptr<Backend> backend = index::make_cpu_backend(2);
  MemoryBudget budget{8ULL << 30};
  ArenaPool pool{budget};
  std::unique_ptr<NeighborSearch> search;
  BatchPlan plan;
  std::unique_ptr<NeighborTable> table;
  std::vector<std::unique_ptr<Lane>> lanes;
};

void build_index(benchmark::State& state) {
  const CancelToken cancel;
  const auto backend = index::make_cpu_backend(2);
  for (auto _ : state) benchmark::DoNotOptimize(backend->build_index({positions(), 2}, kEps, cancel));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kPoints));
}

void make_table(benchmark::State& state, TableFormat format, Kernel kernel) {
  std::uint64_t pairs = 0;
  for (auto _ : state) {
    Made made(format, kernel);
    made.fill();
    pairs = made.table->pairs();
    state.counters["bytes_per_pair"] = static_cast<double>(made.table->bytes()) / static_cast<double>(pairs);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * pairs));
}

void cluster(benchmark::State& state, TableFormat format, bool nested) {
  Made made(format, Kernel::rows);
  made.fill();
  const clustering::ClusterInput input{*made.table, made.search->order(), kEps};
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
BENCHMARK_CAPTURE(make_table, packed, TableFormat::packed, Kernel::rows)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(make_table, csr_rows, TableFormat::csr, Kernel::rows)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(make_table, csr_pairs, TableFormat::csr, Kernel::global)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_nested_packed, TableFormat::packed, true)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_each_packed, TableFormat::packed, false)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_nested_csr, TableFormat::csr, true)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(cluster, eight_minpts_each_csr, TableFormat::csr, false)->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(read_file, csv, ".csv")->Unit(kMs)->UseRealTime();
BENCHMARK_CAPTURE(read_file, npy, ".npy")->Unit(kMs)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
