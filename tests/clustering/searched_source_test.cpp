#include <epsflow/clustering/searched_source.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/nested_check.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/grid.hpp>
#include <epsflow/index/tile_index.hpp>

namespace epsflow::clustering {
namespace {

using test::DataSet;
using test::Minpts;
using test::Random;

/// Compares the clustering with the oracle; minpts must descend. Returns the number of clusters of all minpts.
std::size_t check(const DataSet& data, const index::SearchIndex& index, const Minpts& minpts) {
  INFO("bundles " << index.bundles());
  const CancelToken never;
  const index::RowSearch rows(index);
  SearchedSource source(index, rows, minpts, never, Ghosts{index.size()});
  return test::check_nested(data, index.eps(), source, minpts);
}

/// Checks every kind of index. Returns the number of clusters on a grid.
std::size_t check(const DataSet& data, double eps, const Minpts& minpts) {
  const CancelToken never;
  check(data, index::TileIndex(data.view(), eps, index::LayerKind::tree, never), minpts);
  check(data, index::TileIndex(data.view(), eps, std::nullopt, never), minpts);
  return check(data, index::Grid(data.view(), eps, Cells::eps, never), minpts);
}

TEST_CASE("searched source: nested gives the oracle's labels in any number of dimensions") {
  std::size_t clusters = 0;
  for (const std::size_t dims : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 20U}) {
    for (std::uint64_t seed = 1; seed <= 56; ++seed) {
      INFO("seed " << seed);
      Random random(seed * 37 + dims);
      const DataSet data = test::make_data(test::data_kinds()[seed % test::data_kinds().size()], random.below(140),
                                           dims, random.chance(0.4) ? Precision::float32 : Precision::float64, seed);
      const Minpts minpts = test::descending_minpts(random, 20);
      clusters += check(data, test::make_eps(data, random), minpts);
    }
  }
  CHECK(clusters > 5000);
}

TEST_CASE("searched source: minpts 1, 2, all points and one more than there are") {
  for (const std::size_t dims : {2U, 4U, 20U}) {
    for (const std::string kind : {"all equal", "uniform", "quantised"}) {
      const DataSet data = test::make_data(kind, 100, dims, Precision::float64, dims);
      for (const double factor : {0.2, 1.5, 1e4}) check(data, data.scale * factor, {101, 100, 99, 2, 1});
    }
    check(test::make_data("uniform", 0, dims, Precision::float64, 1), 1, {2, 1});
    check(test::make_data("uniform", 1, dims, Precision::float64, 1), 1, {2, 1});
  }
}

TEST_CASE("searched source: thousands of points in several blocks, which end within cells") {
  for (const std::size_t dims : {1U, 4U, 8U}) {
    const DataSet data = test::make_data("clustered", 4500, dims, Precision::float32, dims + 3);
    const double eps = 0.3 * std::sqrt(static_cast<double>(dims));
    const index::Grid grid(data.view(), eps, Cells::eps, CancelToken());
    bool within = false;
    for (std::uint32_t end = 1024; end < grid.size(); end += 1024) within |= grid.cell_of(end - 1) == grid.cell_of(end);
    CHECK(within);
    check(data, grid, {60, 12, 3});
  }
}

TEST_CASE("searched source: chains at exactly eps in more dimensions than dense boxes can have") {
  for (const std::size_t dims : {4U, 7U}) {
    for (const double step : {0.1, 0.25}) {
      std::vector<double> values(150 * dims);
      for (std::size_t i = 0; i < 150; ++i) values[i * dims + i % 2] = static_cast<double>(i / 2) * step;
      DataSet chain;
      chain.dims = dims;
      chain.doubles = values;
      check(chain, step, {4, 3, 2});
      check(chain, std::nextafter(step, 0.0), {3, 2, 1});
    }
  }
}

TEST_CASE("searched source: dense boxes that became too many") {
  // Three axes of 2^30 slots each exceed the range of a key. The cells become coarser and are no longer dense boxes.
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    DataSet data = test::make_data("clustered", 250, 3, precision, 5);
    for (std::size_t k = 0; k < 3; ++k) {
      for (const std::size_t i : {3U, 200U}) {
        const double far = i == 3 ? 1e8 : -1e8;
        if (precision == Precision::float32) {
          data.floats[i * 3 + k] = static_cast<float>(far);
        } else {
          data.doubles[i * 3 + k] = far;
        }
      }
    }
    for (const double eps : {0.2, 0.4, 1.0}) {
      const index::Grid grid(data.view(), eps, Cells::dense_box, CancelToken());
      REQUIRE_FALSE(grid.dense_boxes());
      check(data, grid, {25, 6, 2, 1});
    }
  }
}

TEST_CASE("searched source: dense boxes serve it as well") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    const DataSet data = test::make_data("clustered", 300, dims, Precision::float64, dims);
    const index::Grid grid(data.view(), 0.3, Cells::dense_box, CancelToken());
    REQUIRE(grid.dense_boxes());
    CHECK(check(data, grid, {30, 6, 2}) > 0);
  }
}

TEST_CASE("searched source: a cancelled token stops it") {
  const DataSet data = test::make_data("clustered", 300, 5, Precision::float64, 1);
  const index::Grid grid(data.view(), 0.3, Cells::eps, CancelToken());
  CancelToken token;
  token.cancel();
  const index::RowSearch rows(grid);
  CHECK_THROWS_AS(SearchedSource(grid, rows, std::array{4U}, token, Ghosts{grid.size()}), Cancelled);
}

}  // namespace
}  // namespace epsflow::clustering
