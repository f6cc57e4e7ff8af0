#include <epsflow/clustering/cached_windows.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/cell_window.hpp>

namespace epsflow::clustering {
namespace {

using test::DataSet;

bool same(const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; }

TEST_CASE("cached windows: the window of each cached cell, and nothing of others") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    const DataSet data = test::make_data("clustered", 500, dims, Precision::float64, dims);
    const index::Grid grid(data.view(), data.scale, Cells::dense_box, CancelToken());
    for (const std::uint32_t reach : {1U, grid.keys().window}) {
      INFO(dims << " dimensions, reach " << reach);
      CachedWindows windows(grid, reach);
      CHECK(windows.keeps());
      CHECK(CachedWindows::bytes(grid, reach) > 0);
      index::CellWindow window(grid, 0, reach);
      for (std::uint32_t cell = 0; cell < grid.cells(); cell += 2) {
        REQUIRE(windows.of(cell).empty());
        windows.keep(cell, window.around({cell, cell + 1}));
      }
      index::CellWindow again(grid, 0, reach);
      for (std::uint32_t cell = 0; cell < grid.cells(); ++cell) {
        const std::span<const Range> around = again.around({cell, cell + 1});
        if (cell % 2 == 0) {
          REQUIRE(std::ranges::equal(windows.of(cell), around, same));
        } else {
          REQUIRE(windows.of(cell).empty());
        }
      }
    }
  }
  const CachedWindows none;
  CHECK(!none.keeps());
  CHECK(none.of(0).empty());
}

}  // namespace
}  // namespace epsflow::clustering
