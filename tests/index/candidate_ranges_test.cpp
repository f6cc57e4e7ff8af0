#include <epsflow/index/candidate_ranges.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/space_oracle.hpp"

#include <epsflow/index/grid.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

void check_ranges(const Grid& grid, std::span<const Range> ranges) {
  REQUIRE_FALSE(ranges.empty());
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    REQUIRE(ranges[r].begin < ranges[r].end);
    if (r > 0) REQUIRE(ranges[r - 1].end < ranges[r].begin);
  }
  REQUIRE(ranges.back().end <= grid.size());
}

bool holds(std::span<const Range> ranges, std::uint32_t position) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return range.begin <= position && position < range.end; });
}

/// Calls check(cell, its positions, its candidates) for each cell of a grid with points. A walk may begin at any cell.
template <class Check>
void walk_cells(const Grid& grid, Check&& check) {
  CandidateRanges walk(grid, 0);
  for (std::size_t cell = 0;; walk.next()) {
    REQUIRE(walk.bundle() == cell);
    const CandidateRanges fresh(grid, cell);
    REQUIRE(std::equal(fresh.ranges().begin(), fresh.ranges().end(), walk.ranges().begin(), walk.ranges().end()));
    check(cell, Range{grid.cell_starts()[cell], grid.cell_starts()[cell + 1]}, walk.ranges());
    if (++cell == grid.cells()) break;
  }
}

TEST_CASE("candidate ranges: ascending, apart, and with every neighbour, for any data") {
  std::uint64_t neighbors = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 110);
    if (data.size() == 0) continue;
    Random random(seed);
    const double eps = test::make_eps(data, random);
    INFO(test::describe(data) << ", eps " << eps);
    const Grid grid(data.view(), eps, Cells::eps, CancelToken());
    const test::OracleTable table = test::by_position(data.oracle(eps), grid.order());
    walk_cells(grid, [&](std::size_t, Range rows, std::span<const Range> ranges) {
      check_ranges(grid, ranges);
      for (std::uint32_t p = rows.begin; p < rows.end; ++p) {
        for (const std::uint32_t q : table.rows[p]) {
          REQUIRE(holds(ranges, q));
          ++neighbors;
        }
      }
    });
  }
  CHECK(neighbors > 100'000);
}

TEST_CASE("candidate ranges: the other way round closed axes, too") {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const std::size_t dims = 1 + seed % 4;
    const DataSet data = test::make_data("uniform", 120, dims, Precision::float64, seed);
    Random random(seed);
    Space space;
    double longest = 0;
    for (std::size_t k = 0; k < dims; ++k) {
      const Extent extent = extent_of(data.view(), k);
      const double room = random.chance(0.5) ? 0 : random.unit();
      space.axes.push_back({extent.lo, random.chance(0.7) ? (extent.hi - extent.lo) * (1 + room) : 0});
      longest = std::max(longest, extent.hi - extent.lo);
    }
    const double eps = longest * random.uniform(0.02, 0.4);
    INFO("seed " << seed << ", eps " << eps);
    const Grid grid(data.view(), eps, Cells::eps, CancelToken(), space);
    test::SpaceOracle oracle(space, data.view());
    walk_cells(grid, [&](std::size_t, Range rows, std::span<const Range> ranges) {
      check_ranges(grid, ranges);
      for (std::uint32_t p = rows.begin; p < rows.end; ++p) {
        const std::span<const double> sums = oracle.sums(grid.order()[p]);
        for (std::uint32_t q = 0; q < grid.size(); ++q) {
          if (sums[grid.order()[q]] <= eps * eps && !holds(ranges, q)) FAIL(p << " misses " << q);
        }
      }
    });
  }
}

TEST_CASE("candidate ranges: three rows of cells in 2-D, nine in 3-D") {
  for (const std::size_t dims : {2U, 3U}) {
    const DataSet data = test::make_data("uniform", 4000, dims, Precision::float64, 9);
    const Grid grid(data.view(), 0.6, Cells::eps, CancelToken());
    std::size_t most = 0;
    std::uint64_t candidates = 0;
    walk_cells(grid, [&](std::size_t, Range, std::span<const Range> ranges) {
      most = std::max(most, ranges.size());
      for (const Range& range : ranges) candidates += range.size();
    });
    CHECK(most <= (dims == 2 ? 3U : 9U));
    // A search of all pairs would find all neighbours too, so the number of candidates is limited.
    CHECK(candidates < grid.cells() * 4000 / 20);
  }
}

TEST_CASE("packed layout: the ranges of every cell, and where their bits lie") {
  // There are far more than 4096 cells, so the layout is made in several blocks.
  for (const std::size_t dims : {1U, 2U, 3U}) {
    const DataSet data = test::make_data("uniform", 20'000, dims, Precision::float32, 3);
    const Grid grid(data.view(), dims == 1 ? 0.1 : 0.5, Cells::eps, CancelToken());
    REQUIRE(grid.cells() > 9000);
    const PackedLayout layout = make_packed_layout(grid);
    REQUIRE(layout.bundles.size() == grid.cells());
    std::uint64_t word = 0;
    walk_cells(grid, [&](std::size_t cell, Range rows, std::span<const Range> expected) {
      REQUIRE(layout.bundles.starts[cell] == rows.begin);
      REQUIRE(layout.first_words[cell] == word);
      const auto ranges = layout.bundles.ranges_of(cell);
      REQUIRE(std::equal(ranges.begin(), ranges.end(), expected.begin(), expected.end()));
      std::uint64_t per_row = 0;
      for (const Range& range : ranges) per_row += packed_words(range.size());
      REQUIRE(layout.words_per_row(cell) == per_row);
      word += per_row * rows.size();
    });
    CHECK(layout.words() == word);
    CHECK(layout.bundles.starts[grid.cells()] == data.size());
    CHECK(layout.bundles.bundle_of(0) == 0);
    CHECK(layout.bundles.bundle_of(grid.size() - 1) == grid.cells() - 1);
  }
}

}  // namespace
}  // namespace epsflow::index
