#include <epsflow/clustering/row_loops.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/table_maker.hpp"

#include <epsflow/core/buffer.hpp>

namespace epsflow::clustering {
namespace {

using test::DataSet;
using test::OracleTable;
using test::Random;
using test::TableMaker;

/// Returns the smallest position in the set of each point, and kNotCore for points that are not core.
std::vector<std::uint32_t> components(const OracleTable& by_position, std::uint32_t minpts) {
  std::vector<std::uint8_t> core;
  for (const auto& row : by_position.rows) core.push_back(row.size() >= minpts ? 1 : 0);
  const std::vector<std::int32_t> labels = test::oracle_labels(by_position, core).labels;
  const std::vector<std::uint32_t> first = test::first_cores(labels, core);
  std::vector<std::uint32_t> smallest(core.size(), kNotCore);
  for (std::size_t x = 0; x < core.size(); ++x) {
    if (core[x] != 0) smallest[x] = first[static_cast<std::size_t>(labels[x])];
  }
  return smallest;
}

std::vector<std::uint32_t> united(const NeighborTable& table, std::uint32_t minpts, bool lower_half) {
  Buffer<std::uint32_t> parent(table.size());
  for (std::uint32_t x = 0; x < table.size(); ++x) parent[x] = table.counts()[x] >= minpts ? x : kNotCore;
  for (const Range rows : table.blocks()) {
    const CoreLevel all_at_once{.minpts = minpts};
    const CoreLevel after_another{.minpts = minpts, .below = all_at_once.below - 1};
    unite_rows(table, rows, lower_half ? all_at_once : after_another, table.counts().data(), parent.data());
  }
  const UnionFind sets(parent.span());
  std::vector<std::uint32_t> roots(table.size(), kNotCore);
  for (std::uint32_t x = 0; x < table.size(); ++x) {
    if (parent[x] != kNotCore) roots[x] = sets.find(x);
  }
  return roots;
}

TEST_CASE("unite rows: whole rows or their lower half, csr or packed, give the components of the core points") {
  std::size_t merged = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 150);
    Random random(seed + 5);
    const OracleTable rows = data.oracle(test::make_eps(data, random));
    TableMaker maker;
    const auto order = test::make_order(data.size());
    for (const std::uint32_t minpts : {1U, 2U, 5U}) {
      const std::vector<std::uint32_t> expected = components(rows, minpts);
      for (const bool lower_half : {false, true}) {
        REQUIRE(united(maker.csr(rows, order, seed), minpts, lower_half) == expected);
        for (const std::uint32_t cell : {1U, 3U, 40U}) {
          REQUIRE(united(maker.packed(rows, order, cell), minpts, lower_half) == expected);
        }
      }
      for (std::uint32_t x = 0; x < expected.size(); ++x) merged += expected[x] != kNotCore && expected[x] != x ? 1 : 0;
    }
  }
  CHECK(merged > 1000);
}

TEST_CASE("unite rows: only rows of the asked-for sizes are read") {
  // Two pairs and a triangle have rows of 2, 2, 2, 2 and 3, 3, 3 neighbours.
  OracleTable rows;
  rows.rows = {{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5, 6}, {4, 5, 6}, {4, 5, 6}};
  TableMaker maker;
  for (const bool packed : {false, true}) {
    const NeighborTable& table =
        packed ? maker.packed(rows, test::make_order(7), 2) : maker.csr(rows, test::make_order(7));
    Buffer<std::uint32_t> parent(7);
    for (std::uint32_t x = 0; x < 7; ++x) parent[x] = x;
    unite_rows(table, {0, 7}, {.minpts = 2, .below = 3}, table.counts().data(), parent.data());
    CHECK(std::vector<std::uint32_t>(parent.begin(), parent.end()) == std::vector<std::uint32_t>{0, 0, 2, 2, 4, 5, 6});
    unite_rows(table, {2, 2}, {.minpts = 3, .below = 4}, table.counts().data(), parent.data());
    CHECK(parent[5] == 5);
    unite_rows(table, {4, 5}, {.minpts = 3, .below = 4}, table.counts().data(), parent.data());
    CHECK(std::vector<std::uint32_t>(parent.begin(), parent.end()) == std::vector<std::uint32_t>{0, 0, 2, 2, 4, 4, 4});
  }
}

TEST_CASE("find clusters: core points have that of their root, others the lowest among their core neighbours") {
  std::size_t borders = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 150);
    if (data.size() == 0) continue;
    Random random(seed + 5);
    const OracleTable rows = data.oracle(test::make_eps(data, random));
    const auto minpts = static_cast<std::uint32_t>(1 + random.below(7));
    const std::vector<std::uint32_t> roots = components(rows, minpts);
    // Numbers come in any order, so the smallest root need not have the lowest number.
    const std::vector<std::uint32_t> number = test::make_order(roots.size(), seed);
    Buffer<std::uint32_t> cluster_of(roots.size());
    std::transform(roots.begin(), roots.end(), cluster_of.begin(),
                   [&](std::uint32_t root) { return root == kNotCore ? kNoCluster : number[root]; });
    std::vector<std::uint32_t> expected(roots.size(), kNoCluster);
    for (std::size_t x = 0; x < roots.size(); ++x) {
      if (roots[x] != kNotCore) {
        expected[x] = number[roots[x]];
        continue;
      }
      for (const std::uint32_t y : rows.rows[x]) {
        if (roots[y] != kNotCore) expected[x] = std::min(expected[x], number[roots[y]]);
      }
      borders += expected[x] != kNoCluster ? 1U : 0U;
    }
    TableMaker maker;
    for (const std::uint32_t cell : {0U, 1U, 3U, 40U}) {
      const auto order = test::make_order(data.size());
      const NeighborTable& table = cell == 0 ? maker.csr(rows, order, seed) : maker.packed(rows, order, cell);
      std::vector<std::uint32_t> clusters(roots.size() + 1, 77);
      find_clusters(table, {0, table.size()}, cluster_of.data(), clusters.data());
      REQUIRE(clusters.back() == 77);
      clusters.pop_back();
      REQUIRE(clusters == expected);
      // Any range of rows is written from the first element on.
      const auto first = static_cast<std::uint32_t>(random.below(roots.size()));
      const auto last = static_cast<std::uint32_t>(first + random.below(roots.size() - first + 1));
      std::vector<std::uint32_t> part(last - first);
      find_clusters(table, {first, last}, cluster_of.data(), part.data());
      REQUIRE(std::equal(part.begin(), part.end(), expected.begin() + first));
    }
  }
  CHECK(borders > 200);
}

}  // namespace
}  // namespace epsflow::clustering
