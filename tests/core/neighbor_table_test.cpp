#include <epsflow/core/neighbor_table.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/table_maker.hpp"

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

using test::filled;
using Rows = std::vector<std::vector<std::uint32_t>>;

Rows rows_of(const NeighborTable& table, Range rows) {
  Rows result;
  std::uint32_t next = rows.begin;
  table.for_each_row(rows, [&](std::uint32_t row, const RowView& view) {
    CHECK(row == next++);
    result.emplace_back();
    view.for_each([&](std::uint32_t neighbor) { result.back().push_back(neighbor); });
    CHECK(result.back().size() == view.count);
  });
  return result;
}

/// Returns the layout of one bundle of `rows` rows, each of which has the bits of all ranges.
std::shared_ptr<PackedLayout> layout_of(std::uint32_t rows, const std::vector<Range>& ranges, std::uint64_t words) {
  auto layout = std::make_shared<PackedLayout>();
  layout->bundles = {filled<std::uint32_t>({0, rows}), filled<std::uint64_t>({0, ranges.size()}), filled(ranges)};
  layout->first_words = filled<std::uint64_t>({0, words});
  return layout;
}

TEST_CASE("neighbour table: csr rows arrive in any order and are read in theirs") {
  MemoryBudget budget(1 << 20);
  ArenaPool pool(budget);
  NeighborTable table(5, pool.acquire(1 << 20));
  const std::vector<std::uint32_t> counts_b{2, 1};
  const std::vector<std::uint32_t> ids_b{3, 4, 4};
  const std::vector<std::uint32_t> counts_a{1, 3, 0};
  const std::vector<std::uint32_t> ids_a{0, 2, 1, 0};
  REQUIRE(table.append({3, 5}, counts_b, ids_b));
  REQUIRE(table.append({0, 3}, counts_a, ids_a));
  CHECK(table.format() == TableFormat::csr);
  CHECK(table.size() == 5);
  CHECK(table.pairs() == 7);
  CHECK(table.layout() == nullptr);
  CHECK(table.bytes() == 7 * 4 + 5 * 12);
  CHECK(rows_of(table, {0, 5}) == Rows{{0}, {2, 1, 0}, {}, {3, 4}, {4}});
  CHECK(rows_of(table, {1, 4}) == Rows{{2, 1, 0}, {}, {3, 4}});
  CHECK(rows_of(table, {2, 2}).empty());
}

TEST_CASE("neighbour table: ids that are written into reserved memory become rows, consecutive or listed") {
  MemoryBudget budget(1 << 20);
  ArenaPool pool(budget);
  NeighborTable table(5, pool.acquire(1 << 20));
  REQUIRE(table.grow(7));
  const std::uint64_t used = budget.used();
  const std::vector<std::uint32_t> odd{1, 3};
  const std::vector<std::uint32_t> odd_counts{3, 2};
  const std::vector<std::uint32_t> odd_ids{0, 2, 1, 3, 4};
  const std::vector<std::uint32_t> counts{1, 0};
  std::uint32_t* const first = table.reserve(odd_ids.size());
  std::uint32_t* const second = table.reserve(1);
  REQUIRE(first != nullptr);
  REQUIRE(second == first + odd_ids.size());
  *second = 4;
  table.add_rows(Range{4, 5}, std::span(counts).first(1), second);
  std::copy(odd_ids.begin(), odd_ids.end(), first);
  table.add_rows(std::span(odd), odd_counts, first);
  REQUIRE(table.append({2, 3}, std::span(counts).last(1), {}));
  REQUIRE(table.append({0, 1}, std::span(counts).first(1), std::span(odd_ids).first(1)));
  CHECK(table.pairs() == 7);
  CHECK(rows_of(table, {0, 5}) == Rows{{0}, {0, 2, 1}, {}, {3, 4}, {4}});
  CHECK(budget.used() == used);
}

TEST_CASE("neighbour table: csr rows that many threads append are all there") {
  constexpr std::uint32_t n = 4000;
  MemoryBudget budget(std::uint64_t{1} << 30);
  ArenaPool pool(budget);
  NeighborTable table(n, pool.acquire(std::uint64_t{1} << 28));
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t row = t; row < n; row += 4) {
        const std::vector<std::uint32_t> counts{row % 7};
        const std::vector<std::uint32_t> ids(row % 7, row);
        if (!table.append({row, row + 1}, counts, ids)) std::abort();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  bool right = true;
  table.for_each_row({0, n}, [&](std::uint32_t row, const RowView& view) {
    std::uint32_t count = 0;
    view.for_each([&](std::uint32_t neighbor) {
      right &= neighbor == row;
      ++count;
    });
    right &= count == row % 7;
  });
  CHECK(right);
}

TEST_CASE("neighbour table: rows that the budget has no room for are refused") {
  MemoryBudget budget(4096);
  ArenaPool pool(budget);
  NeighborTable table(2, pool.acquire(1 << 20));
  const std::vector<std::uint32_t> counts{1000};
  const std::vector<std::uint32_t> ids(1000, 0);
  CHECK_FALSE(table.grow(1025));
  CHECK(table.append({0, 1}, counts, ids));
  CHECK_FALSE(table.append({1, 2}, counts, ids));
  CHECK(table.reserve(1) == nullptr);
}

TEST_CASE("neighbour table: packed rows are read range by range, from any row on") {
  test::OracleTable rows;
  for (std::uint32_t i = 0; i < 100; ++i) {
    rows.rows.emplace_back();
    for (std::uint32_t j = 0; j < 100; ++j) {
      if ((i * 7 + j * 7) % 5 < 2 || i == j) rows.rows.back().push_back(j);
    }
  }
  test::TableMaker maker;
  for (const std::uint32_t cell : {1U, 7U, 64U, 100U}) {
    const NeighborTable& table = maker.packed(rows, test::make_order(100), cell);
    CHECK(table.format() == TableFormat::packed);
    CHECK(table.pairs() == rows.pairs());
    CHECK(table.bytes() == table.layout()->words() * 4 + 400 + table.layout()->bytes());
    CHECK(rows_of(table, {0, 100}) == rows.rows);
    for (const Range part : {Range{0, 1}, Range{6, 8}, Range{63, 66}, Range{99, 100}, Range{50, 50}, Range{100, 100}}) {
      CHECK(rows_of(table, part) == Rows(rows.rows.begin() + part.begin, rows.rows.begin() + part.end));
    }
  }
}

TEST_CASE("neighbour table: packed bits of ranges of every length up to two words and more") {
  for (std::uint32_t length = 1; length <= 70; ++length) {
    const auto layout = layout_of(1, {{0, length}, {200, 203}}, packed_words(length) + 1);
    CHECK(layout->words_per_row(0) == packed_words(length) + 1);
    MemoryBudget budget(1 << 20);
    ArenaPool pool(budget);
    NeighborTable table(layout, pool.acquire(layout->words() * 4));
    std::uint32_t* words = table.packed_words_for_writing();
    std::fill_n(words, layout->words(), 0U);
    words[0] |= 1U;
    words[(length - 1) / 32] |= 1U << ((length - 1) % 32);
    words[packed_words(length)] = 0b101;
    table.add_counts(0, std::vector<std::uint32_t>{length == 1 ? 3U : 4U});
    const std::vector<std::uint32_t> expected =
        length == 1 ? std::vector<std::uint32_t>{0, 200, 202} : std::vector<std::uint32_t>{0, length - 1, 200, 202};
    CHECK(rows_of(table, {0, 1}) == Rows{expected});
  }
}

TEST_CASE("neighbour table: a packed table that the budget has no room for is an error with the remedy") {
  const auto layout = layout_of(4, {}, 1000);
  MemoryBudget budget(3999);
  ArenaPool pool(budget);
  test::check_mentions(test::error_of<ResourceError>([&] { const NeighborTable table(layout, pool.acquire(4000)); }),
                       {"3.9 KiB", "EngineOptions::memory"});
}

TEST_CASE("neighbour table: bits to words") {
  CHECK(packed_words(0) == 0);
  CHECK(packed_words(1) == 1);
  CHECK(packed_words(32) == 1);
  CHECK(packed_words(33) == 2);
  CHECK(packed_words(0xFFFFFFFFULL) == 0x8000000ULL);
}

TEST_CASE("neighbour table: until a plan gives other blocks, even ones cover all rows") {
  MemoryBudget budget(std::uint64_t{1} << 30);
  ArenaPool pool(budget);
  for (const std::uint32_t n : {0U, 1U, 4095U, 4096U, 4097U, 50'000U}) {
    const NeighborTable table(n, pool.acquire(1 << 20));
    std::uint32_t next = 0;
    for (const Range& block : table.blocks()) {
      CHECK(block.begin == next);
      CHECK(block.end > block.begin);
      next = block.end;
    }
    CHECK(next == n);
  }
}

}  // namespace
}  // namespace epsflow
