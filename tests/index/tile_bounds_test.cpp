#include <epsflow/index/tile_bounds.hpp>

#include <bit>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

/// Returns matrix[row · tiles + column], row <= column.
std::vector<char> pair_matrix(std::span<const TileBlock> blocks, std::uint32_t tiles) {
  std::vector<char> matrix(std::size_t{tiles} * tiles);
  for (const TileBlock& block : blocks) {
    REQUIRE(block.pairs != 0);
    REQUIRE(block.rows <= block.columns);
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      if ((block.pairs >> bit & 1) == 0) continue;
      const std::size_t row = block.rows * kBlockTiles + bit / kBlockTiles;
      const std::size_t column = block.columns * kBlockTiles + bit % kBlockTiles;
      REQUIRE(row <= column);
      REQUIRE(column < tiles);
      REQUIRE(matrix[row * tiles + column] == 0);
      matrix[row * tiles + column] = 1;
    }
  }
  return matrix;
}

void check_list_order(std::span<const TileBlock> blocks) {
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    const auto sort_key = [](const TileBlock& block) {
      return std::tuple(block_class(block.pairs), block.rows, block.columns);
    };
    REQUIRE(sort_key(blocks[b - 1]) < sort_key(blocks[b]));
  }
}

/// Checks that the ranges of each tile are the tiles that the matrix pairs with it.
void check_ranges(const TileBounds& bounds, const std::vector<char>& matrix) {
  const std::uint32_t tiles = bounds.tiles();
  std::vector<Range> ranges;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    list_tile_ranges(bounds, tile, ranges);
    std::vector<char> in_range(bounds.points());
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      REQUIRE(ranges[r].begin < ranges[r].end);
      REQUIRE(ranges[r].end <= bounds.points());
      if (r > 0) REQUIRE(ranges[r - 1].end < ranges[r].begin);
      for (std::uint32_t p = ranges[r].begin; p < ranges[r].end; ++p) in_range[p] = 1;
    }
    for (std::uint32_t p = 0; p < bounds.points(); ++p) {
      const std::uint32_t other = p / kTilePoints;
      if (in_range[p] != matrix[std::size_t{std::min(tile, other)} * tiles + std::max(tile, other)]) {
        FAIL("tile " << tile << ", position " << p);
      }
    }
  }
}

/// Checks that all pairs of neighbours lie in listed pairs of tiles. Returns the share of pairs that are not listed.
double check_pruning(const DataSet& data, double eps, LayerKind kind) {
  const CancelToken cancel;
  const PivotOrder order(data.view(), eps, kind, cancel);
  const TileBounds bounds(data.view(), order.order(), order.layers(), cancel);
  const std::uint32_t tiles = tiles_of(data.size());
  const LayersView view = order.layers().view();
  double scaled[kMostFunctions];
  for (std::uint32_t p = 0; p < data.size(); ++p) {
    std::vector<double> point(data.dims);
    for (std::size_t k = 0; k < data.dims; ++k) point[k] = data.view().at(order.order()[p], k);
    scaled_values(view, view.count, point.data(), scaled);
    for (std::uint32_t f = 0; f < view.count; ++f) {
      for (const LayerInterval& interval :
           {bounds.of_tiles(f)[p / kTilePoints], bounds.of_blocks(f)[p / kTilePoints / kBlockTiles]}) {
        if (interval.lo > scaled[f] || interval.hi < scaled[f]) FAIL("function " << f << ", position " << p);
      }
    }
  }
  const std::vector<TileBlock> blocks = list_tile_blocks(bounds, cancel);
  const std::vector<char> matrix = pair_matrix(blocks, tiles);
  check_list_order(blocks);
  const auto n = static_cast<std::uint32_t>(data.size());
  for (std::uint32_t p = 0; p < n; ++p) {
    for (std::uint32_t q = p; q < n; ++q) {
      if (matrix[std::size_t{p / kTilePoints} * tiles + q / kTilePoints] != 0) {
        q |= kTilePoints - 1;  // skips to the last point of its tile
        continue;
      }
      // A REQUIRE for each pair would take most of the time.
      if (data.squared_distance(order.order()[p], order.order()[q]) <= eps * eps) {
        FAIL("positions " << p << " and " << q << " are neighbours");
      }
    }
  }
  check_ranges(bounds, matrix);
  const double all = 0.5 * tiles * (tiles + 1.0);
  return tiles == 0 ? 0 : 1 - static_cast<double>(count_tile_pairs(blocks)) / all;
}

TEST_CASE("tile bounds: no pair of neighbours is lost, for any data") {
  double pruned = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const DataSet data = test::random_data(seed, 1200);
    Random random(seed);
    const double eps = test::make_eps(data, random);
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    pruned += check_pruning(data, eps, LayerKind::grid);
    pruned += check_pruning(data, eps, LayerKind::tree);
  }
  CHECK(pruned > 20);
}

TEST_CASE("tile bounds: no pair of neighbours is lost, up to 65 dimensions") {
  for (const std::size_t dims : {1, 2, 7, 9, 65}) {
    for (const std::string& kind : test::data_kinds()) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        INFO(kind << ", " << dims << "-D");
        const DataSet data = test::make_data(kind, 1100, dims, precision, dims);
        Random random(dims);
        (void)check_pruning(data, data.scale, LayerKind::grid);
        (void)check_pruning(data, test::make_eps(data, random), LayerKind::tree);
      }
    }
  }
}

TEST_CASE("tile bounds: far magnitudes prune like near ones") {
  for (const double factor : {1e30, 1.0, 1e-30, 1e-120}) {
    DataSet data = test::make_data("clustered", 1500, 3, Precision::float64, 5);
    for (double& x : data.doubles) x *= factor;
    INFO("factor " << factor);
    CHECK(check_pruning(data, 0.05 * factor, LayerKind::tree) > 0.2);
  }
}

TEST_CASE("tile bounds: where eps is huge nothing is pruned") {
  const DataSet data = test::make_data("clustered", 1000, 4, Precision::float64, 5);
  CHECK(check_pruning(data, 1e200, LayerKind::tree) == 0);
  CHECK(check_pruning(data, 1e100, LayerKind::tree) == 0);
}

TEST_CASE("tile bounds: without functions every pair of tiles is listed") {
  for (const std::uint64_t points : {0, 1, 127, 128, 129, 1024, 1025, 5000}) {
    const std::uint32_t tiles = tiles_of(points);
    const std::vector<TileBlock> blocks = list_all_tile_blocks(points, CancelToken());
    const std::vector<char> matrix = pair_matrix(blocks, tiles);
    check_list_order(blocks);
    CHECK(count_tile_pairs(blocks) == std::uint64_t{tiles} * (tiles + 1) / 2);
    check_ranges(TileBounds(points), matrix);
  }
}

}  // namespace
}  // namespace epsflow::index
