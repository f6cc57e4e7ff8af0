// The verifier must accept right labels. It must find each kind of wrong labels and name the point.
#include <epsflow/clustering/verify.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/ascii_points.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

namespace epsflow::clustering {
namespace {

using test::check_mentions;
using test::DataSet;
using test::OracleTable;
using test::Picture;
using test::Random;

/// Returns all findings as one text.
std::string findings(const DataSet& data, const Variant& variant, const std::vector<std::int32_t>& labels) {
  std::string text;
  for (const std::string& f : verify(data.view(), variant, labels, 1000)) text += f + "\n";
  return text;
}

/// Returns a point on a line for each `1`, at its index in the text.
DataSet line(const std::string& text) {
  DataSet data{.dims = 1};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '1') data.doubles.push_back(static_cast<double>(i));
  }
  return data;
}

// Legend: o - core, x - border, . - noise. eps is 1 and minpts 5. Two clusters share a border point, point 4.
//
//   0 1              0 1
// 2 3 4 5 6        0 0 0 1 1
//   7 8   9          0 1   -
const Picture& picture() {
  static const Picture only{
      " x x ",   //
      "xoxox",   //
      " x x .",  //
  };
  return only;
}

struct Scene {
  std::vector<std::int32_t> right = test::oracle_labels(picture().data.oracle(1), 5).labels;

  Scene() { REQUIRE(right == std::vector<std::int32_t>{0, 1, 0, 0, 0, 1, 1, 0, 1, -1}); }

  [[nodiscard]] std::string with(const std::vector<std::pair<std::size_t, std::int32_t>>& changes) const {
    std::vector<std::int32_t> labels = right;
    for (const auto& [point, label] : changes) labels[point] = label;
    return findings(picture().data, {1, 5}, labels);
  }
};

TEST_CASE("verify: right labels are accepted") {
  CHECK(Scene().with({}).empty());
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    const DataSet data = test::random_data(seed, 80);
    Random random(seed + 7);
    const double eps = test::make_eps(data, random);
    const OracleTable rows = data.oracle(eps);
    for (const std::uint32_t minpts : {1U, 2U, 4U, 9U}) {
      REQUIRE(findings(data, {eps, minpts}, test::oracle_labels(rows, minpts).labels).empty());
    }
  }
}

TEST_CASE("verify: any single wrong label of random data is found") {
  // The labelling is unique, so the verifier must find every change of one label.
  std::size_t changes = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const DataSet data = test::random_data(seed, 60);
    if (data.size() == 0) continue;
    Random random(seed + 70);
    const double eps = test::make_eps(data, random);
    const auto minpts = static_cast<std::uint32_t>(1 + random.below(6));
    const test::OracleLabels right = test::oracle_labels(data.oracle(eps), minpts);
    for (int change = 0; change < 5; ++change) {
      std::vector<std::int32_t> labels = right.labels;
      std::int32_t& label = labels[random.below(labels.size())];
      const auto other = static_cast<std::int32_t>(random.below(right.summary.clusters + 3)) - 2;
      if (other == label) continue;
      label = other;
      INFO("seed " << seed << ", label " << other);
      REQUIRE_FALSE(findings(data, {eps, minpts}, labels).empty());
      ++changes;
    }
  }
  CHECK(changes > 300);
}

TEST_CASE("verify: each kind of wrong labels is named by a point") {
  struct Case {
    std::string name;
    std::vector<std::pair<std::size_t, std::int32_t>> changes;
    std::string finding;
  };
  constexpr std::int32_t kFar = 2'000'000'000;
  const std::vector<Case> cases{
      {"a core point without a cluster", {{3, kNoise}}, "point 3 (label -1): is core and carries no cluster"},
      {"a border point moved to the higher of its clusters",
       {{4, 1}},
       "point 4 (label 1): is a border point of cluster 0"},
      {"a border point moved to a cluster that it does not touch",
       {{0, 1}},
       "point 0 (label 1): is a border point of cluster 0"},
      {"a border point marked as noise", {{8, kNoise}}, "point 8 (label -1): is a border point of cluster 1"},
      {"noise given a cluster", {{9, 0}}, "point 9 (label 0): has no core neighbour and is not noise"},
      {"noise given a new cluster", {{9, 7}}, "point 9 (label 7): has no core neighbour and is not noise"},
      {"noise with another negative label", {{9, -2}}, "point 9 (label -2): has no core neighbour and is not noise"},
      {"two clusters merged through their shared border point",
       {{1, 0}, {5, 0}, {6, 0}, {8, 0}},
       "point 5 (label 0): is not connected through core points"},
      // Point 4 is a border point of both clusters. It changes too, so that only the numbering is wrong.
      {"numbers swapped",
       {{0, 1}, {1, 0}, {2, 1}, {3, 1}, {4, 0}, {5, 0}, {6, 0}, {7, 1}, {8, 0}},
       "cluster 1 begins at point 3, before cluster 0 at point 5"},
      {"a number left out", {{1, 2}, {5, 2}, {6, 2}, {8, 2}}, "cluster 1 has no core point"},
      // This one must not take memory for all numbers that lie between.
      {"a number far beyond the points", {{1, kFar}, {5, kFar}, {6, kFar}, {8, kFar}}, "point 5 (label 2000000000)"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    check_mentions(Scene().with(c.changes), {c.finding});
  }
}

TEST_CASE("verify: a core point moved to another cluster, and a cluster split where it is connected") {
  // The middle point of o - o - o is moved.
  check_mentions(findings(line("111 11"), {1, 2}, {0, 1, 0, 1, 1}),
                 {"point 1 (label 1): core neighbour 0 carries 0", "point 0 (label 0): core neighbour 1 carries 1"});
  // The chain o - o - o - o is cut in the middle.
  check_mentions(findings(line("1111"), {1, 2}, {0, 0, 1, 1}),
                 {"point 1 (label 0): core neighbour 2 carries 1", "point 2 (label 1): core neighbour 1 carries 0"});
}

TEST_CASE("verify: labels of another number of points") {
  const std::vector<std::int32_t> few(9, 0);
  const auto found = verify(picture().data.view(), {1, 5}, few);
  REQUIRE(found.size() == 1);
  check_mentions(found.front(), {"9 labels for 10 points"});
}

TEST_CASE("verify: stops after as many findings as are wanted") {
  const std::vector<std::int32_t> wrong{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  CHECK(verify(picture().data.view(), {1, 5}, wrong, 3).size() == 3);
  CHECK(verify(picture().data.view(), {1, 5}, wrong, 1).size() == 1);
  CHECK(verify(picture().data.view(), {1, 5}, wrong).size() <= 10);
}

}  // namespace
}  // namespace epsflow::clustering
