#include <epsflow/clustering/agreement.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/points.hpp>

namespace epsflow {
namespace {

using test::Random;

using LabelList = std::vector<std::int32_t>;

/// Computes the indices from all pairs of points, by their definitions.
struct Oracle {
  double adjusted_rand = 1;
  double variation = 0;
  double kept = 1;

  Oracle(const LabelList& a, const LabelList& b) {
    const std::size_t n = a.size();
    std::int64_t together = 0;
    std::int64_t only_a = 0;
    std::int64_t only_b = 0;
    std::int64_t apart = 0;
    std::int64_t clustered = 0;
    std::map<std::int32_t, std::map<std::int32_t, std::int64_t>> went;
    for (std::size_t i = 0; i < n; ++i) {
      double with_a = 0;
      double with_b = 0;
      double with_both = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const bool same_a = a[i] == a[j];
        const bool same_b = b[i] == b[j];
        with_a += same_a ? 1 : 0;
        with_b += same_b ? 1 : 0;
        with_both += same_a && same_b ? 1 : 0;
        if (i == j) continue;
        ++(same_a ? same_b ? together : only_a : same_b ? only_b : apart);
      }
      variation += (std::log(with_a / with_both) + std::log(with_b / with_both)) / static_cast<double>(n);
      if (a[i] == kNoise) continue;
      ++clustered;
      if (b[i] != kNoise) ++went[a[i]][b[i]];
    }
    if (only_a + only_b > 0) {
      adjusted_rand =
          2.0 * static_cast<double>(together * apart - only_a * only_b) /
          static_cast<double>((together + only_a) * (only_a + apart) + (together + only_b) * (only_b + apart));
    }
    if (clustered == 0) return;
    std::int64_t most = 0;
    for (const auto& [cluster, parts] : went) {
      most +=
          std::max_element(parts.begin(), parts.end(), [](auto& x, auto& y) { return x.second < y.second; })->second;
    }
    kept = static_cast<double>(most) / static_cast<double>(clustered);
  }
};

LabelList random_labels(Random& random, std::size_t n) {
  const std::uint64_t clusters = 1 + random.below(random.chance(0.3) ? n + 1 : 6);
  const double noise = random.unit() * random.unit();
  LabelList labels(n);
  for (std::int32_t& label : labels) {
    label = random.chance(noise) ? kNoise : static_cast<std::int32_t>(random.below(clusters));
  }
  return labels;
}

TEST_CASE("agreement: indices and fates are those of all pairs of points") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const std::size_t n = random.below(60);
    const LabelList a = random_labels(random, n);
    LabelList b = random_labels(random, n);
    if (random.chance(0.5)) {
      b = a;
      for (std::uint64_t i = 0; n > 0 && i < random.below(4); ++i) b[random.below(n)] = kNoise;
    }
    const Contingency table(a, b);
    const Agreement found = agreement(table);
    const Oracle oracle(a, b);
    REQUIRE(table.points() == n);
    REQUIRE(found.adjusted_rand == Approx(oracle.adjusted_rand).epsilon(1e-12).margin(1e-12));
    REQUIRE(found.variation == Approx(oracle.variation).epsilon(1e-12).margin(1e-12));
    REQUIRE(found.normalised_variation ==
            Approx(n < 2 ? 0 : oracle.variation / std::log(static_cast<double>(n))).epsilon(1e-12).margin(1e-12));
    REQUIRE(found.kept == oracle.kept);
    REQUIRE(found.kept_back == Oracle(b, a).kept);
    std::uint64_t points = 0;
    for (const Fate& fate : fates(table)) {
      REQUIRE(fate.points == static_cast<std::uint64_t>(std::count(a.begin(), a.end(), fate.cluster)));
      std::uint64_t parts = fate.noise;
      std::uint64_t before = n + 1;
      for (const auto& [label, count] : fate.became) {
        REQUIRE(label >= 0);
        REQUIRE(count <= before);
        before = count;
        parts += count;
        std::uint64_t counted = 0;
        for (std::size_t i = 0; i < n; ++i) counted += a[i] == fate.cluster && b[i] == label ? 1 : 0;
        REQUIRE(count == counted);
      }
      REQUIRE(parts == fate.points);
      points += fate.points;
    }
    REQUIRE(points == n);
  }
}

TEST_CASE("agreement: what is a matter of definition is as scikit-learn defines it") {
  const auto rand_of = [](const LabelList& a, const LabelList& b) { return agreement({a, b}).adjusted_rand; };
  CHECK(rand_of({}, {}) == 1);
  CHECK(rand_of({3}, {-1}) == 1);
  CHECK(rand_of({0, 0, 0}, {5, 5, 5}) == 1);
  CHECK(rand_of({0, 1, 2}, {2, 0, 1}) == 1);
  CHECK(rand_of({0, 0, 0, 0}, {0, 1, 2, 3}) == 0);
  CHECK(rand_of({0, 0, 1, 1}, {0, 1, 0, 1}) == -0.5);
  // Noise is a class of its own in the indices, but its pairs do not count as kept.
  const Agreement noise = agreement({LabelList{-1, -1}, LabelList{-1, -1}});
  CHECK(noise.adjusted_rand == 1);
  CHECK(noise.variation == 0);
  CHECK(noise.kept == 1);
  CHECK(agreement({LabelList{0, 0}, LabelList{-1, -1}}).kept == 0);
  CHECK(agreement({LabelList{0, 1}, LabelList{0, 0}}).normalised_variation == 1);
}

TEST_CASE("agreement: many points in parallel, and the same from overlaps that are known") {
  Random random(7);
  const std::size_t n = 500'000;
  LabelList a(n);
  LabelList b(n);
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> counts;
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = static_cast<std::int32_t>(random.below(3000)) - 1;
    b[i] = random.chance(0.8) ? a[i] / 3 : static_cast<std::int32_t>(random.below(1000)) - 1;
    ++counts[{a[i], b[i]}];
  }
  const Contingency table(a, b);
  REQUIRE(table.overlaps().size() == counts.size());
  auto next = counts.begin();
  for (const Overlap& o : table.overlaps()) {
    REQUIRE(std::pair(o.a, o.b) == next->first);
    REQUIRE(o.points == next->second);
    ++next;
  }
  // The overlaps are reordered and halved, and an empty one is added.
  std::vector<Overlap> known{{4, 4, 0}};
  for (const Overlap& o : table.overlaps()) {
    known.push_back({o.a, o.b, o.points / 2});
    known.push_back({o.a, o.b, o.points - o.points / 2});
    if (random.chance(0.5)) std::swap(known[random.below(known.size())], known.back());
  }
  const Contingency same(known);
  CHECK(std::equal(same.overlaps().begin(), same.overlaps().end(), table.overlaps().begin(), table.overlaps().end()));
  CHECK(std::equal(same.a().begin(), same.a().end(), table.a().begin(), table.a().end()));
  CHECK(std::equal(same.b().begin(), same.b().end(), table.b().begin(), table.b().end()));
  const Contingency back = table.swapped().swapped();
  CHECK(std::equal(back.overlaps().begin(), back.overlaps().end(), table.overlaps().begin(), table.overlaps().end()));
}

TEST_CASE("agreement: as many points as there can be") {
  // Counts of pairs are near 2^64, products of them near 2^128. The exact values come from rational arithmetic.
  const std::uint64_t n = kMaxPoints;
  CHECK(agreement(Contingency({{0, 0, n}})).adjusted_rand == 1);
  CHECK(agreement(Contingency({{0, 0, n / 2}, {1, 0, n - n / 2}})).adjusted_rand == 0);
  const Agreement crossed = agreement(Contingency({{0, 0, n / 2 - 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, n / 2 - 1}}));
  CHECK(crossed.adjusted_rand == Approx(0.9999999981373549).epsilon(1e-15));
  CHECK(crossed.kept == Approx(1 - 2.0 / static_cast<double>(n)).epsilon(1e-15));
  CHECK_THROWS_AS(Contingency({{0, 0, n}, {1, 1, 1}}), UsageError);
}

TEST_CASE("agreement: errors name the label, and the sizes") {
  CHECK_THROWS_WITH(Contingency(LabelList{0, 1}, LabelList{0}),
                    "there are 2 and 1 labels: give two labellings of the same points");
  CHECK_THROWS_WITH(Contingency(LabelList{0, 1}, LabelList{0, -7}),
                    "the second labelling has -7 for point 1, and labels are clusters from 0 on or -1 for noise");
  CHECK_THROWS_AS(Contingency({{0, -2, 1}}), UsageError);
}

}  // namespace
}  // namespace epsflow
