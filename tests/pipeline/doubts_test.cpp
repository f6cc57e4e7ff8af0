#include <epsflow/pipeline/doubts.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/blobs.hpp"
#include "support/catch.hpp"

#include <epsflow/core/choices.hpp>

namespace epsflow::test {
namespace {

using Doubts = std::vector<Doubt>;

struct Case {
  std::string name;
  DataSet data;
  Doubts doubts;     ///< all expected doubts, in order
  Sweep sweep = {};  ///< empty: the suggested sweep
};

/// Returns the data with change(x, axis) in place of each coordinate x.
DataSet changed(DataSet data, const std::function<double(double, std::size_t)>& change) {
  for (std::size_t i = 0; i < data.doubles.size(); ++i) data.doubles[i] = change(data.doubles[i], i % data.dims);
  return data;
}

DataSet twice(DataSet data) {
  const std::vector<double> once = data.doubles;
  data.doubles.insert(data.doubles.end(), once.begin(), once.end());
  return data;
}

DataSet arcs(double noise, std::size_t each, std::uint64_t seed) {
  Random random(seed);
  DataSet data{.dims = 2};
  for (std::size_t i = 0; i < 2 * each; ++i) {
    const double angle = std::numbers::pi * random.unit();
    const bool low = i % 2 == 1;
    data.doubles.push_back((low ? 1 - std::cos(angle) : std::cos(angle)) + noise * random.bell());
    data.doubles.push_back((low ? 0.5 - std::sin(angle) : std::sin(angle)) + noise * random.bell());
  }
  return data;
}

DataSet ring_and_blob(std::uint64_t seed) {
  Random random(seed);
  DataSet data = make_blobs({{{0, 0}, 0.5, 400}}, seed);
  for (int i = 0; i < 600; ++i) {
    const double angle = 2 * std::numbers::pi * random.unit();
    const double radius = 6 + 0.2 * random.bell();
    data.doubles.insert(data.doubles.end(), {radius * std::cos(angle), radius * std::sin(angle)});
  }
  return data;
}

Sweep grid_of(const char* eps, const std::vector<std::uint32_t>& minpts) { return grid(parse_eps_list(eps), minpts); }

DataSet with_noise(DataSet data, std::size_t points, double lo, double hi) {
  add_uniform(data, points, lo, hi, 3);
  return data;
}

/// Returns blobs in pairs.
DataSet pairs(std::size_t count) {
  std::vector<Blob> blobs;
  for (std::size_t k = 0; k < count; ++k) {
    const double x = 60 * static_cast<double>(k % 3);
    const double y = 60 * static_cast<double>(k / 3);
    blobs.push_back({{x, y}, 1, 100});
    blobs.push_back({{x + 12, y}, 1, 100});
  }
  return make_blobs(blobs, 1);
}

/// Returns nine blobs in a square.
DataSet nine() {
  std::vector<Blob> blobs;
  for (const double y : {0, 12, 24}) {
    for (const double x : {0, 12, 24}) blobs.push_back({{x, y}, 1, 150});
  }
  return make_blobs(blobs, 2);
}

DataSet strip(std::uint64_t seed) {
  Random random(seed);
  DataSet data{.dims = 2};
  for (int i = 0; i < 300; ++i) {
    data.doubles.push_back(10 * random.unit());
    data.doubles.push_back(0.2 * random.unit());
  }
  return data;
}

void check_doubts(const Case& c) {
  INFO(c.name);
  const Dataset loaded = Engine().load(c.data.view());
  const Exploration made = c.sweep.size() > 0 ? explore(loaded, c.sweep) : explore(loaded);
  if (made.recommended) UNSCOPED_INFO(made.recommended->reason << ", minpts " << made.recommended->variant.minpts);
  const auto words = [](const Doubts& doubts) {
    std::string text;
    for (const Doubt doubt : doubts) text += std::string(word_of(doubt)) + " ";
    return text;
  };
  CHECK(words(made.doubts) == words(c.doubts));
}

TEST_CASE("doubts: each has a set that it is true of") {
  const DataSet two = make_blobs({{{0, 0}, 1, 500}, {{12, 12}, 1, 500}}, 1);
  const std::vector<Case> cases{
      {"uniform", uniform_points(400, 2, 1), {Doubt::no_clusters}},
      {"chance on a line", uniform_points(150, 1, 1), {Doubt::weak}},
      {"eps far too small",
       three_blobs(),
       {Doubt::no_clusters, Doubt::little_core},
       grid_of("1e-6:1e-5:10:log", {4, 8})},
      {"all is core, in three",
       three_blobs(),
       {Doubt::weak, Doubt::all_core, Doubt::edge},
       grid_of("5:8:10:log", {4, 8, 16})},
      {"eps far too large",
       three_blobs(),
       {Doubt::no_clusters, Doubt::all_core, Doubt::one_cluster},
       grid_of("20:80:10:log", {4, 8})},
      {"a strip", strip(5), {Doubt::weak, Doubt::no_plateau, Doubt::two_scales, Doubt::one_axis_rules}},
      {"a fifth is noise", with_noise(three_blobs(), 225, -40, 50), {Doubt::much_noise}},
      {"blobs in pairs", pairs(9), {Doubt::two_scales}},
      {"a small grid", three_blobs(), {Doubt::edge}, grid_of("0.1:8:20:log", {8})},
      {"few", make_blobs({{{0, 0}, 1, 45}, {{15, 15}, 1, 45}}, 1), {Doubt::few_points}},
      {"every point twice", twice(three_blobs()), {Doubt::duplicates}},
      {"rounded to whole numbers",
       changed(two, [](double x, std::size_t) { return std::round(x); }),
       {Doubt::duplicates, Doubt::quantised}},
      {"one column in another unit",
       changed(with_noise(two, 1, 0, 1), [](double x, std::size_t axis) { return axis == 0 ? 1000 * x : x; }),
       {Doubt::one_axis_rules}},
  };
  std::vector<Doubt> seen;
  for (const Case& c : cases) {
    check_doubts(c);
    seen.insert(seen.end(), c.doubts.begin(), c.doubts.end());
  }
  for (const auto& word : Choice<Doubt>::kWords) {
    INFO(word.word);
    // The doubts of a time limit are tested with explore().
    const bool of_bound = word.value == Doubt::coarse || word.value == Doubt::unfinished;
    CHECK((of_bound || std::count(seen.begin(), seen.end(), word.value) > 0));
    CHECK_FALSE(sentence_of(word.value).empty());
  }
}

TEST_CASE("doubts: there are none of clusters that everybody sees") {
  const std::vector<Case> cases{
      {"two", make_blobs({{{0, 0}, 1, 500}, {{12, 12}, 1, 500}}, 1), {}},
      {"three", three_blobs(), {}},
      {"nine", nine(), {}},
      {"of unequal size", make_blobs({{{0, 0}, 1, 900}, {{15, 0}, 1, 300}, {{0, 15}, 1, 100}}, 1), {}},
      {"of unequal density", make_blobs({{{0, 0}, 0.5, 400}, {{15, 0}, 1, 400}, {{0, 15}, 1.5, 400}}, 1), {}},
      {"in five dimensions",
       make_blobs({{{0, 0, 0, 0, 0}, 1, 400}, {{9, 0, 0, 9, 0}, 1, 400}, {{0, 9, 9, 0, 9}, 1, 400}}, 1),
       {}},
      {"on a line", make_blobs({{{0}, 1, 400}, {{15}, 1, 400}}, 2), {}},
      {"arcs in each other", arcs(0.05, 500, 1), {}},
      {"a blob in a ring", ring_and_blob(1), {}},
      {"along one coordinate", make_blobs({{{0, 0}, 1, 400}, {{30, 0}, 1, 400}}, 2), {}},
      {"far from the origin", changed(three_blobs(2), [](double x, std::size_t) { return x + 1e6; }), {}},
      {"long",
       changed(make_blobs({{{0, 0}, 1, 400}, {{0, 10}, 1, 400}}, 2),
               [](double x, std::size_t axis) { return axis == 0 ? 4 * x : x; }),
       {}},
      {"rounded much finer than eps",
       changed(three_blobs(), [](double x, std::size_t) { return std::round(100 * x) / 100; }),
       {}},
      {"in a little noise", with_noise(three_blobs(), 40, -5, 15), {}},
  };
  for (const Case& c : cases) check_doubts(c);
}

TEST_CASE("doubts: of coordinates, at their limits") {
  const auto doubts = [](const std::vector<double>& x, std::size_t dims, double eps) {
    return doubts_of_points({std::span<const double>(x), dims}, SeenAt{eps, eps});
  };
  CHECK(doubts({}, 2, 1).empty());
  CHECK(doubts({1, 2}, 2, 1).empty());
  // At least one point in twenty equals another.
  std::vector<double> few(200);
  Random random(1);
  for (double& v : few) v = random.unit();
  for (std::size_t i = 0; i < 5; ++i) few[2 * i] = few[2 * i + 1];
  CHECK(doubts(few, 1, 1).empty());
  few[10] = few[11];
  CHECK(doubts(few, 1, 1) == Doubts{Doubt::duplicates});
  few[0] = 0.0;
  few[1] = -0.0;  // equals 0.0
  CHECK(doubts(few, 1, 1) == Doubts{Doubt::duplicates});
  // Points lie on a lattice with steps of 0.1, up to the rounding of float64.
  std::vector<double> lattice(400);
  for (std::size_t i = 0; i < lattice.size(); ++i) lattice[i] = 0.1 * static_cast<double>(random.below(60));
  CHECK(doubts(lattice, 1, 0.39) == Doubts{Doubt::duplicates, Doubt::quantised});
  CHECK(doubts(lattice, 1, 0.41) == Doubts{Doubt::duplicates});
  CHECK(doubts_of_points({std::span<const double>(lattice), 1}, std::nullopt) == Doubts{Doubt::duplicates});
  // A constant column is not a lattice.
  std::vector<double> constant(400);
  for (std::size_t i = 0; i < constant.size(); i += 2) constant[i] = random.unit();
  CHECK(doubts(constant, 2, 1e-9) == Doubts{Doubt::one_axis_rules});
}

}  // namespace
}  // namespace epsflow::test
