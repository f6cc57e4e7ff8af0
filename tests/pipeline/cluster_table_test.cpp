// If the input is a table of neighbours or a matrix of distances, the labels equal the labels of its points.
#include <epsflow/pipeline/cluster_table.hpp>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/core_check.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/pipeline/sweep.hpp>

namespace epsflow::test {
namespace {

/// A table that a test may damage.
struct Rows {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> ids;
  std::vector<double> distances;

  [[nodiscard]] NeighborsView view() const { return {offsets, ids, distances}; }
};

/// The distances are 1 between 0 and 1, 2 between 1 and 2, and 3 between 0 and 2. Point 3 has no neighbour.
Rows four() { return {{0, 3, 6, 9, 10}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 3}, {0, 1, 3, 1, 0, 2, 3, 2, 0, 0}}; }

/// Checks that clustering the table throws an E whose text contains every part.
template <class E = UsageError>
void check_refused(std::initializer_list<std::string_view> parts, const NeighborsView& table, const Sweep& sweep,
                   const TableRun& options = {}, const EngineOptions& engine = {}) {
  check_error<E>(parts, [&] { (void)cluster(table, sweep, options, engine); });
}

TEST_CASE("cluster table: a table that says its eps is refused for what it does not know") {
  const Rows rows = four();
  NeighborsView table = rows.view();
  table.eps = 3;
  std::vector<double> seen;  // results arrive one by one, so an error at a later eps does not lose earlier ones
  const auto take = [&](VariantResult&& result) {
    seen.push_back(result.variant.eps);
    throw ResourceError("no room");
  };
  CHECK_THROWS_AS(cluster_each(table, grid({1, 3}, {2}), take), ResourceError);
  CHECK(seen == std::vector<double>{3});
  CHECK(cluster(table, grid({3, 1}, {2})).size() == 2);
  check_refused({"within 3", "eps 3.5 is larger", "make it with that eps"}, table, grid({1, 3.5}, {2}));
  table.distances = {};
  CHECK(cluster(table, grid({3}, {2})).front().summary.clusters == 1);
  check_refused({"within 3", "no distances", "eps 1", "with distances"}, table, grid({1}, {2}));
  check_refused({"eps 4 is larger"}, table, grid({4}, {2}));
  table.eps = 0;  // eps is not known
  CHECK(cluster(table, grid({1}, {2})).front().summary.clusters == 1);
}

TEST_CASE("cluster table: a table with distances gives the labels of its points, for every eps below its own") {
  Random random(20);
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const DataSet data = make_data(seed % 2 == 0 ? "clustered" : "uniform", 1 + random.below(600), 1 + seed % 5,
                                   seed % 3 == 0 ? Precision::float32 : Precision::float64, seed);
    const double eps = searchable(make_eps(data, random));
    INFO("seed " << seed << ", " << describe(data) << ", eps " << eps);
    const Sweep sweep = grid({eps, searchable(eps * 0.7), searchable(eps * 0.2)}, {1, 2, 4, 9, 40});
    const Neighbors table = neighbors(data.view(), eps, Distances::include);
    // If a distance was rounded to exactly an eps, the table differs from the points.
    bool rounded = false;
    for (const Variant& v : sweep.variants()) {
      const OracleTable oracle = data.oracle(v.eps);
      for (std::size_t i = 0; i < data.size(); ++i) {
        std::size_t within = 0;
        for (std::uint64_t at = table.offsets[i]; at < table.offsets[i + 1]; ++at)
          within += table.distances[at] <= v.eps;
        rounded = rounded || within != oracle.rows[i].size();
      }
    }
    if (rounded) continue;
    ++compared;
    const TableRun masked{.core_mask = true};
    check_same(cluster(table.view(), sweep, masked, {.threads = 3}),
               run(data.view(), sweep, {.threads = 2}, {.core_mask = true}));
  }
  CHECK(compared > 20);
}

TEST_CASE("cluster table: without distances every entry is a neighbour") {
  const DataSet data = make_data("clustered", 900, 2, Precision::float64, 4);
  const Neighbors table = neighbors(data.view(), data.scale);
  const Sweep sweep = grid({data.scale}, {3, 1, 20, 7});
  check_same(cluster(table.view(), sweep, {.core_mask = true}), run(data.view(), sweep, {}, {.core_mask = true}));
  check_refused({"no distances", "2 eps", "give the distances, or one eps"}, table.view(), grid({0.1, 0.2}, {4}));
}

TEST_CASE("cluster table: weights are summed in place of neighbours") {
  const DataSet data = make_data("clustered", 500, 3, Precision::float64, 6);
  Random random(3);
  std::vector<double> weights(data.size());
  for (double& w : weights) w = static_cast<double>(random.below(64)) / 8 - 1;
  const Sweep sweep = grid({data.scale}, {1, 3, 10, 60});
  const Neighbors table = neighbors(data.view(), data.scale);
  const Dataset loaded = Engine({.threads = 2}).load(data.view());
  check_same(cluster(table.view(), sweep, {.weights = weights, .core_mask = true}),
             run(loaded.weighted(weights), sweep, {.core_mask = true}));
  const std::vector<double> few(3, 1.0);
  check_refused({"500 rows", "3 weights", "one for each"}, table.view(), sweep, {.weights = few});
  weights[7] = std::nan("");
  check_refused({"weight of point 7", "nan"}, table.view(), sweep, {.weights = weights});
}

TEST_CASE("cluster table: a matrix of distances becomes the table of its points") {
  const DataSet data = make_data("clustered", 300, 2, Precision::float64, 8);
  const Neighbors expected = neighbors(data.view(), data.scale * 10, Distances::include);
  std::vector<double> matrix(data.size() * data.size(), data.scale * 100);
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::uint64_t at = expected.offsets[i]; at < expected.offsets[i + 1]; ++at) {
      matrix[i * data.size() + expected.ids[at]] = expected.distances[at];
    }
  }
  const std::span<const double> view(matrix);
  const std::size_t n = data.size();
  const Neighbors table = neighbors_of_distances(view, n, data.scale * 10, {.threads = 3});
  CHECK(std::ranges::equal(table.offsets.span(), expected.offsets.span()));
  CHECK(std::ranges::equal(table.ids.span(), expected.ids.span()));
  CHECK(std::ranges::equal(table.distances.span(), expected.distances.span()));
  CHECK(neighbors_of_distances(std::span<const double>(), 0, 1.0).size() == 0);
  // If a point is not within eps of itself, it does not count itself.
  const std::vector<double> odd{3, 1, 1, 3};
  const Neighbors far = neighbors_of_distances(std::span<const double>(odd), 2, 1.0);
  CHECK(cluster(far.view(), grid({1}, {1})).front().labels == std::vector<std::int32_t>{0, 0});
  CHECK(cluster(far.view(), grid({1}, {2})).front().labels == std::vector<std::int32_t>{-1, -1});
  matrix[5 * data.size() + 2] = -1;
  matrix[9 * data.size()] = std::nan("");
  check_error<InputError>({"row 5", "the distance -1", "point 2", "at least 0"},
                          [&] { (void)neighbors_of_distances(view, n, 1.0); });
  check_error<UsageError>({"for each pair", "90,000", "299 points"},
                          [&] { (void)neighbors_of_distances(view, n - 1, 1.0); });
  check_error<ResourceError>({"the matrix of distances", "EngineOptions::memory"},
                             [&] { (void)neighbors_of_distances(view, n, 1.0, {.memory = 100'000}); });
}

TEST_CASE("cluster table: distances of float32 are compared with an eps of float32 where that is asked for") {
  const std::vector<float> matrix{0, 0.3F, 0.3F, 0};  // slightly more than 0.3
  const Sweep sweep = grid({0.3}, {2});
  const Neighbors table = neighbors_of_distances(std::span<const float>(matrix), 2, 0.3F);
  CHECK(cluster(table.view(), sweep).front().labels == std::vector<std::int32_t>{-1, -1});
  const auto rounded = cluster(table.view(), sweep, {.float32_eps = true});
  CHECK(rounded.front().labels == std::vector<std::int32_t>{0, 0});
  CHECK(rounded.front().variant.eps == 0.3);
}

TEST_CASE("cluster table: what is no table of neighbours is refused by its row") {
  const Sweep sweep = grid({2.5}, {2});
  CHECK(cluster(four().view(), sweep).front().labels == std::vector<std::int32_t>{0, 0, 0, -1});
  const auto refused = [&](std::initializer_list<std::string_view> parts, const auto& damage) {
    Rows rows = four();
    damage(rows);
    check_refused<InputError>(parts, rows.view(), sweep);
  };
  refused({"row 0", "point 4", "there are 4"}, [](Rows& rows) { rows.ids[1] = 4; });
  refused({"row 1", "1 after 2", "sort each row"}, [](Rows& rows) { std::swap(rows.ids[4], rows.ids[5]); });
  refused({"row 3", "lacks the point itself"}, [](Rows& rows) { rows.ids[9] = 0; });
  for (const double bad : {-1.0, std::nan(""), -std::numeric_limits<double>::infinity()}) {
    refused({"row 2", "to point 1", "at least 0"}, [&](Rows& rows) { rows.distances[7] = bad; });
  }
  refused({"offsets of the table must begin with 0"}, [](Rows& rows) { rows.offsets[0] = 1; });
  refused({"offsets", "10"}, [](Rows& rows) { rows.offsets[4] = 9; });
  refused({"offsets", "row 1", "ascend"}, [](Rows& rows) { std::swap(rows.offsets[1], rows.offsets[2]); });
  refused({"10 entries", "9 distances"}, [](Rows& rows) { rows.distances.pop_back(); });
}

TEST_CASE("cluster table: rows that are not symmetric are refused where an eps tells them apart") {
  Rows rows = four();
  rows.distances[2] = 4;  // the entry for 0 to 2; the one for 2 to 0 is 3
  for (const double eps : {3.0, 3.5}) {
    check_refused<InputError>({"row 0", "point 2 at the distance 4", "row 2", "at the distance 3", "symmetric"},
                              rows.view(), grid({1.5, eps}, {2}));
  }
  for (const double eps : {2.9, 4.0, 9.0}) CHECK_NOTHROW(cluster(rows.view(), grid({eps}, {2})));
  rows = {{0, 2, 3}, {0, 1, 1}, {}};
  check_refused<InputError>({"row 0 of the table has point 1", "row 1 does not have point 0"}, rows.view(),
                            grid({1}, {1}));
}

TEST_CASE("cluster table: along rows that are not symmetric clusters grow as scikit-learn's, where that is asked for") {
  // 0 has 1 as a neighbour, but not the reverse. 2 and 3 are neighbours of each other, and 3 has 1.
  const Rows rows{{0, 2, 3, 5, 8}, {0, 1, 1, 2, 3, 1, 2, 3}, {}};
  const auto labels = [&](std::uint32_t minpts) {
    return cluster(rows.view(), grid({1}, {minpts}), {.directed = true}).front().labels;
  };
  CHECK(labels(1) == std::vector<std::int32_t>{0, 0, 1, 1});
  CHECK(labels(2) == std::vector<std::int32_t>{0, 0, 1, 1});
  CHECK(labels(3) == std::vector<std::int32_t>{-1, 0, 0, 0});
  CHECK(labels(4) == std::vector<std::int32_t>{-1, -1, -1, -1});
  const auto results = cluster(rows.view(), grid({1}, {2, 3}), {.core_mask = true, .directed = true});
  CHECK(results[0].core == std::vector<std::uint8_t>{1, 0, 1, 1});
  CHECK(results[0].summary == LabelSummary{.clusters = 2, .noise = 0, .core = 3, .border = 1, .largest = 2});
  CHECK(results[1].summary == LabelSummary{.clusters = 1, .noise = 1, .core = 1, .border = 2, .largest = 3});
  // Symmetric rows give the usual labels.
  const auto usual = grid({1.5, 2.5}, {2});
  CHECK(cluster(four().view(), usual, {.directed = true})[1].labels == cluster(four().view(), usual)[1].labels);
}

TEST_CASE("cluster table: no rows, options of a GPU, memory, and cancelling") {
  CHECK(cluster({}, grid({1}, {1})).front().labels.empty());
  const Rows rows = four();
  CHECK(cluster(rows.view(), Sweep()).empty());
  for (const EngineOptions& on_gpu : {EngineOptions{.backend = BackendChoice::gpu}, EngineOptions{.gpu = 0}}) {
    check_refused({"cluster()", "CPU", "EngineOptions::gpu"}, rows.view(), grid({1}, {1}), {}, on_gpu);
  }
  for (const unsigned threads : {4097U, std::numeric_limits<unsigned>::max()}) {
    check_refused({"EngineOptions::threads is", "4,096"}, rows.view(), grid({1}, {1}), {}, {.threads = threads});
  }
  check_refused<ResourceError>({"the table", "EngineOptions::memory"}, rows.view(), grid({1}, {1}), {},
                               {.memory = 100});
  CHECK_THROWS_AS(cluster(rows.view(), grid({1}, {1}), {}, {}, cancelled()), Cancelled);
}

}  // namespace
}  // namespace epsflow::test
