#include <epsflow/clustering/map_scores.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/clustering/eps_per_cluster.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/labels.hpp>
#include <epsflow/core/sweep.hpp>

namespace epsflow {
namespace {

using test::check_mentions;
using test::error_of;
using test::Random;

/// The clusters of a cell, drawn: a character for each block of points. Dots are noise, all others are core.
struct Drawn {
  Variant variant;
  std::string blocks;
};

std::vector<std::uint32_t> firsts_of(const std::string& blocks) {
  std::vector<std::uint32_t> firsts;
  std::string seen = ".";
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (seen.find(blocks[b]) != std::string::npos) continue;
    seen += blocks[b];
    firsts.push_back(static_cast<std::uint32_t>(b));
  }
  return firsts;
}

std::int32_t cluster_of(const std::string& blocks, std::size_t block) {
  const std::vector<std::uint32_t> firsts = firsts_of(blocks);
  for (std::size_t k = 0; k < firsts.size(); ++k) {
    if (blocks[firsts[k]] == blocks[block]) return static_cast<std::int32_t>(k);
  }
  return kNoise;
}

/// Returns the lineage of these cells. The first block of each cluster lies in a cluster of the next wider and of the
/// next looser cell. drawn: in the sweep's order. points: size of a block.
Lineage lineage_of(const std::vector<Drawn>& drawn, std::size_t points) {
  std::vector<LineageCell> cells;
  for (const Drawn& from : drawn) {
    const Variant& variant = from.variant;
    const std::vector<std::uint32_t> firsts = firsts_of(from.blocks);
    LineageCell& cell = cells.emplace_back();
    cell.variant = variant;
    cell.summary.clusters = firsts.size();
    for (const std::uint32_t first : firsts) {
      const auto blocks = static_cast<std::size_t>(std::ranges::count(from.blocks, from.blocks[first]));
      cell.first_core.push_back(static_cast<std::uint32_t>(first * points));
      cell.core.push_back(static_cast<std::uint32_t>(blocks * points));
      cell.summary.core += cell.core.back();
      cell.summary.largest = std::max<std::uint64_t>(cell.summary.largest, cell.core.back());
    }
    cell.size = cell.core;
    cell.summary.noise = from.blocks.size() * points - cell.summary.core;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const Variant& v = drawn[i].variant;
      const bool is_wider = v.minpts == variant.minpts && v.eps > variant.eps;
      const bool is_looser = v.eps == variant.eps && v.minpts < variant.minpts;
      if (is_wider && (!cell.wider || v.eps < drawn[*cell.wider].variant.eps)) cell.wider = i;
      if (is_looser && (!cell.looser || v.minpts > drawn[*cell.looser].variant.minpts)) cell.looser = i;
    }
    for (const std::uint32_t first : firsts) {
      const auto in = [&](std::size_t i) { return static_cast<std::uint32_t>(cluster_of(drawn[i].blocks, first)); };
      if (cell.wider) cell.parent_eps.push_back(in(*cell.wider));
      if (cell.looser) cell.parent_minpts.push_back(in(*cell.looser));
    }
  }
  return Lineage(cells);
}

struct BigCluster {
  double size = 0;
  double steps = 0;  ///< number of eps at which the cluster exists
};

/// Recomputes the score by its definition. step: ln of the ratio of eps.
CellScore expected(const std::vector<BigCluster>& clusters, double n, double p, double dimension, double step) {
  CellScore cell;
  double weights = 0, credits = 0;
  cell.noise = 1;
  for (const auto& [size, steps] : clusters) {
    const double z = dimension * std::sqrt(p) * steps * step * std::pow(size / p, 3.0 / 8);
    const double weight = size / n * (1 - size / n);
    weights += weight;
    credits += weight * z * z / (z * z + 25);
    cell.noise -= size / n;
    ++cell.big;
    if (z >= 5) ++cell.significant;
  }
  if (cell.big < 2 || cell.noise > 0.5) return cell;
  cell.credit = credits / weights;
  cell.score = std::pow(1 - cell.noise, 0.75) * std::pow(std::min(p, std::sqrt(n)), 0.05) * credits;
  return cell;
}

void check_score(const CellScore& found, const CellScore& wanted) {
  CHECK(found.big == wanted.big);
  CHECK(found.significant == wanted.significant);
  CHECK(found.noise == Approx(wanted.noise).margin(1e-12));
  CHECK(found.credit == Approx(wanted.credit).margin(1e-12));
  CHECK(found.score == Approx(wanted.score).margin(2e-9));
}

const double kStep = std::log(2.0);

TEST_CASE("map scores: a chain goes on where one big cluster alone arrives, and lives at half of its points or more") {
  const Lineage lineage = lineage_of({{{1, 9}, "a...bbb..."},   // a has less than half of its next size,
                                      {{2, 9}, "aaaabbbb.."},   // but b has more;
                                      {{4, 9}, "aaaabbbbcc"},   // c appears,
                                      {{8, 9}, "aaaaaaaacc"}},  // and a new chain begins when a and b merge
                                     10);
  const MapScores scores(lineage, 100, 1);
  check_score(scores.score({0, 0}), expected({{10, 3}, {30, 3}}, 100, 9, 1, kStep));
  CHECK(scores.score({0, 0}).score == -1);  // six tenths of the points are noise
  check_score(scores.score({1, 0}), expected({{40, 2}, {40, 3}}, 100, 9, 1, kStep));
  check_score(scores.score({2, 0}), expected({{40, 2}, {40, 3}, {20, 2}}, 100, 9, 1, kStep));
  check_score(scores.score({3, 0}), expected({{80, 1}, {20, 2}}, 100, 9, 1, kStep));

  const auto eps_of = [&](std::size_t e) {
    return std::pair(scores.plateau({e, 0}).eps_from, scores.plateau({e, 0}).eps_to);
  };
  CHECK(eps_of(0) == std::pair(1.0, 2.0));
  CHECK(eps_of(1) == std::pair(1.0, 2.0));
  CHECK(eps_of(2) == std::pair(4.0, 4.0));
  CHECK(eps_of(3) == std::pair(8.0, 8.0));
}

TEST_CASE("grown clusters: none contains others, nor what became of others that have stopped") {
  // The clusters a and b are small, and stop as they merge. c stops before it contains both.
  const std::string most(490, 'c'), rest(8, '.');
  const Lineage lineage = lineage_of(
      {{{1, 4}, "ab" + most + rest}, {{1.1, 4}, "aa" + most + rest}, {{1.21, 4}, std::string(492, 'a') + rest}}, 9);
  const EpsPerCluster grown = grown_clusters(MapScores(lineage, 4500, 2), {0, 0});
  CHECK(grown.clusters == std::vector<CellCluster>{{0, 0}, {0, 1}, {1, 1}});
}

TEST_CASE("map scores: border points are shared by surface, and a core point beside a large cluster gets few") {
  const std::vector<std::uint32_t> core{1, 40'000, 3, 3, 700};
  const std::vector<double> sizes = sizes_in_any_order(core, 30'000, 200);
  CHECK(std::accumulate(sizes.begin(), sizes.end(), 0.0) == Approx(30'000 + 40'707));
  CHECK(sizes[0] < 410);
  CHECK(sizes[2] == sizes[3]);
  CHECK(sizes[2] < 410);
  CHECK(sizes[4] < 700 + 2 * 200 * std::pow(4.5, 0.6) + 1);
  CHECK(sizes[1] > 60'000);
  // Few border points: all are around clusters of fewer core points than minpts.
  const std::vector<std::uint32_t> few{5, 100};
  const std::vector<double> of_few = sizes_in_any_order(few, 5, 10);
  CHECK(of_few[0] == Approx(10));
  CHECK(of_few[1] == Approx(100));
  CHECK(sizes_in_any_order({}, 0, 10).empty());
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> some(1 + random.below(20));
    for (std::uint32_t& c : some) c = static_cast<std::uint32_t>(1 + random.below(random.chance(0.5) ? 10 : 10'000));
    const std::uint64_t border = random.below(50'000);
    const std::vector<double> found = sizes_in_any_order(some, border, 1 + static_cast<double>(random.below(200)));
    double all = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      all += found[i] - some[i];
      CHECK(found[i] >= some[i]);
      for (std::size_t j = 0; j < some.size(); ++j) CHECK((some[i] > some[j] || found[i] <= found[j]));
    }
    CHECK(all == Approx(static_cast<double>(border)).margin(1e-6));
  }
}

TEST_CASE("map scores: clusters under five points, or one in a hundred, are noise, and end no chain") {
  // Blocks have 4 points. c has a single block and is small. It joins b, whose chain continues.
  const Lineage few = lineage_of({{{1, 4}, "aaaaabbbbbbcb.aaa"}, {{2, 4}, "aaaaabbbbbbbbaaaa"}}, 4);
  const MapScores scores(few, 68, 1);
  check_score(scores.score({0, 0}), expected({{32, 2}, {28, 2}}, 68, 4, 1, kStep));
  check_score(scores.score({1, 0}), expected({{36, 2}, {32, 2}}, 68, 4, 1, kStep));
  CHECK(scores.plateau({0, 0}).eps_to == 2);

  // In 1,008 points, 9 are less than one in a hundred, and 18 are more.
  const std::string most = std::string(50, 'a') + std::string(50, 'b') + std::string(9, 'c');
  const MapScores many(lineage_of({{{1, 4}, most + "d.."}, {{2, 4}, most + "dd."}}, 9), 1008, 1);
  CHECK(many.score({0, 0}).big == 3);
  CHECK(many.score({1, 0}).big == 4);
}

TEST_CASE("map scores: minpts around a cell whose big clusters lie one to one in each other") {
  const Lineage lineage =
      lineage_of({{{1, 8}, "aa..bb...."},
                  {{1, 4}, "aaaaa.cc.."},  // two merge and one is new: the number is equal, the clusters are not
                  {{1, 2}, "aaaaa.cccc"},
                  {{2, 8}, "aaa.bbb..."},
                  {{2, 4}, "aaa.bbb.cc"},
                  {{2, 2}, "aaaabbb.cc"}},
                 10);
  const MapScores scores(lineage, 100, 2);
  const auto range_of = [&](std::size_t e, std::size_t m) {
    const Plateau found = scores.plateau({e, m});
    return std::pair(found.minpts_from, found.minpts_to);
  };
  CHECK(range_of(0, 0) == std::pair(2U, 4U));
  CHECK(range_of(0, 1) == std::pair(2U, 4U));
  CHECK(range_of(0, 2) == std::pair(8U, 8U));
  CHECK(range_of(1, 0) == std::pair(2U, 4U));
  CHECK(range_of(1, 2) == std::pair(8U, 8U));
}

TEST_CASE("map scores: no clusters lie one to one in no clusters of nothing") {
  const MapScores scores(lineage_of({{{1, 4}, "...."}, {{1, 2}, "...."}, {{2, 4}, "...."}, {{2, 2}, "...."}}, 5), 20,
                         2);
  CHECK(scores.plateau({0, 0}).minpts_to == 2);
  CHECK_FALSE(scores.best());
  CHECK_FALSE(scores.recommended());
  CHECK(scores.peaks().empty());
}

TEST_CASE("map scores: the order of the sweep is of no account") {
  std::vector<Drawn> cells{{{1, 2}, "aa.bb.c..."}, {{1, 5}, "aa........"}, {{2, 2}, "aaabbbccc."},
                           {{2, 5}, "aaabbb...."}, {{4, 2}, "aaaaaaccc."}, {{4, 5}, "aaaaaacc.."}};
  const Lineage sorted = lineage_of(cells, 10);
  std::reverse(cells.begin(), cells.end());
  std::swap(cells[1], cells[4]);
  const Lineage mixed = lineage_of(cells, 10);
  const MapScores a(sorted, 100, 2), b(mixed, 100, 2);
  for (std::size_t e = 0; e < 3; ++e) {
    for (std::size_t m = 0; m < 2; ++m) {
      check_score(b.score({e, m}), a.score({e, m}));
      CHECK(mixed.cell(b.cell({e, m})).variant == sorted.cell(a.cell({e, m})).variant);
      CHECK(a.plateau({e, m}).eps_to == b.plateau({e, m}).eps_to);
    }
  }
  CHECK(a.best() == b.best());
  CHECK(a.peaks() == b.peaks());
}

TEST_CASE("map scores: the effective dimension is the slope of minpts over eps, between 1 and that of the points") {
  const auto cells = [](std::uint32_t small, std::uint32_t large) {
    return lineage_of({{{1, small}, "aa......"},
                       {{2, small}, "aaaaaabb"},
                       {{4, small}, "aaaaaabb"},
                       {{1, large}, "........"},
                       {{2, large}, "aa......"},
                       {{4, large}, "aaaaaabb"}},
                      10);
  };
  // Half of the points become core a third of the way from eps 1 to 2 at minpts 5, and from 2 to 4 at minpts 20.
  const double slope = std::log((20 - 4.0 / 3) / (5 - 4.0 / 3)) / std::log(2.0);
  const Lineage lineage = cells(5, 20);
  CHECK(MapScores(lineage, 80, 5).dimension(0) == Approx(slope));
  CHECK(MapScores(lineage, 80, 5).dimension(1) == Approx(slope));
  CHECK(MapScores(lineage, 80, 2).dimension(0) == 2);
  CHECK(MapScores(lineage_of({{{1, 5}, "aa"}, {{2, 5}, "aa"}}, 10), 20, 7).dimension(0) == 7);  // no data

  // Weights are 3, so three times the minpts mean the same number of points.
  const Lineage heavy = cells(15, 60);
  const MapScores light_scores(lineage, 80, 5), heavy_scores(heavy, 80, 5, 3);
  CHECK(heavy_scores.dimension(1) == Approx(slope));
  for (std::size_t e = 0; e < 3; ++e) {
    for (std::size_t m = 0; m < 2; ++m) check_score(heavy_scores.score({e, m}), light_scores.score({e, m}));
  }
}

TEST_CASE("map scores: the best, the peaks along eps, and what is recommended") {
  std::vector<Drawn> cells;
  // The first eps has three clusters, the next eight have two, and the last has one.
  for (int e = 0; e < 10; ++e) {
    cells.push_back({{std::exp2(e), 16}, e == 0 ? "aabbbb.ccc" : e < 9 ? "aaaaabbbbb" : "aaaaaaaaaa"});
  }
  const Lineage lineage = lineage_of(cells, 40);
  const MapScores scores(lineage, 400, 1);
  REQUIRE(scores.best());
  CHECK(*scores.best() == MapIndex{1, 0});  // the smallest eps of equal scores
  CHECK(scores.plateau({1, 0}).eps_to == 256);
  CHECK(scores.recommended() == MapIndex{4, 0});  // the middle of a plateau, within which nothing changes
  CHECK(scores.peaks() == std::vector<MapIndex>{{4, 0}});

  // The same pictures follow in small steps. Chance explains every persistence.
  for (std::size_t e = 0; e < cells.size(); ++e) cells[e].variant.eps = std::pow(1.01, e);
  const Lineage dense = lineage_of(cells, 40);
  const MapScores chance(dense, 400, 1);
  CHECK(chance.best());
  CHECK_FALSE(chance.recommended());
}

TEST_CASE("map scores: of a wide plateau the eps is taken around which the fewest points join") {
  // Tails join first, then nothing for three eps, then the surrounding noise.
  const std::vector<std::string> pictures{"aa....bb....", "aaa...bbb...", "aaaa..bbbb..", "aaaa..bbbb..",
                                          "aaaa..bbbb..", "aaaa..bbbb..", "aaaa..bbbb..", "aaaaa.bbbbb.",
                                          "aaaaaabbbbbb", "aaaaaaaaaaaa"};
  std::vector<Drawn> cells;
  for (std::size_t e = 0; e < pictures.size(); ++e) cells.push_back({{std::exp2(e), 16}, pictures[e]});
  const Lineage wide = lineage_of(cells, 40);
  const MapScores scores(wide, 480, 1);
  CHECK(scores.best() == MapIndex{8, 0});
  CHECK(scores.recommended() == MapIndex{4, 0});
  // If a plateau is narrower than a factor of two, the cell with the best score is recommended.
  for (std::size_t e = 0; e < cells.size(); ++e) cells[e].variant.eps = std::pow(1.08, e);
  const Lineage narrow = lineage_of(cells, 4000);
  const MapScores narrow_scores(narrow, 48000, 1);
  CHECK(narrow_scores.recommended() == narrow_scores.best());
}

TEST_CASE("map scores: a plateau over ten times eps, and over the square of the best's, wins at half its score") {
  // Four clusters exist at `fine` eps. They merge into two clusters, which exist at `coarse` eps.
  const auto recommended = [](int fine, int coarse) {
    std::vector<Drawn> cells;
    double eps = 1;
    const auto draw = [&](int times, const char* picture) {
      for (int i = 0; i < times; ++i, eps *= 1.25) cells.push_back({{eps, 16}, picture});
    };
    draw(1, "............");
    draw(fine, "aaabbbcccddd");
    draw(coarse, "aaaaaabbbbbb");
    draw(1, "aaaaaaaaaaaa");
    const Lineage lineage = lineage_of(cells, 400);
    const MapScores scores(lineage, 4800, 1);
    CHECK(scores.score(*scores.best()).big == 4);
    return scores.score(*scores.recommended()).big;
  };
  CHECK(recommended(4, 10) == 4);  // ×7.5
  CHECK(recommended(4, 12) == 2);  // ×11.6
  CHECK(recommended(5, 12) == 2);
  CHECK(recommended(8, 12) == 4);  // ×4.8 next to ×11.6
}

TEST_CASE("map scores: a peak lies in the middle of its plateau, and has the largest score of it") {
  std::vector<Drawn> cells;
  const auto draw = [&](int times, const char* picture) {
    for (int i = 0; i < times; ++i) cells.push_back({{std::pow(1.25, cells.size()), 16}, picture});
  };
  draw(1, "............");
  draw(7, "aaabbbcccddd");  // eps 1 … 7
  draw(9, "aaaaaabbbbbb");  // eps 8 … 16
  draw(1, "aaaaaaaaaaaa");
  const Lineage lineage = lineage_of(cells, 400);
  const MapScores scores(lineage, 4800, 1);
  CHECK(scores.peaks() ==
        std::vector<MapIndex>{{4, 0}});  // along eps, scores fall from the first plateau to the second
  CHECK(scores.plateau_score({4, 0}) == scores.score({1, 0}).score);
  CHECK(scores.plateau_score({4, 0}) > scores.plateau_score({12, 0}));
  CHECK(scores.plateau_score({0, 0}) == -1);
}

TEST_CASE("map scores: grids without even ratios, gaps and single eps are refused with the way out") {
  const auto error = [](const std::vector<Variant>& variants) {
    return error_of<UsageError>([&] { require_even_grid(variants); });
  };
  check_mentions(error({{1, 2}, {2, 2}, {1, 3}}), {"full grid", "every eps with every minpts"});
  check_mentions(error({{1, 2}, {1, 3}}), {"one eps", "lo:hi:n:log"});
  check_mentions(error({{0.1, 2}, {0.2, 2}, {0.5, 2}}), {"even ratios", "from eps 0.1 to 0.2", "lo:hi:n:log"});
  check_mentions(error({{1, 2}, {2, 2}, {3, 2}, {4, 2}}), {"even ratios"});
  require_even_grid(std::vector<Variant>{{0.1, 2}, {0.2, 2}});
  require_even_grid(std::vector<Variant>{{0.4, 2}, {0.1, 2}, {0.2, 2}});
  require_even_grid(std::vector<Variant>{{0.1, 2}, {0.126, 2}, {0.158, 2}, {0.2, 2}});  // the eps are rounded
  require_even_grid(grid(parse_eps_list("1e-9:1e9:333:log"), {1, 7}).variants());
  const Lineage uneven = lineage_of({{{1, 2}, "ab"}, {{2, 2}, "ab"}, {{9, 2}, "aa"}}, 10);
  CHECK_THROWS_AS(MapScores(uneven, 20, 1), UsageError);
}

}  // namespace
}  // namespace epsflow
