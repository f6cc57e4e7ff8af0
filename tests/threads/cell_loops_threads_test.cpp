// Runs the loops over dense-box cells on threads of std::thread, for race detectors without support for oneTBB.
#include <epsflow/clustering/cell_loops.hpp>

#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/union_find.hpp>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/cancel.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {
namespace {

constexpr std::uint32_t kMinpts = 4;

/// Calls f(cells) for pieces of all cells, on `threads` threads.
template <class F>
void on_threads(const index::Grid& grid, unsigned threads, F f) {
  constexpr std::uint32_t kPiece = 7;
  const auto cells = static_cast<std::uint32_t>(grid.cells());
  std::atomic<std::uint32_t> next{0};
  const auto work = [&] {
    for (std::uint32_t first = next.fetch_add(kPiece); first < cells; first = next.fetch_add(kPiece)) {
      f(Range{first, std::min(cells, first + kPiece)});
    }
  };
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) all.emplace_back(work);
  for (std::thread& thread : all) thread.join();
}

/// Returns the root of every cell, followed by the cluster of every point.
std::vector<std::uint32_t> roots_and_clusters(const index::Grid& grid, unsigned threads) {
  const index::RowSearch search(grid);
  const CellInput input{grid, search.input()};
  Buffer<std::uint32_t> counts(grid.size());
  const std::array<std::uint32_t, 2> ascending{kMinpts, std::numeric_limits<std::uint32_t>::max()};
  on_threads(grid, threads, [&](Range cells) { count_cells(input, cells, ascending, counts.data()); });
  Buffer<std::uint32_t> parent(grid.cells());
  std::fill(parent.begin(), parent.end(), kNotCore);
  std::vector<std::uint8_t> gained(grid.cells(), 0), settled(grid.cells(), 0);
  const auto starts = grid.cell_starts();
  for (std::uint32_t cell = 0; cell < grid.cells(); ++cell) {
    const bool core = std::any_of(counts.begin() + starts[cell], counts.begin() + starts[cell + 1],
                                  [](std::uint32_t count) { return count >= kMinpts; });
    gained[cell] = core ? 1 : 0;
    if (gained[cell] != 0) parent[cell] = cell;
  }
  for (const std::uint32_t reach : {1U, grid.keys().window}) {
    CachedWindows windows(grid, reach);
    on_threads(grid, threads, [&](Range cells) {
      std::vector<std::uint32_t> core;
      for (std::uint32_t cell = cells.begin; cell < cells.end; ++cell) {
        if (gained[cell] != 0) core.push_back(cell);
      }
      unite_cells(input, core, reach, windows,
                  {{.minpts = kMinpts}, counts.data(), gained.data(), settled.data(), parent.data()});
    });
  }
  const UnionFind sets(parent.span());
  Buffer<std::uint32_t> root(grid.cells());
  for (std::uint32_t cell = 0; cell < grid.cells(); ++cell) {
    root[cell] = parent[cell] == kNotCore ? kNotCore : sets.find(cell);
  }
  // The cluster of a core cell has the number of its root.
  static_assert(kNotCore == kNoCluster);
  std::vector<std::uint32_t> clusters(grid.size());
  on_threads(grid, threads, [&](Range cells) {
    find_cell_clusters(input, cells, {std::span(&kMinpts, 1), root.data()}, {counts.data(), nullptr},
                       clusters.data() + starts[cells.begin]);
  });
  std::vector<std::uint32_t> result(root.begin(), root.end());
  result.insert(result.end(), clusters.begin(), clusters.end());
  return result;
}

TEST_CASE("cell loops, threads: cells of one grid united at once give the sets of one thread") {
  for (const std::size_t dims : {2U, 3U}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      INFO("d " << dims << ", seed " << seed);
      const test::DataSet data = test::make_data("clustered", 1200, dims, Precision::float64, seed);
      std::optional<index::Grid> grid;
      tbb::task_arena(1).execute([&] { grid.emplace(data.view(), 0.5 * data.scale, Cells::dense_box, CancelToken()); });
      REQUIRE(grid->dense_boxes());
      const std::vector<std::uint32_t> expected = roots_and_clusters(*grid, 1);
      for (int round = 0; round < 5; ++round) REQUIRE(roots_and_clusters(*grid, 6) == expected);
    }
  }
}

}  // namespace
}  // namespace epsflow::clustering
