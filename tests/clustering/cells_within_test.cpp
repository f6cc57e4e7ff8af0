#include <epsflow/clustering/cells_within.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"
#include "support/watchdog.hpp"

namespace epsflow::clustering {
namespace {

using test::DataSet;
using test::Random;

constexpr std::uint32_t kMinpts = 3;

/// Two sets, first a and then b, of one data set, column by column as an index stores them.
class TwoSets {
 public:
  TwoSets(const DataSet& data, std::uint32_t size_a, std::vector<std::uint32_t> counts)
      : data_(data), size_a_(size_a), counts_(std::move(counts)), floats_(data.dims), doubles_(data.dims) {
    for (std::size_t k = 0; k < data.dims; ++k) {
      for (std::size_t i = 0; i < data.size(); ++i) {
        if (data.precision == Precision::float32) {
          floats_[k].push_back(data.floats[i * data.dims + k]);
        } else {
          doubles_[k].push_back(data.doubles[i * data.dims + k]);
        }
      }
      columns_.push_back(data.precision == Precision::float32 ? static_cast<const void*>(floats_[k].data())
                                                              : doubles_[k].data());
    }
  }
  TwoSets(const DataSet& data, std::uint32_t size_a)
      : TwoSets(data, size_a, std::vector<std::uint32_t>(data.size(), kMinpts)) {}

  [[nodiscard]] bool bisected(double eps) const {
    const bool within = one_way(eps, a(), b());
    CHECK(one_way(eps, b(), a()) == within);
    return within;
  }
  [[nodiscard]] bool one_way(double eps, Range from, Range to) const {
    const index::SearchInput in{columns_.data(), data_.dims, data_.precision, eps * eps};
    return any_core_within(in, from, to, counts_.data(), kMinpts);
  }
  [[nodiscard]] Range a() const { return {0, size_a_}; }
  [[nodiscard]] Range b() const { return {size_a_, static_cast<std::uint32_t>(data_.size())}; }
  [[nodiscard]] bool pair_by_pair(double eps) const { return smallest() <= eps * eps; }
  /// Returns the smallest squared distance of two core points, or infinity if there is no such pair.
  [[nodiscard]] double smallest() const {
    double least = std::numeric_limits<double>::infinity();
    bool any = false;
    for (std::size_t i = 0; i < size_a_; ++i) {
      for (std::size_t j = size_a_; j < data_.size(); ++j) {
        if (counts_[i] < kMinpts || counts_[j] < kMinpts) continue;
        any = true;
        least = std::min(least, data_.squared_distance(i, j));
      }
    }
    return any ? least : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  const DataSet& data_;
  std::uint32_t size_a_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::vector<float>> floats_;
  std::vector<std::vector<double>> doubles_;
  std::vector<const void*> columns_;
};

TEST_CASE("cells within: what all pairs say, on random data") {
  std::size_t yes = 0;
  std::size_t no = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const DataSet data =
        test::make_data(test::data_kinds()[seed % test::data_kinds().size()], random.below(400), 1 + random.below(3),
                        random.chance(0.4) ? Precision::float32 : Precision::float64, seed);
    INFO(test::describe(data));
    // Few points are core. Thus many pairs within eps do not count.
    std::vector<std::uint32_t> counts(data.size());
    const double share = random.pick(std::vector<double>{0.02, 0.3, 1.0});
    for (std::uint32_t& count : counts) count = random.chance(share) ? kMinpts : kMinpts - 1;
    const auto size_a = static_cast<std::uint32_t>(random.below(data.size() + 1));
    const TwoSets sets(data, size_a, counts);
    std::vector<double> eps{test::make_eps(data, random), data.scale * 1e-3};
    // The answer changes at this radius; its float64 neighbours are tested too.
    const double turn = std::sqrt(sets.smallest());
    if (std::isfinite(turn)) eps.insert(eps.end(), {turn, std::nextafter(turn, 0.0), std::nextafter(turn, 1e308)});
    for (const double e : eps) {
      INFO("eps " << e);
      const bool expected = sets.pair_by_pair(e);
      REQUIRE(sets.bisected(e) == expected);
      ++(expected ? yes : no);
    }
  }
  CHECK(yes > 500);
  CHECK(no > 500);
}

TEST_CASE("cells within: sets that are far apart but for one pair, at exactly eps and one step beyond") {
  for (const std::size_t dims : {1U, 2U, 3U}) {
    for (const std::size_t row : {0U, 250U, 499U}) {
      INFO("d " << dims << ", row " << row);
      DataSet data;
      data.dims = dims;
      Random random(dims);
      for (std::size_t i = 0; i < 1000 * dims; ++i) {
        const bool second = i >= 500 * dims;
        data.doubles.push_back((second ? 10 : 0) + random.uniform(0, 4));
      }
      // The sums of 3-4-5 and 2-3-6-7 are exact.
      const std::vector<std::vector<double>> steps{{5}, {3, 4}, {2, 3, 6}};
      const double eps = dims == 3 ? 7 : 5;
      for (std::size_t k = 0; k < dims; ++k) {
        data.doubles[row * dims + k] = 4;
        data.doubles[(500 + 499 - row) * dims + k] = 4 + steps[dims - 1][k];
      }
      const TwoSets sets(data, 500);
      CHECK(sets.smallest() == eps * eps);
      CHECK(sets.bisected(eps));
      CHECK_FALSE(sets.bisected(std::nextafter(eps, 0.0)));
    }
  }
}

TEST_CASE("cells within: equal points on either side") {
  DataSet data;
  data.dims = 2;
  for (int i = 0; i < 1000; ++i) data.doubles.insert(data.doubles.end(), {0.1, 0.2});
  for (int i = 0; i < 3000; ++i) data.doubles.insert(data.doubles.end(), {3.1, 4.2});
  const TwoSets sets(data, 1000);
  const double distance = std::sqrt(sets.smallest());
  for (const double eps : {std::nextafter(distance, 0.0), distance, std::nextafter(distance, 9.0)}) {
    CHECK(sets.bisected(eps) == sets.pair_by_pair(eps));
  }
}

TEST_CASE("cells within: no core point on one side, or no point") {
  DataSet data;
  data.dims = 1;
  data.doubles.assign(2000, 1.0);
  std::vector<std::uint32_t> counts(2000, kMinpts);
  std::fill(counts.begin(), counts.begin() + 1000, kMinpts - 1);
  CHECK_FALSE(TwoSets(data, 1000, counts).bisected(1));
  counts[999] = kMinpts;
  CHECK(TwoSets(data, 1000, counts).bisected(1));
  CHECK_FALSE(TwoSets(data, 0).bisected(1));
  CHECK_FALSE(TwoSets(data, 2000).bisected(1));
}

// ---- Sets of 200,000 points have 4e10 pairs: too many to test one by one before the watchdog aborts. ----

constexpr std::uint32_t kMany = 200'000;

/// Returns two sets of kMany points each: f(set, share of the way from 0 to 1, [out] coordinates).
template <class F>
DataSet two_curves(Precision precision, F f) {
  DataSet data;
  data.dims = 2;
  data.precision = precision;
  for (const int set : {0, 1}) {
    for (std::uint32_t i = 0; i < kMany; ++i) {
      double x = 0;
      double y = 0;
      f(set, (i + 0.5) / kMany, x, y);
      if (precision == Precision::float32) {
        data.floats.insert(data.floats.end(), {static_cast<float>(x), static_cast<float>(y)});
      } else {
        data.doubles.insert(data.doubles.end(), {x, y});
      }
    }
  }
  return data;
}

/// Checks that neither curve is within 1 of the other. Then one point of the second is moved near one of the first.
void check_curves(DataSet data, std::chrono::seconds limit = std::chrono::seconds(30)) {
  {
    const TwoSets sets(data, kMany);
    const test::Watchdog watchdog("two curves that are not within eps", limit);
    CHECK_FALSE(sets.one_way(1, sets.a(), sets.b()));
  }
  const std::size_t from = 123'456;
  const std::size_t to = kMany + 77'777;
  for (std::size_t k = 0; k < 2; ++k) {
    if (data.precision == Precision::float32) {
      data.floats[to * 2 + k] = data.floats[from * 2 + k] + 0.5F;
    } else {
      data.doubles[to * 2 + k] = data.doubles[from * 2 + k] + 0.5;
    }
  }
  const TwoSets sets(data, kMany);
  const test::Watchdog watchdog("two curves with one pair within eps", limit);
  CHECK(sets.one_way(1, sets.b(), sets.a()));
}

/// Returns parallel slanted lines; the bounds of long pieces overlap.
DataSet two_lines(Precision precision, double slack) {
  return two_curves(precision, [&](int set, double t, double& x, double& y) {
    const double away = set * (1 + slack) * std::numbers::sqrt2 / 2;
    x = t * 0.7 + away;
    y = t * 0.7 - away;
  });
}

/// Returns arcs around one centre: every point has one nearest partner, slightly more than 1 away.
DataSet two_arcs(double slack) {
  return two_curves(Precision::float64, [&](int set, double t, double& x, double& y) {
    const double radius = set == 0 ? 1 : 2 + slack;
    const double angle = std::numbers::pi / 4 + (t - 0.5) * (set == 0 ? 0.6 : 0.3);
    x = radius * std::cos(angle);
    y = radius * std::sin(angle);
  });
}

/// Returns a small heap at the centre of an arc: each half of the heap is as near to the arc as the whole.
DataSet heap_and_arc(double slack) {
  return two_curves(Precision::float64, [&](int set, double t, double& x, double& y) {
    const double radius = set == 0 ? slack / 4 : 1 + slack;
    const double angle = set == 0 ? 1e4 * t : std::numbers::pi / 4 + (t - 0.5) * 0.6;
    x = radius * std::cos(angle);
    y = radius * std::sin(angle);
  });
}

TEST_CASE("cells within: long lines and arcs that face each other are decided without all pairs") {
  for (const double slack : {0.1, 0.01, 0.001}) {
    INFO("slack " << slack);
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      check_curves(two_lines(precision, slack));
    }
    check_curves(two_arcs(slack));
    check_curves(heap_and_arc(slack));
  }
  check_curves(heap_and_arc(0.0001));
}

TEST_CASE("cells within: lines and arcs that almost touch are decided without all pairs") {
  // The bounds separate only if pieces are shorter than the slack. Tests in O(n log n) take a tenth of a second. A set
  // times the square root of the other exceeds the limit.
  constexpr std::chrono::seconds kLimit(5);
  check_curves(two_lines(Precision::float64, 1e-6), kLimit);
  check_curves(two_arcs(1e-6), kLimit);
}

}  // namespace
}  // namespace epsflow::clustering
