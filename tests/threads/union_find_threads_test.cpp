// Runs the union-find on threads of std::thread, for race detectors without support for oneTBB.
#include <epsflow/clustering/union_find.hpp>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::clustering {
namespace {

using test::Random;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<std::uint32_t> singletons(std::size_t n) {
  std::vector<std::uint32_t> parent(n);
  std::iota(parent.begin(), parent.end(), 0U);
  return parent;
}

/// Runs f(t) on `threads` threads that start together.
template <class F>
void together(unsigned threads, F&& f) {
  std::atomic<unsigned> waiting{threads};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      f(t);
    });
  }
  for (std::thread& thread : all) thread.join();
}

std::vector<std::uint32_t> roots_one_by_one(std::size_t n, const Edges& edges) {
  std::vector<std::uint32_t> parent = singletons(n);
  const UnionFind sets(parent);
  for (const auto& [a, b] : edges) sets.unite(a, b);
  for (std::uint32_t x = 0; x < n; ++x) sets.flatten(x);
  return parent;
}

std::vector<std::uint32_t> roots_together(std::size_t n, const Edges& edges, unsigned threads) {
  std::vector<std::uint32_t> parent = singletons(n);
  const UnionFind sets(parent);
  together(threads, [&](unsigned t) {
    for (std::size_t e = t; e < edges.size(); e += threads) sets.unite(edges[e].first, edges[e].second);
  });
  together(threads, [&](unsigned t) {
    for (std::size_t x = t; x < n; x += threads) sets.flatten(static_cast<std::uint32_t>(x));
  });
  return parent;
}

TEST_CASE("union-find, threads: random edges give the sequential result") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const std::size_t n = 100 + random.below(5000);
    Edges edges;
    // With about n/2 edges, the sets are large trees that still merge.
    for (std::size_t e = 0; e < n * (1 + random.below(4)) / 2; ++e) {
      edges.emplace_back(random.below(n), random.below(n));
    }
    const std::vector<std::uint32_t> expected = roots_one_by_one(n, edges);
    for (const unsigned threads : {2U, 4U, 8U}) REQUIRE(roots_together(n, edges, threads) == expected);
  }
}

TEST_CASE("union-find, threads: every entry is a root once all are flattened") {
  // Parents are close, so each walk passes entries that other threads write. There are many rounds and more threads
  // than cores, so threads are interrupted in the middle of a step.
  constexpr std::uint32_t n = 20'000;
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> parent(n);
    for (std::uint32_t x = 0; x < n; ++x) parent[x] = x - static_cast<std::uint32_t>(x < 16 ? x : 1 + random.below(16));
    const UnionFind sets(parent);
    together(8, [&](unsigned t) {
      for (std::uint32_t x = t; x < n; x += 8) sets.flatten(x);
    });
    REQUIRE(parent == std::vector<std::uint32_t>(n, 0));
  }
}

TEST_CASE("union-find, threads: a chain that all threads link from both ends") {
  constexpr std::uint32_t n = 20'000;
  Edges edges;
  for (std::uint32_t x = 0; x + 1 < n; ++x) {
    edges.emplace_back(x, x + 1);
    edges.emplace_back(n - 1 - x, n - 2 - x);
  }
  for (int round = 0; round < 5; ++round) {
    CHECK(roots_together(n, edges, 8) == std::vector<std::uint32_t>(n, 0));
  }
}

TEST_CASE("union-find, threads: a star whose centre every thread links at once") {
  constexpr std::uint32_t n = 4000;
  Edges edges;
  for (std::uint32_t x = 0; x + 1 < n; ++x) edges.emplace_back(n - 1, x);
  for (int round = 0; round < 20; ++round) {
    CHECK(roots_together(n, edges, 8) == std::vector<std::uint32_t>(n, 0));
  }
}

TEST_CASE("union-find, threads: marks of points that are not core are read while others link") {
  constexpr std::uint32_t n = 6000;
  std::vector<std::uint32_t> parent = singletons(n);
  for (std::uint32_t x = 0; x < n; x += 3) parent[x] = kNotCore;
  const UnionFind sets(parent);
  std::atomic<std::uint32_t> marks{0};
  together(6, [&](unsigned t) {
    for (std::uint32_t x = 0; x + 1 < n; ++x) {
      if ((x + t) % 2 == 0) continue;
      const bool left = sets.parent(x) != kNotCore;
      const bool right = sets.parent(x + 1) != kNotCore;
      if (left && right) sets.unite(x, x + 1);
      if (!left) ++marks;
    }
  });
  CHECK(marks == 6 / 2 * (n / 3));
  // Every third point separates the line: pairs are (1, 2), (4, 5), …
  for (std::uint32_t x = 0; x < n; ++x) {
    const std::uint32_t expected = x % 3 == 0 ? kNotCore : x - (x % 3 == 2 ? 1 : 0);
    REQUIRE((x % 3 == 0 ? parent[x] : sets.find(x)) == expected);
  }
}

}  // namespace
}  // namespace epsflow::clustering
