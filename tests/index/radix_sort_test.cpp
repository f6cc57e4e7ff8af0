#include <epsflow/index/radix_sort.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::index {
namespace {

using test::Random;

struct Item {
  std::uint64_t key;
  std::uint32_t id;
  friend bool operator==(const Item&, const Item&) = default;
};

void check_sort(std::size_t n, unsigned bits, std::uint64_t distinct, std::uint64_t seed) {
  INFO("n " << n << ", bits " << bits << ", distinct " << distinct << ", seed " << seed);
  Random random(seed);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  std::vector<std::uint64_t> keys(distinct);
  for (std::uint64_t& key : keys) key = random.bits() & mask;
  std::vector<Item> items;
  for (std::size_t i = 0; i < n; ++i) items.push_back({random.pick(keys), static_cast<std::uint32_t>(i)});
  std::vector<Item> expected = items;
  std::stable_sort(expected.begin(), expected.end(), [](const Item& a, const Item& b) { return a.key < b.key; });
  std::vector<Item> spare(n);
  const auto sorted = radix_sort(
      std::span(items), std::span(spare), bits, [](const Item& i) { return i.key; }, CancelToken());
  REQUIRE(sorted.size() == n);
  REQUIRE((sorted.data() == items.data() || sorted.data() == spare.data()));
  REQUIRE(std::equal(sorted.begin(), sorted.end(), expected.begin()));
}

TEST_CASE("radix sort: stable, for every number of bits") {
  for (unsigned bits = 1; bits <= 64; ++bits) {
    check_sort(2000, bits, 2000, bits);
    check_sort(300, bits, 5, bits);
  }
}

TEST_CASE("radix sort: few items, equal items, none") {
  for (const std::size_t n : {0U, 1U, 2U, 3U}) check_sort(n, 40, 3, n);
  check_sort(1000, 64, 1, 7);
}

TEST_CASE("radix sort: enough items for several blocks") {
  check_sort(700'000, 33, 700'000, 1);
  check_sort(400'001, 12, 9, 2);
}

TEST_CASE("radix sort: bits above the given number do not count") {
  std::vector<std::uint64_t> items{0xF00000001ULL, 0x000000000ULL, 0xA00000001ULL, 0xB00000000ULL};
  std::vector<std::uint64_t> spare(4);
  const auto sorted = radix_sort(
      std::span(items), std::span(spare), 1, [](std::uint64_t x) { return x & 1; }, CancelToken());
  CHECK(std::vector<std::uint64_t>(sorted.begin(), sorted.end()) ==
        std::vector<std::uint64_t>{0x000000000ULL, 0xB00000000ULL, 0xF00000001ULL, 0xA00000001ULL});
}

TEST_CASE("radix sort: a cancelled token stops it") {
  CancelToken token;
  token.cancel();
  std::vector<std::uint64_t> items{3, 2, 1};
  std::vector<std::uint64_t> spare(3);
  CHECK_THROWS_AS(radix_sort(
                      std::span(items), std::span(spare), 8, [](std::uint64_t x) { return x; }, token),
                  Cancelled);
}

}  // namespace
}  // namespace epsflow::index
