#include <epsflow/clustering/bounds_order.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/index/grid.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::clustering {
namespace {

/// Returns all cells as one block.
std::vector<ClusterBlock> one_block(const index::Grid& grid) {
  const auto cells = static_cast<std::uint32_t>(grid.cells());
  return {{{0, cells}, {0, grid.size()}}};
}

template <class T>
void check_order(const test::DataSet& data, double eps) {
  const index::Grid grid(data.view(), eps, Cells::dense_box, CancelToken());
  if (!grid.dense_boxes()) return;
  const index::RowSearch search(grid);
  const BoundsOrder ordered(grid, search.input(), one_block(grid), CancelToken());
  const auto coordinate = [&](std::size_t k, std::size_t p) {
    return static_cast<const T*>(ordered.input().coordinates[k])[p];
  };
  for (std::size_t cell = 0; cell < grid.cells(); ++cell) {
    const Range points = grid.rows_of(cell);
    std::vector<std::uint32_t> ids(ordered.order().begin() + points.begin, ordered.order().begin() + points.end);
    std::sort(ids.begin(), ids.end());
    REQUIRE(ids == std::vector<std::uint32_t>(grid.order().begin() + points.begin, grid.order().begin() + points.end));
  }
  bool right = true;
  for (std::size_t p = 0; p < grid.size(); ++p) {
    for (std::size_t k = 0; k < data.dims; ++k) {
      const double x = coordinate(k, p);
      right &= x == data.view().at(ordered.order()[p], k);
      for (unsigned level = 0; level < BoundsOrder::kLevels; ++level) {
        const std::size_t piece = p >> BoundsOrder::shift(level);
        right &= ordered.bounds(level).lo[k][piece] <= x && x <= ordered.bounds(level).hi[k][piece];
      }
    }
  }
  CHECK(right);
}

TEST_CASE("bounds order: each cell keeps its points, and bounds hold theirs") {
  for (const std::string& kind : test::data_kinds()) {
    for (std::size_t dims = 1; dims <= 3; ++dims) {
      for (const double eps : {0.1, 3.0}) {
        INFO(kind << ", d " << dims << ", eps " << eps);
        const test::DataSet wide = test::make_data(kind, 6000, dims, Precision::float64, 7);
        check_order<double>(wide, eps * wide.scale);
        const test::DataSet narrow = test::make_data(kind, 6000, dims, Precision::float32, 7);
        check_order<float>(narrow, eps * narrow.scale);
      }
    }
  }
}

TEST_CASE("bounds order: a cell of hundreds of thousands of points, and one that is cancelled") {
  const test::DataSet data = test::make_data("uniform", 300'000, 2, Precision::float64, 3);
  check_order<double>(data, 1e3 * data.scale);
  const index::Grid grid(data.view(), 1e3 * data.scale, Cells::dense_box, CancelToken());
  const index::RowSearch search(grid);
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(BoundsOrder(grid, search.input(), one_block(grid), cancel), Cancelled);
}

}  // namespace
}  // namespace epsflow::clustering
