#include <epsflow/index/tile_index.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/candidate_ranges.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

/// Checks order, coordinates and bundles. The candidates of a tile must contain all neighbours of its points.
void check_index(const DataSet& data, double eps, const TileIndex& index) {
  const auto n = static_cast<std::uint32_t>(data.size());
  REQUIRE(index.size() == n);
  REQUIRE(index.eps() == eps);
  std::vector<std::uint32_t> ids(index.order().begin(), index.order().end());
  std::sort(ids.begin(), ids.end());
  for (std::uint32_t i = 0; i < n; ++i) REQUIRE(ids[i] == i);
  for (std::uint32_t p = 0; p < n; ++p) {
    for (std::size_t k = 0; k < data.dims; ++k) {
      const double x = data.precision == Precision::float32 ? static_cast<double>(index.coordinates<float>(k)[p])
                                                            : index.coordinates<double>(k)[p];
      REQUIRE(x == data.view().at(index.order()[p], k));
    }
  }
  REQUIRE(index.bundles() == tiles_of(n));
  REQUIRE(index.bundle_starts().back() == n);
  if (n == 0) return;
  const test::OracleTable table = data.oracle(eps);
  const RowSearch search(index);
  CandidateRanges candidates(index, 0);
  for (std::size_t bundle = 0;; candidates.next()) {
    const Range rows = candidates.rows();
    REQUIRE(rows == index.rows_of(bundle));
    REQUIRE(rows.begin == bundle * kTilePoints);
    // A walk may begin at any tile.
    const auto ranges = candidates.ranges();
    const CandidateRanges again(index, bundle);
    REQUIRE(std::equal(ranges.begin(), ranges.end(), again.ranges().begin(), again.ranges().end()));
    std::vector<std::uint32_t> counts(rows.size());
    search.count(rows, ranges, counts.data());
    for (std::uint32_t p = rows.begin; p < rows.end; ++p) {
      REQUIRE(counts[p - rows.begin] == table.rows[index.order()[p]].size());
    }
    if (++bundle == index.bundles()) break;
  }
}

TEST_CASE("tile index: every neighbour is a candidate, for any data") {
  const CancelToken never;
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    const DataSet data = test::random_data(seed, 700);
    Random random(seed);
    const double eps = test::make_eps(data, random);
    INFO("seed " << seed << ", " << test::describe(data) << ", eps " << eps);
    check_index(data, eps, TileIndex(data.view(), eps, LayerKind::tree, never));
    check_index(data, eps, TileIndex(data.view(), eps, LayerKind::grid, never));
    check_index(data, eps, TileIndex(data.view(), eps, std::nullopt, never));
  }
}

TEST_CASE("tile index: every neighbour is a candidate, in 65 dimensions and at far magnitudes") {
  const CancelToken never;
  for (const std::size_t dims : {1U, 7U, 20U, 65U}) {
    for (const double factor : {1e30, 1.0, 1e-30}) {
      DataSet data = test::make_data("clustered", 600, dims, Precision::float64, dims);
      for (double& x : data.doubles) x *= factor;
      INFO("d " << dims << ", factor " << factor);
      const double eps = 0.5 * factor * std::sqrt(static_cast<double>(dims));
      check_index(data, eps, TileIndex(data.view(), eps, LayerKind::tree, never));
      check_index(data, eps, TileIndex(data.view(), eps, std::nullopt, never));
    }
  }
}

TEST_CASE("tile index: without layers the order is that of the points") {
  const DataSet data = test::make_data("uniform", 300, 4, Precision::float32, 2);
  const TileIndex index(data.view(), 1, std::nullopt, CancelToken());
  std::vector<std::uint32_t> ids(300);
  std::iota(ids.begin(), ids.end(), 0U);
  CHECK(std::equal(ids.begin(), ids.end(), index.order().begin(), index.order().end()));
}

TEST_CASE("tile index: its bytes are those of points, order and bounds") {
  const DataSet data = test::make_data("uniform", 10'000, 9, Precision::float32, 2);
  const CancelToken never;
  const TileIndex tree(data.view(), 1, LayerKind::tree, never);
  const TileIndex all(data.view(), 1, std::nullopt, never);
  const std::uint64_t least = data.view().bytes() + 10'000 * sizeof(std::uint32_t);
  CHECK(all.bytes() >= least);
  CHECK(tree.bytes() >= all.bytes() + tree.bounds().bytes());
  CHECK(tree.bounds().bytes() > 0);
  CHECK(tree.bounds().bytes() <= 2 * 10'000 + TileBounds::kMostFixedBytes);
}

TEST_CASE("tile index: a cancelled token stops it") {
  const DataSet data = test::make_data("uniform", 300, 8, Precision::float64, 2);
  CancelToken token;
  token.cancel();
  CHECK_THROWS_AS(TileIndex(data.view(), 1, LayerKind::tree, token), Cancelled);
  CHECK_THROWS_AS(TileIndex(data.view(), 1, std::nullopt, token), Cancelled);
}

}  // namespace
}  // namespace epsflow::index
