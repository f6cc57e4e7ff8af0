#include <epsflow/index/cell_window.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

using Slots = std::vector<std::uint64_t>;

/// Stands for no cell.
constexpr std::uint32_t kNone = 0xFFFFFFFFU;

/// Computes the slots of cells from their keys, and the cells that a window must find.
class CellSlots {
 public:
  explicit CellSlots(const Grid& grid) : grid_(grid) {
    for (std::uint64_t key : grid.cell_keys()) {
      Slots slots;
      for (const std::uint64_t stride : grid.keys().strides) {
        slots.push_back(key / stride);
        key %= stride;
      }
      slots_.push_back(slots);
    }
  }

  /// Returns the largest number of slots between two cells on any of the first `axes` axes.
  [[nodiscard]] std::uint64_t distance(std::size_t a, std::size_t b, std::size_t axes) const {
    std::uint64_t most = 0;
    for (std::size_t k = 0; k < axes; ++k) {
      most = std::max(most, std::max(slots_[a][k], slots_[b][k]) - std::min(slots_[a][k], slots_[b][k]));
    }
    return most;
  }
  [[nodiscard]] std::size_t axes() const { return grid_.keys().strides.size(); }
  /// Returns the distance of rows of cells along the last axis.
  [[nodiscard]] std::uint64_t row_distance(std::size_t a, std::size_t b) const { return distance(a, b, axes() - 1); }

  [[nodiscard]] std::vector<std::uint32_t> around(std::size_t cell, std::uint32_t reach) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t c = 0; c < slots_.size(); ++c) {
      if (distance(cell, c, axes()) <= reach) found.push_back(c);
    }
    return found;
  }

 private:
  const Grid& grid_;
  std::vector<Slots> slots_;
};

std::vector<std::uint32_t> cells_of(std::span<const Range> ranges) {
  std::vector<std::uint32_t> cells;
  for (const Range& range : ranges) {
    REQUIRE(range.begin <= range.end);
    for (std::uint32_t c = range.begin; c < range.end; ++c) cells.push_back(c);
  }
  return cells;
}

std::vector<std::uint32_t> positions_of(const Grid& grid, const std::vector<std::uint32_t>& cells,
                                        std::uint32_t without) {
  const auto starts = grid.cell_starts();
  std::vector<std::uint32_t> positions;
  for (const std::uint32_t c : cells) {
    for (std::uint32_t p = starts[c]; c != without && p < starts[c + 1]; ++p) positions.push_back(p);
  }
  return positions;
}

/// Returns the positions that the window hands out around one of its cells. Each must occur once.
std::vector<std::uint32_t> others(CellWindow& window, std::uint32_t cell) {
  std::vector<std::uint32_t> positions;
  for (const Range& range : window.others_nearest_first(cell)) {
    REQUIRE(range.begin < range.end);
    for (std::uint32_t p = range.begin; p < range.end; ++p) positions.push_back(p);
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

/// Compares the rows around a cell with all cells. Returns the number of cells in them.
std::size_t check_rows(CellWindow& window, const Grid& grid, const CellSlots& slots, std::uint32_t cell,
                       std::uint32_t reach) {
  INFO("cell " << cell << ", reach " << reach);
  const auto expected = slots.around(cell, reach);
  std::size_t rows = 1;
  for (std::size_t a = 1; a < slots.axes(); ++a) rows *= 2 * reach + 1;
  const std::span<const Range> ranges = window.around({cell, cell + 1});
  REQUIRE(ranges.size() == rows);
  for (const Range& row : ranges) {
    for (std::uint32_t c = row.begin; c < row.end; ++c) REQUIRE(slots.row_distance(c, row.begin) == 0);
  }
  // The cells come in ascending order, and each once.
  REQUIRE(cells_of(ranges) == expected);
  REQUIRE(others(window, cell) == positions_of(grid, expected, cell));
  REQUIRE(window.points() == positions_of(grid, expected, kNone).size());
  std::uint64_t last = 0;
  for (const Range& range : window.others_nearest_first(cell)) {
    const std::uint64_t away = slots.row_distance(cell, grid.cell_of(range.begin));
    REQUIRE(away >= last);
    last = away;
  }
  return expected.size();
}

/// Checks ranges around several cells at once: they contain all cells around each of them, and perhaps more, each once.
void check_pool(CellWindow& window, const Grid& grid, const CellSlots& slots, Range pool, std::uint32_t reach) {
  INFO("cells " << pool.begin << " to " << pool.end << ", reach " << reach);
  const auto found = cells_of(window.around(pool));
  REQUIRE(std::is_sorted(found.begin(), found.end()));
  REQUIRE(std::adjacent_find(found.begin(), found.end()) == found.end());
  REQUIRE(window.points() == positions_of(grid, found, kNone).size());
  for (std::uint32_t cell = pool.begin; cell < pool.end; ++cell) {
    const auto expected = slots.around(cell, reach);
    REQUIRE(std::includes(found.begin(), found.end(), expected.begin(), expected.end()));
    REQUIRE(others(window, cell) == positions_of(grid, found, cell));
  }
}

/// Checks a walk over all cells, and windows that begin at any cell. Returns the cells in all windows of the walk.
std::size_t check_grid(const Grid& grid, std::uint32_t reach) {
  const CellSlots slots(grid);
  const auto cells = static_cast<std::uint32_t>(grid.cells());
  std::size_t sum = 0;
  CellWindow walk(grid, 0, reach);
  CellWindow lower(grid, 0, reach, WindowRanges::rows_up_to);
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    sum += check_rows(walk, grid, slots, cell, reach);
    auto expected = slots.around(cell, reach);
    auto found = cells_of(lower.around({cell, cell + 1}));
    std::erase_if(expected, [=](std::uint32_t c) { return c > cell; });
    std::erase_if(found, [=](std::uint32_t c) { return c > cell; });
    REQUIRE(found == expected);
    if (cell % 7 != 3) continue;
    CellWindow fresh(grid, cell, reach);
    check_rows(fresh, grid, slots, cell, reach);
  }
  for (const std::uint32_t most : {1U, 3U, 8U}) {
    CellWindow slabs(grid, 0, reach, WindowRanges::slabs);
    CellWindow rows(grid, 0, reach, WindowRanges::rows);
    for (Range pool{0, 0}; pool.begin < cells; pool.begin = pool.end) {
      pool.end = std::min(pool.begin + most, cells);
      check_pool(slabs, grid, slots, pool, reach);
      check_pool(rows, grid, slots, pool, reach);
      // The same window is then moved to the cells one by one.
      for (std::uint32_t cell = pool.begin; cell < pool.end; ++cell) check_rows(rows, grid, slots, cell, reach);
    }
  }
  return sum;
}

TEST_CASE("cell window: what a search over all cells finds, for any data") {
  std::size_t cells = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const DataSet data = test::make_data(test::data_kinds()[seed % test::data_kinds().size()], 1 + random.below(110),
                                         1 + random.below(3), Precision::float64, seed);
    const double eps = test::make_eps(data, random);
    INFO(test::describe(data) << ", eps " << eps);
    for (const Cells kind : {Cells::eps, Cells::dense_box}) {
      const Grid grid(data.view(), eps, kind, CancelToken());
      for (std::uint32_t reach = 1; reach <= grid.keys().window; ++reach) cells += check_grid(grid, reach);
    }
  }
  CHECK(cells > 20'000);
}

TEST_CASE("cell window: every cell of a full grid sees its whole neighbourhood, but at the borders") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    // Each of side^dims cells has a point in its centre.
    const std::size_t side = dims == 1 ? 40 : dims == 2 ? 9 : 6;
    const double width = SlotWidth::of_dense_box(1, dims).side;
    DataSet data;
    data.dims = dims;
    std::size_t n = 1;
    for (std::size_t k = 0; k < dims; ++k) n *= side;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0, rest = i; k < dims; ++k, rest /= side) {
        data.doubles.push_back(width * (static_cast<double>(rest % side) * (1 + 1e-9) + 1e-6));
      }
    }
    const Grid grid(data.view(), 1, Cells::dense_box, CancelToken());
    REQUIRE(grid.cells() == n);
    for (const std::uint32_t reach : {1U, 2U}) {
      // The sum over the cells is the product over the axes of a sum over slots: 2·reach + 1 each, minus those outside.
      const std::size_t per_axis = side * (2 * reach + 1) - reach * (reach + 1);
      std::size_t expected = 1;
      for (std::size_t k = 0; k < dims; ++k) expected *= per_axis;
      CHECK(check_grid(grid, reach) == expected);
    }
  }
}

TEST_CASE("cell window: sparse cells, and stretches that gaps keep apart, see nobody") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    DataSet data;
    data.dims = dims;
    for (const double at : {-1e300, -1e9, -40.0, 0.0, 3.5, 7.0, 1e9, 1e300}) {
      data.doubles.insert(data.doubles.end(), dims, at);
    }
    const Grid grid(data.view(), 1, Cells::dense_box, CancelToken());
    REQUIRE(grid.cells() == 8);
    for (const std::uint32_t reach : {1U, 2U}) CHECK(check_grid(grid, reach) == 8);
  }
}

}  // namespace
}  // namespace epsflow::index
