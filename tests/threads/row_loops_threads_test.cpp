// Runs the loops over rows on threads of std::thread, for race detectors without support for oneTBB. One read is
// deliberately not atomic.
#include <epsflow/clustering/row_loops.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"
#include "support/table_maker.hpp"

#include <epsflow/core/buffer.hpp>

namespace epsflow::clustering {
namespace {

/// Returns the root of every point. `threads` threads take the blocks of the table in turn.
std::vector<std::uint32_t> roots(const NeighborTable& table, std::uint32_t minpts, unsigned threads) {
  Buffer<std::uint32_t> parent(table.size());
  for (std::uint32_t x = 0; x < table.size(); ++x) parent[x] = table.counts()[x] >= minpts ? x : kNotCore;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t b = next++; b < table.blocks().size(); b = next++) {
      unite_rows(table, table.blocks()[b], {.minpts = minpts}, table.counts().data(), parent.data());
    }
  };
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) all.emplace_back(work);
  for (std::thread& thread : all) thread.join();
  const UnionFind sets(parent.span());
  std::vector<std::uint32_t> result(table.size(), kNotCore);
  for (std::uint32_t x = 0; x < table.size(); ++x) {
    if (parent[x] != kNotCore) result[x] = sets.find(x);
  }
  return result;
}

TEST_CASE("row loops, threads: rows of one table united at once give the sets of one thread") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed);
    const test::DataSet data = test::make_data("clustered", 1200, 2, Precision::float64, seed);
    const test::OracleTable rows = data.oracle(0.5 * data.scale);
    test::TableMaker maker;
    const auto order = test::make_order(data.size());
    const bool packed = seed % 2 == 0;
    const NeighborTable& table = packed ? maker.packed(rows, order, 3) : maker.csr(rows, order);
    const std::vector<std::uint32_t> expected = roots(table, 4, 1);
    for (int round = 0; round < 5; ++round) REQUIRE(roots(table, 4, 6) == expected);
  }
}

}  // namespace
}  // namespace epsflow::clustering
