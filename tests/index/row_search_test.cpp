#include <epsflow/index/row_search.hpp>

// The setting equals the library's, so that every instruction set compiled there can be selected here.
#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/neighbor_table.hpp>
#include <epsflow/index/grid.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

constexpr std::uint32_t kCanary = 0xDEADBEEF;

/// Returns the neighbours among the candidates by the oracle's test, with the coordinates that the grid holds.
std::vector<std::uint32_t> expected_ids(const DataSet& data, const Grid& grid, std::uint32_t row,
                                        const std::vector<Range>& candidates) {
  std::vector<std::uint32_t> ids;
  for (const Range& range : candidates) {
    for (std::uint32_t q = range.begin; q < range.end; ++q) {
      if (data.squared_distance(grid.order()[row], grid.order()[q]) <= grid.eps() * grid.eps()) ids.push_back(q);
    }
  }
  return ids;
}

/// Checks packed(), ids() and count() on rows and candidates that are independent of cells.
void check_rows(const DataSet& data, const Grid& grid, const RowSearch& search, Range rows,
                const std::vector<Range>& candidates, Random& random) {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> counts;
  std::vector<std::uint32_t> words;
  for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
    const auto found = expected_ids(data, grid, row, candidates);
    ids.insert(ids.end(), found.begin(), found.end());
    counts.push_back(static_cast<std::uint32_t>(found.size()));
    for (const Range& range : candidates) {
      const std::size_t first = words.size();
      words.resize(first + packed_words(range.size()));
      for (const std::uint32_t q : found) {
        if (q >= range.begin && q < range.end) words[first + (q - range.begin) / 32] |= 1U << ((q - range.begin) % 32);
      }
    }
  }

  std::vector<std::uint32_t> got_counts(rows.size() + 1, kCanary);
  search.count(rows, candidates, got_counts.data());
  REQUIRE(std::equal(counts.begin(), counts.end(), got_counts.begin()));
  REQUIRE(got_counts.back() == kCanary);

  std::vector<std::uint32_t> got_words(words.size() + 8, kCanary);
  std::fill(got_counts.begin(), got_counts.end(), kCanary);
  search.packed(rows, candidates, got_words.data(), got_counts.data());
  REQUIRE(std::equal(words.begin(), words.end(), got_words.begin()));
  REQUIRE(std::count(got_words.begin() + static_cast<std::ptrdiff_t>(words.size()), got_words.end(), kCanary) == 8);
  REQUIRE(std::equal(counts.begin(), counts.end(), got_counts.begin()));
  REQUIRE(got_counts.back() == kCanary);

  for (const std::uint64_t capacity :
       {std::uint64_t{ids.size()}, random.below(ids.size() + 1), std::uint64_t{0}, ids.size() + random.below(70)}) {
    INFO("capacity " << capacity << " for " << ids.size());
    std::vector<std::uint32_t> got(capacity + RowSearch::kSlack + 128, kCanary);
    std::fill(got_counts.begin(), got_counts.end(), kCanary);
    REQUIRE(search.ids(rows, candidates, got.data(), capacity, got_counts.data()) == ids.size());
    REQUIRE(std::all_of(got.begin() + static_cast<std::ptrdiff_t>(capacity + RowSearch::kSlack), got.end(),
                        [](std::uint32_t x) { return x == kCanary; }));
    REQUIRE(std::equal(counts.begin(), counts.end(), got_counts.begin()));
    REQUIRE(got_counts.back() == kCanary);
    const std::size_t fits = std::min<std::uint64_t>(capacity, ids.size());
    REQUIRE(std::equal(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(fits), got.begin()));
  }
}

void check_all_lengths(std::size_t dims, Precision precision, const std::string& kind, std::uint64_t seed) {
  INFO(kind << ", d " << dims << ", seed " << seed << ", " << RowSearch::instruction_set());
  Random random(seed);
  const DataSet data = test::make_data(kind, 260, dims, precision, seed);
  // Many pairs have this radius as their distance, exactly or nearly.
  const double eps = std::max(test::make_eps(data, random), 1e-320);
  const Grid grid(data.view(), eps, Cells::eps, CancelToken());
  const RowSearch search(grid);
  for (std::uint32_t length = 0; length <= 100; ++length) {
    const auto begin = static_cast<std::uint32_t>(random.below(261 - length));
    const auto row = static_cast<std::uint32_t>(random.below(258));
    // The candidates are one range of this length, then two ranges of this total length, which end at the last point.
    check_rows(data, grid, search, {row, row + 2}, {{begin, begin + length}}, random);
    const auto cut = static_cast<std::uint32_t>(random.below(length + 1));
    check_rows(data, grid, search, {row, row + 1}, {{0, cut}, {260 - (length - cut), 260}}, random);
  }
  check_rows(data, grid, search, {0, 260}, {{0, 260}}, random);
  check_rows(data, grid, search, {7, 7}, {{0, 260}}, random);
}

TEST_CASE("row search: every instruction set decides as the scalar test does, bit by bit") {
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  std::set<std::string> used;
  std::uint64_t seed = 1;
  for (std::int64_t targets = supported; targets != 0; targets &= targets - 1) {
    hwy::SetSupportedTargetsForTest(targets & -targets);
    used.insert(std::string(RowSearch::instruction_set()));
    for (std::size_t dims = 1; dims <= 9; ++dims) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        for (const std::string kind : {"quantised", "clustered", "offset 1e6"}) {
          check_all_lengths(dims, precision, kind, ++seed);
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  CHECK_FALSE(RowSearch::instruction_set().empty());
  CHECK(used.size() == static_cast<std::size_t>(__builtin_popcountll(static_cast<std::uint64_t>(supported))));
}

TEST_CASE("row search: extremes of float64") {
  std::uint64_t seed = 1000;
  for (const std::string kind : {"tiny", "denormal", "huge", "offset 1e15", "outlier 1e300", "log-uniform"}) {
    for (const std::size_t dims : {1U, 2U, 3U, 5U, 8U, 17U, 33U}) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        check_all_lengths(dims, precision, kind, ++seed);
      }
    }
  }
}

}  // namespace
}  // namespace epsflow::index
