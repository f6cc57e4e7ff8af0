#include <epsflow/index/nearest.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/cancelling.hpp"
#include "support/catch.hpp"
#include "support/random_points.hpp"
#include "support/random_spaces.hpp"
#include "support/space_oracle.hpp"

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/space.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

std::vector<double> oracle_sums(const Space& space, PointsView points, const std::vector<std::uint32_t>& ks) {
  test::SpaceOracle oracle(space, points);
  const std::uint32_t most = *std::max_element(ks.begin(), ks.end());
  std::vector<double> sums;
  std::vector<double> others;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::span<const double> all = oracle.sums(i);
    others.assign(all.begin(), all.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    std::partial_sort(others.begin(), others.begin() + most, others.end());
    for (const std::uint32_t k : ks) sums.push_back(others[k - 1]);
  }
  return sums;
}

std::vector<double> found_sums(const Space& space, PointsView points, const std::vector<std::uint32_t>& ks) {
  std::vector<double> sums(points.size() * ks.size(), -1);
  nearest_sums(points, space, ks, sums.data(), {});
  return sums;
}

/// Compares the lists of all positions with the sums of all pairs.
void check_lists(const Space& space, PointsView points, std::size_t length) {
  const LeafOrder leaves(points, {});
  std::vector<std::uint32_t> lists(points.size() * length, ~0U);
  nearest_lists(leaves, space, length, lists.data(), {});
  test::SpaceOracle oracle(space, points);
  for (std::uint32_t p = 0; p < points.size(); ++p) {
    const std::span<const double> all = oracle.sums(leaves.order()[p]);
    std::vector<double> listed;
    std::set<std::uint32_t> named;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint32_t q = lists[p * length + i];
      REQUIRE(q < points.size());
      if (q == p) {  // all other sums are infinite
        listed.push_back(std::numeric_limits<double>::infinity());
        continue;
      }
      REQUIRE(named.insert(q).second);
      listed.push_back(all[leaves.order()[q]]);
    }
    std::vector<double> nearest(all.begin(), all.end());
    nearest.erase(nearest.begin() + leaves.order()[p]);
    std::sort(nearest.begin(), nearest.end());
    nearest.resize(length);
    REQUIRE(listed == nearest);
  }
}

/// Returns some numbers below n, mostly small ones.
std::vector<std::uint32_t> some_ks(std::size_t n, Random& random) {
  std::vector<std::uint32_t> ks;
  const std::size_t count = 1 + random.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t most = std::min<std::uint64_t>(n - 1, random.pick<std::uint64_t>({4, 8, 16, 60, n}));
    ks.push_back(static_cast<std::uint32_t>(1 + random.below(most)));
  }
  return ks;
}

TEST_CASE("nearest: sums are those of all pairs, on data of every kind") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const DataSet data = test::random_data(seed, 400);
    if (data.size() < 2) continue;
    const auto ks = some_ks(data.size(), random);
    INFO("seed " << seed << ", " << test::describe(data) << ", k " << ks.front());
    REQUIRE(found_sums({}, data.view(), ks) == oracle_sums({}, data.view(), ks));
  }
}

TEST_CASE("nearest: lists name the points of the smallest sums, nearest first") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const DataSet data = test::random_data(seed, 300);
    if (data.size() < 2) continue;
    const auto ks = some_ks(data.size(), random);
    INFO("seed " << seed << ", " << test::describe(data) << ", k " << ks.front());
    check_lists({}, data.view(), ks.front());
  }
  for (const std::string kind : {"clustered", "duplicates", "all equal", "outlier 1e300"}) {
    const DataSet data = test::make_data(kind, 700, 2, Precision::float64, 5);
    check_lists({}, data.view(), 4);
    check_lists({}, data.view(), 14);
    check_lists({.norm = Norm::manhattan}, data.view(), 40);
  }
}

TEST_CASE("nearest: many points, whose curve goes on within single numbers") {
  for (const std::string kind : {"clustered", "quantised", "duplicates", "outlier 1e300", "log-uniform"}) {
    for (const std::size_t dims : {1, 2, 3, 5}) {
      const DataSet data = test::make_data(kind, 2500, dims, Precision::float64, dims);
      INFO(test::describe(data));
      REQUIRE(found_sums({}, data.view(), {4, 20}) == oracle_sums({}, data.view(), {4, 20}));
    }
  }
}

TEST_CASE("nearest: many dimensions") {
  for (const std::size_t dims : {7, 9, 16, 40}) {
    for (const std::string kind : {"uniform", "clustered", "quantised", "all equal"}) {
      const DataSet data = test::make_data(kind, 500, dims, Precision::float32, dims);
      INFO(test::describe(data));
      REQUIRE(found_sums({}, data.view(), {1, 5}) == oracle_sums({}, data.view(), {1, 5}));
    }
  }
}

TEST_CASE("nearest: other norms and periodic boxes") {
  test::in_random_spaces([](const Space& space, PointsView points, Random& random) {
    const auto ks = some_ks(points.size(), random);
    INFO("k " << ks.front());
    REQUIRE(found_sums(space, points, ks) == oracle_sums(space, points, ks));
  });
}

/// Compares the lowest pairs of the points from `n` on with all pairs. Core sums are any numbers.
void check_mutual_neighbors(const Space& space, PointsView points, std::size_t n, std::uint32_t k, Random& random) {
  std::vector<double> core(n);
  test::SpaceOracle oracle(space, points);
  for (std::size_t i = 0; i < n; ++i) core[i] = oracle.sums(i)[random.below(points.size())];
  const auto found = mutual_neighbors(points.rows(0, n), core, k, points.rows(n, points.size()), space, {});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto sums = oracle.sums(n + i).first(n);
    std::vector<double> sorted(sums.begin(), sums.end());
    std::sort(sorted.begin(), sorted.end());
    const double own = k > 0 ? sorted[k - 1] : 0;
    const auto pair = [&](std::uint32_t id) {
      std::vector<double> row;
      for (std::size_t d = 0; d < points.dims(); ++d) row.push_back(points.at(id, d));
      return std::tuple(std::max({own, core[id], sums[id]}), sums[id], row, id);
    };
    std::uint32_t lowest = 0;
    for (std::uint32_t id = 1; id < n; ++id) {
      if (pair(id) < pair(lowest)) lowest = id;
    }
    REQUIRE(found[i].id == lowest);
    REQUIRE(found[i].height == std::get<0>(pair(lowest)));
  }
}

TEST_CASE("nearest: new points have the lowest pairs of all, ties included") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::string kind = random.pick<std::string>({"uniform", "clustered", "quantised", "duplicates", "all equal"});
    const DataSet data = test::make_data(kind, 2 + random.below(500), 1 + random.below(6), Precision::float64, seed);
    const std::size_t n = 1 + random.below(data.size() - 1);
    const Norm norm = random.pick<Norm>({Norm::euclidean, Norm::manhattan, Norm::chebyshev});
    const auto k = static_cast<std::uint32_t>(random.below(std::min<std::size_t>(n, 30) + 1));
    INFO("seed " << seed << ", " << test::describe(data) << ", " << n << " known, k " << k);
    check_mutual_neighbors({.norm = norm}, data.view(), n, k, random);
  }
  const std::vector<double> far{0, 1e300};
  const auto found = mutual_neighbors(PointsView(std::span(far).first(1), 1), std::vector<double>{0}, 1,
                                      PointsView(std::span(far).last(1), 1), {}, {});
  REQUIRE(std::isinf(found[0].height));
  REQUIRE(found[0].id == MutualNeighbor::kNone);
}

TEST_CASE("nearest: no points") { REQUIRE(found_sums({}, PointsView(std::span<const double>(), 2), {1}).empty()); }

TEST_CASE("nearest: a cancellation ends the search at once, also of one range of leaves") {
  const DataSet data = test::make_data("uniform", 1000, 512, Precision::float64, 1);
  std::vector<double> sums(data.size());
  const std::vector<std::uint32_t> ks{40};
  REQUIRE(test::share_after_cancel(
              [&](const CancelToken& cancel) { nearest_sums(data.view(), {}, ks, sums.data(), cancel); }) < 0.1);
}

}  // namespace
}  // namespace epsflow::index
