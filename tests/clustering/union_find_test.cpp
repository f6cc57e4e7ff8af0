#include <epsflow/clustering/union_find.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::clustering {
namespace {

using test::Random;

std::vector<std::uint32_t> singletons(std::size_t n) {
  std::vector<std::uint32_t> parent(n);
  std::iota(parent.begin(), parent.end(), 0U);
  return parent;
}

TEST_CASE("union-find: the root is the smallest member, whatever the order of the links") {
  std::vector<std::uint32_t> parent = singletons(8);
  const UnionFind sets(parent);
  CHECK(sets.unite(7, 5) == 5);
  CHECK(sets.unite(3, 6) == 3);
  CHECK(sets.unite(7, 6) == 3);
  CHECK(sets.unite(5, 3) == 3);
  for (const std::uint32_t x : {3U, 5U, 6U, 7U}) CHECK(sets.find(x) == 3);
  for (const std::uint32_t x : {0U, 1U, 2U, 4U}) CHECK(sets.find(x) == x);
}

TEST_CASE("union-find: a chain of links from its far end stays one set and finds halve its path") {
  constexpr std::uint32_t n = 1000;
  std::vector<std::uint32_t> parent(n);
  for (std::uint32_t x = 0; x < n; ++x) parent[x] = x == 0 ? 0 : x - 1;
  const UnionFind sets(parent);
  CHECK(sets.find(n - 1) == 0);
  const auto depth = [&](std::uint32_t x) {
    std::uint32_t steps = 0;
    for (; parent[x] != x; x = parent[x]) ++steps;
    return steps;
  };
  CHECK(depth(n - 1) <= n / 2 + 1);
  for (std::uint32_t x = 0; x < n; ++x) sets.flatten(x);
  for (std::uint32_t x = 0; x < n; ++x) CHECK(parent[x] == 0);
}

TEST_CASE("union-find: random edges give the components that a plain search gives") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const std::size_t n = 2 + random.below(300);
    std::vector<std::uint32_t> parent = singletons(n);
    std::vector<std::uint32_t> color = singletons(n);
    const UnionFind sets(parent);
    for (std::uint64_t e = 0; e < random.below(2 * n); ++e) {
      const auto a = static_cast<std::uint32_t>(random.below(n));
      const auto b = static_cast<std::uint32_t>(random.below(n));
      sets.unite(a, b);
      const std::uint32_t keep = std::min(color[a], color[b]);
      const std::uint32_t drop = std::max(color[a], color[b]);
      for (std::uint32_t& c : color) c = c == drop ? keep : c;
    }
    for (std::uint32_t x = 0; x < n; ++x) {
      REQUIRE(parent[x] <= x);
      REQUIRE(sets.find(x) == color[x]);
    }
  }
}

}  // namespace
}  // namespace epsflow::clustering
