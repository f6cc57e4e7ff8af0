#include <epsflow/clustering/dbscan.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/ascii_points.hpp"
#include "support/catch.hpp"
#include "support/nested_check.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"
#include "support/table_maker.hpp"

namespace epsflow::clustering {
namespace {

using test::DataSet;
using test::OracleTable;
using test::Picture;
using test::Random;
using test::TableMaker;

/// Returns the labels of one variant. All methods must give the same labels.
VariantResult cluster_every_way(const DataSet& data, double eps, std::uint32_t minpts) {
  const CancelToken never;
  const OracleTable rows = data.oracle(eps);
  TableMaker maker;
  maker.csr(rows, test::make_order(data.size()));
  VariantResult first = cluster(maker.input(eps), minpts, never);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto order = test::make_order(data.size(), seed);
    for (const bool packed : {false, true}) {
      packed ? maker.packed(rows, order, 4) : maker.csr(rows, order, seed);
      CHECK(cluster(maker.input(eps), minpts, never).labels == first.labels);
      cluster_nested(maker.input(eps), {minpts}, never, [&](VariantResult&& r) {
        CHECK(r.labels == first.labels);
        CHECK(r.summary == first.summary);
      });
    }
  }
  return first;
}

/// Checks a picture: o core, x border, . noise. clusters: each point's expected label as a digit or '-'.
void check_picture(const Picture& picture, double eps, std::uint32_t minpts, const std::string& clusters) {
  INFO("clusters " << clusters);
  const VariantResult result = cluster_every_way(picture.data, eps, minpts);
  const OracleTable rows = picture.data.oracle(eps);
  REQUIRE(clusters.size() == picture.marks.size());
  for (std::size_t i = 0; i < picture.marks.size(); ++i) {
    INFO("point " << i << ", '" << picture.marks[i] << "'");
    const bool core = rows.rows[i].size() >= minpts;
    CHECK(core == (picture.marks[i] == 'o'));
    CHECK((result.labels[i] == kNoise) == (picture.marks[i] == '.'));
    CHECK(result.labels[i] == (clusters[i] == '-' ? kNoise : clusters[i] - '0'));
  }
}

// All pictures use o - core, x - border, . - noise, and points one unit apart. eps 1 reaches sideways, up and down.

TEST_CASE("dbscan: a row of points has core points inside and borders at its ends") {
  check_picture({"xoooox"}, 1, 3, "000000");
  check_picture({"oooooo"}, 1, 2, "000000");
  check_picture({"......"}, 1, 4, "------");
}

TEST_CASE("dbscan: clusters and noise side by side") {
  check_picture({"ooo  .  ooo"}, 1, 2, "000-111");
  check_picture({"xo ox",  //
                 " ooo "},
                1, 3, "0000000");
}

TEST_CASE("dbscan: a border point between two clusters goes to the lower-numbered and does not join them") {
  check_picture({" x x ",  //
                 "xoxox",  //
                 " x x "},
                1, 5, "010001101");
  check_picture({"  x ",  //
                 " xox",  //
                 "xox ",  //
                 " x  "},
                1, 5, "00001101");
}

TEST_CASE("dbscan: a bridge of border points does not join clusters") {
  // With minpts 4, the middle points of the blocks are core. The two points of the bridge have three neighbours each.
  check_picture({"xx  xx",  //
                 "ooxxoo",  //
                 "xx  xx"},
                1, 4, "00110001110011");
}

TEST_CASE("dbscan: minpts 1 makes every point a core point") { check_picture({"o o oo"}, 1, 1, "0122"); }

TEST_CASE("dbscan: equal points count one by one") {
  DataSet data;
  data.dims = 1;
  data.doubles = {5, 5, 5, 0, 5};
  const VariantResult four = cluster_every_way(data, 1e-300, 4);
  CHECK(four.labels == std::vector<std::int32_t>{0, 0, 0, -1, 0});
  CHECK(four.summary == LabelSummary{1, 1, 4, 0, 4});
  const VariantResult five = cluster_every_way(data, 1e-300, 5);
  CHECK(five.labels == std::vector<std::int32_t>(5, -1));
}

TEST_CASE("dbscan: nested and each give the oracle's labels on random data") {
  const CancelToken never;
  std::size_t clusters = 0;
  std::size_t borders = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 120);
    Random random(seed + 31);
    const double eps = test::make_eps(data, random);
    const OracleTable rows = data.oracle(eps);
    TableMaker maker;
    const auto order = test::make_order(data.size(), seed);
    random.chance(0.5) ? maker.csr(rows, order, seed)
                       : maker.packed(rows, order, static_cast<std::uint32_t>(1 + random.below(50)));
    clusters += test::check_nested(data, eps, maker.source(), test::descending_minpts(random, 14));
    std::vector<std::uint32_t> handed_out;  // minpts may come in any order, and repeat
    cluster_nested(maker.input(eps), {5, 1, 9, 5, 3}, never, [&](VariantResult&& r) {
      REQUIRE(r.labels == test::oracle_labels(rows, r.variant.minpts).labels);
      handed_out.push_back(r.variant.minpts);
    });
    REQUIRE(handed_out == std::vector<std::uint32_t>{9, 5, 5, 3, 1});
    for (const std::uint32_t m : {1U, 3U, 5U, 9U}) {
      const VariantResult r = cluster(maker.input(eps), m, never);
      const test::OracleLabels expected = test::oracle_labels(rows, m);
      REQUIRE(r.variant == Variant{eps, m});
      REQUIRE(r.labels == expected.labels);
      REQUIRE(r.summary == expected.summary);
      borders += r.summary.border;
    }
  }
  CHECK(clusters > 1000);
  CHECK(borders > 500);
}

TEST_CASE("dbscan: a cancelled token stops it") {
  const Picture picture{"ooo"};
  TableMaker maker;
  maker.csr(picture.data.oracle(1), test::make_order(3));
  CancelToken token;
  token.cancel();
  CHECK_THROWS_AS(cluster(maker.input(), 2, token), Cancelled);
  CHECK_THROWS_AS(cluster_nested(maker.input(), {2, 3}, token, [](VariantResult&&) { FAIL("a result"); }), Cancelled);
}

TEST_CASE("dbscan: what the callback of nested throws comes out, and no more results come") {
  const Picture picture{"ooo"};
  TableMaker maker;
  maker.csr(picture.data.oracle(1), test::make_order(3));
  int calls = 0;
  CHECK_THROWS_AS(cluster_nested(maker.input(), {3, 2, 1}, CancelToken(),
                                 [&](VariantResult&&) {
                                   if (++calls == 2) throw std::domain_error("enough");
                                 }),
                  std::domain_error);
  CHECK(calls == 2);
}

}  // namespace
}  // namespace epsflow::clustering
