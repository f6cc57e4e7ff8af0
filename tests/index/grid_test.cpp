#include <epsflow/index/grid.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/index/candidate_ranges.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

void check_grid(const DataSet& data, double eps) {
  const Grid grid(data.view(), eps, Cells::eps, CancelToken());
  const auto n = static_cast<std::uint32_t>(data.size());
  REQUIRE(grid.size() == n);
  REQUIRE(grid.dims() == data.dims);
  REQUIRE(grid.precision() == data.precision);
  REQUIRE(grid.eps() == eps);
  std::vector<std::uint32_t> sorted(grid.order().begin(), grid.order().end());
  std::sort(sorted.begin(), sorted.end());
  for (std::uint32_t i = 0; i < n; ++i) REQUIRE(sorted[i] == i);

  const auto keys = grid.cell_keys();
  const auto starts = grid.cell_starts();
  REQUIRE(keys.size() == grid.cells());
  REQUIRE(starts.size() == grid.cells() + 1);
  REQUIRE(starts[grid.cells()] == n);
  if (n > 0) REQUIRE(starts[0] == 0);
  for (std::size_t c = 0; c < grid.cells(); ++c) {
    REQUIRE(starts[c] < starts[c + 1]);
    if (c > 0) REQUIRE(keys[c - 1] < keys[c]);
    for (std::uint32_t p = starts[c]; p < starts[c + 1]; ++p) {
      REQUIRE(grid.cell_of(p) == c);
      // Within a cell, points keep their input order.
      if (p > starts[c]) REQUIRE(grid.order()[p - 1] < grid.order()[p]);
    }
  }
  const auto offsets = grid.keys().neighbor_offsets;
  std::size_t offset_count = 1;
  for (std::size_t a = 1; a < std::min(data.dims, kMostIndexedDims); ++a) offset_count *= 3;
  REQUIRE(offsets.size() == offset_count);
  for (std::size_t o = 1; o < offset_count; ++o) REQUIRE(offsets[o - 1] + 3 <= offsets[o]);

  for (std::uint32_t p = 0; p < n; ++p) {
    for (std::size_t k = 0; k < data.dims; ++k) {
      const std::size_t at = grid.order()[p] * data.dims + k;
      if (data.precision == Precision::float32) {
        REQUIRE(grid.coordinates<float>(k)[p] == data.floats[at]);
      } else {
        REQUIRE(grid.coordinates<double>(k)[p] == data.doubles[at]);
      }
    }
  }
  // The size is O(n) for any extent: ids, cells and coordinates.
  REQUIRE(grid.bytes() <= n * (4 + 12 + data.view().bytes() / std::max(n, 1U)) + 4);
}

TEST_CASE("grid: points sorted by cell, with all that hangs on it, for any data") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 150);
    Random random(seed);
    check_grid(data, test::make_eps(data, random));
  }
}

TEST_CASE("grid: so many points that blocks and passes of the sort are many") {
  // A key shares a word with the id if both fit; otherwise it has its own word.
  for (const double eps : {0.5, 1e-7}) {
    const DataSet data = test::make_data("uniform", 300'000, 2, Precision::float64, 5);
    const Grid grid(data.view(), eps, Cells::eps, CancelToken());
    bool ascending = true;
    for (std::size_t c = 1; c < grid.cells(); ++c) ascending &= grid.cell_keys()[c - 1] < grid.cell_keys()[c];
    CHECK(ascending);
    std::vector<bool> seen(data.size());
    for (const std::uint32_t id : grid.order()) seen[id] = true;
    CHECK(std::count(seen.begin(), seen.end(), true) == 300'000);
    bool in_order = true;
    for (std::size_t c = 0; c < grid.cells(); ++c) {
      for (std::uint32_t p = grid.cell_starts()[c] + 1; p < grid.cell_starts()[c + 1]; ++p) {
        in_order &= grid.order()[p - 1] < grid.order()[p];
      }
    }
    CHECK(in_order);
    if (eps == 0.5) {
      CHECK(grid.cells() < 250'000);
    } else {
      CHECK(grid.cells() > 299'000);
    }
  }
}

TEST_CASE("grid: keys that just fit a word with the id, and that just do not") {
  for (int exponent = 16; exponent <= 30; ++exponent) {
    INFO("2^" << exponent << " slots on either axis");
    DataSet data = test::make_data("uniform", 200, 2, Precision::float64, 3);
    for (double& x : data.doubles) x *= std::ldexp(1 / data.scale, exponent);
    const CellAxes chosen = choose_axes(data.view(), 1, Cells::eps, CancelToken());
    const Grid grid(data.view(), 1, Cells::eps, CancelToken());
    check_grid(data, 1);
    for (std::uint32_t p = 0; p < grid.size(); ++p) {
      std::uint64_t key = 0;
      for (std::size_t a = 0; a < 2; ++a) {
        const double x = data.doubles[std::size_t{grid.order()[p]} * 2 + chosen.axes[a].dim()];
        key += (chosen.axes[a].slot(x) + 1) * grid.keys().strides[a];
      }
      REQUIRE(grid.cell_keys()[grid.cell_of(p)] == key);
    }
  }
}

TEST_CASE("grid: outliers cost a cell each, not the space between") {
  DataSet data = test::make_data("clustered", 1000, 3, Precision::float64, 5);
  const std::uint64_t before = Grid(data.view(), 0.2, Cells::eps, CancelToken()).bytes();
  data.doubles.insert(data.doubles.end(), {1e300, -1e300, 1e15, -1e200, 5, 1e-300});
  const Grid grid(data.view(), 0.2, Cells::eps, CancelToken());
  CHECK(grid.bytes() <= before + 2 * (4 + 12 + 24) + 12 * 1000);
  CHECK(grid.cells() > 100);
  // The crowd must still be split: one cell for all would mean a search of all pairs.
  std::uint32_t largest = 0;
  for (std::size_t c = 0; c < grid.cells(); ++c) {
    largest = std::max(largest, grid.cell_starts()[c + 1] - grid.cell_starts()[c]);
  }
  CHECK(largest < 200);
}

TEST_CASE("grid: cached ranges are those that a walk finds") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::size_t dims = 2 + seed % 6;
    const DataSet data = test::make_data(seed % 2 == 0 ? "clustered" : "uniform", 2500, dims, Precision::float64, seed);
    INFO("seed " << seed << ", " << test::describe(data));
    const double eps = data.scale / (1 + static_cast<double>(seed % 5));
    const Grid walked(data.view(), eps, Cells::eps, CancelToken());
    Grid cached(data.view(), eps, Cells::eps, CancelToken());
    const std::uint64_t before = cached.bytes();
    cached.cache_ranges(1, CancelToken());  // too little for any range
    REQUIRE(cached.bytes() == before);
    cached.cache_ranges(1 << 30, CancelToken());
    REQUIRE(cached.bytes() > before);
    // Walks begin at the first cell and at one in the middle.
    for (const std::size_t first : {std::size_t{0}, walked.cells() / 2}) {
      CandidateRanges expected(walked, first);
      for (CandidateRanges found(cached, first);; found.next(), expected.next()) {
        const auto ranges = found.ranges();
        REQUIRE(std::vector<Range>(ranges.begin(), ranges.end()) ==
                std::vector<Range>(expected.ranges().begin(), expected.ranges().end()));
        if (found.bundle() + 1 == cached.cells()) break;
      }
    }
  }
}

TEST_CASE("grid: a cancelled token stops it, and the search for ranges") {
  const DataSet data = test::make_data("uniform", 1000, 5, Precision::float64, 1);
  Grid grid(data.view(), data.scale, Cells::eps, CancelToken());
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(grid.cache_ranges(1 << 30, cancel), Cancelled);
  CHECK_THROWS_AS(Grid(data.view(), 1, Cells::eps, cancel), Cancelled);
}

}  // namespace
}  // namespace epsflow::index
