#include <epsflow/index/rounded_points.hpp>

// The setting equals the library's, so that every instruction set compiled there can be selected here.
#include <epsflow/index/instruction_sets.hpp>
// Must come before any header of Highway.
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/oracle.hpp"
#include "support/random_points.hpp"

#include <epsflow/index/row_search.hpp>
#include <epsflow/index/tile_frame.hpp>

namespace epsflow::index {
namespace {

using test::DataSet;
using test::Random;

/// Holds the points in their own order, column by column.
struct Columns {
  explicit Columns(const DataSet& data) {
    const std::size_t n = data.size();
    for (std::size_t k = 0; k < data.dims; ++k) {
      memory.emplace_back(n * bytes_of(data.precision));
      for (std::size_t i = 0; i < n; ++i) {
        if (data.precision == Precision::float32) {
          reinterpret_cast<float*>(memory.back().data())[i] = data.floats[i * data.dims + k];
        } else {
          reinterpret_cast<double*>(memory.back().data())[i] = data.doubles[i * data.dims + k];
        }
      }
      pointers.push_back(memory.back().data());
    }
  }

  std::vector<Buffer<std::byte>> memory;
  std::vector<const void*> pointers;
};

struct Outcome {
  bool rounded = false;
  bool exact = false;
  std::uint64_t undecided_pairs = 0;
  std::uint64_t pairs = 0;
};

/// Compares all rows with all points, and some rows with parts of them, pair by pair with the oracle.
Outcome check(const DataSet& data, double eps, Random& random) {
  INFO(test::describe(data) << ", eps " << eps << ", " << RowSearch::instruction_set());
  const Columns columns(data);
  const auto n = static_cast<std::uint32_t>(data.size());
  const RowSearch search(columns.pointers, n, data.precision, eps);
  const auto rows = data.oracle(eps).rows;
  Outcome outcome;
  for (const bool whole : {true, false}) {
    Range some{0, n};
    std::vector<Range> candidates{{0, n}};
    if (!whole) {
      some.begin = static_cast<std::uint32_t>(random.below(n));
      some.end = some.begin + static_cast<std::uint32_t>(random.below(n - some.begin + 1));
      const auto cut = static_cast<std::uint32_t>(random.below(n));
      candidates = {{0, cut}, {std::min(n, cut + 1 + static_cast<std::uint32_t>(random.below(20))), n}};
      std::erase_if(candidates, [](const Range& range) { return range.begin >= range.end; });
    }
    std::vector<std::uint32_t> expected;
    std::vector<std::uint32_t> expected_counts;
    for (std::uint32_t row = some.begin; row < some.end; ++row) {
      const std::size_t before = expected.size();
      for (const std::uint32_t q : rows[row]) {
        for (const Range& range : candidates) {
          if (q >= range.begin && q < range.end) expected.push_back(q);
        }
      }
      expected_counts.push_back(static_cast<std::uint32_t>(expected.size() - before));
    }
    std::vector<std::uint32_t> ids(expected.size() + RowSearch::kSlack);
    std::vector<std::uint32_t> counts(some.size());
    REQUIRE(search.ids(some, candidates, ids.data(), expected.size(), counts.data()) == expected.size());
    if (whole) outcome.undecided_pairs = search.undecided_pairs();
    ids.resize(expected.size());
    REQUIRE(ids == expected);
    REQUIRE(counts == expected_counts);
    std::fill(counts.begin(), counts.end(), 0U);
    search.count(some, candidates, counts.data());
    REQUIRE(counts == expected_counts);
    if (whole) outcome.pairs = expected.size();
  }
  outcome.rounded = search.input().rounded != nullptr;
  outcome.exact = outcome.rounded && search.input().rounded->exact();
  return outcome;
}

constexpr std::size_t kDims[] = {7, 9, 18, 65, 129};

/// Calls f(dims, precision, random) for all combinations, on every instruction set.
template <class F>
void for_each_case(F f) {
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  std::uint64_t seed = 4000;
  for (std::int64_t targets = supported; targets != 0; targets &= targets - 1) {
    hwy::SetSupportedTargetsForTest(targets & -targets);
    for (const std::size_t dims : kDims) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        INFO("seed " << seed);
        Random random(seed++);
        f(dims, precision, random);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

DataSet from(std::vector<double> values, std::size_t dims, Precision precision) {
  DataSet data{.kind = "made here", .dims = dims, .precision = precision};
  if (precision == Precision::float32) data.floats.assign(values.begin(), values.end());
  if (precision == Precision::float64) data.doubles = std::move(values);
  return data;
}

TEST_CASE("rounded points: every kind of data, pair by pair") {
  std::uint64_t undecided_pairs = 0;
  std::uint64_t pairs = 0;
  for_each_case([&](std::size_t dims, Precision precision, Random& random) {
    for (const std::string& kind : test::data_kinds()) {
      const DataSet data = test::make_data(kind, 60 + random.below(90), dims, precision, random.bits());
      for (int i = 0; i < 3; ++i) {
        const Outcome outcome = check(data, test::make_eps(data, random), random);
        undecided_pairs += outcome.undecided_pairs;
        pairs += outcome.pairs;
      }
    }
  });
  CHECK(undecided_pairs > 0);
  CHECK(pairs > undecided_pairs);
}

TEST_CASE("rounded points: clusters leave little open, at any magnitude") {
  for_each_case([](std::size_t dims, Precision precision, Random& random) {
    for (const double magnitude : {1.0, 1e30, 1e-30}) {
      std::vector<double> values;
      for (std::size_t i = 0; i < 211 * dims; ++i) {
        values.push_back(magnitude * (static_cast<double>(i / dims % 3) + 0.3 * random.bell()));
      }
      const DataSet data = from(std::move(values), dims, precision);
      const Outcome outcome = check(data, magnitude * 0.42 * std::sqrt(static_cast<double>(dims)), random);
      CHECK(outcome.rounded);
      CHECK_FALSE(outcome.exact);
      CHECK(outcome.undecided_pairs * 1000 < 211 * 211);
    }
  });
}

TEST_CASE("rounded points: of multiples of one number nothing is open, ties included") {
  for_each_case([](std::size_t dims, Precision precision, Random& random) {
    for (const double unit : {1.0, 0.125, 0x1p-100, 0x1p90}) {
      std::vector<double> values;
      for (std::size_t i = 0; i < 173 * dims; ++i) {
        values.push_back(unit * (1e5 + static_cast<double>(random.below(dims > 60 ? 2 : 5))));
      }
      const DataSet data = from(std::move(values), dims, precision);
      // The radius is the exact distance of a pair; its float64 neighbours follow.
      const double eps = std::sqrt(data.squared_distance(1, 2));
      for (const double e : {eps, std::nextafter(eps, 0.0), std::nextafter(eps, 1e308)}) {
        const Outcome outcome = check(data, e, random);
        CHECK(outcome.exact);
        CHECK(outcome.undecided_pairs == 0);
      }
    }
  });
}

TEST_CASE("rounded points: pairs planted at eps and one unit in the last place beside it") {
  for_each_case([](std::size_t dims, Precision precision, Random& random) {
    const double eps = 0.7;
    std::vector<double> values;
    for (int i = 0; i < 60; ++i) {
      // The second point lies in a random direction. Its last coordinate is chosen to come as close to eps as possible.
      std::vector<double> p(dims);
      for (double& x : p) x = random.uniform(-1, 1);
      std::vector<double> q = p;
      double left = eps * eps;
      for (std::size_t k = 0; k + 1 < dims; ++k) {
        const double step = random.uniform(-0.5, 0.5) * std::sqrt(left);
        q[k] += step;
        left -= (q[k] - p[k]) * (q[k] - p[k]);
      }
      q.back() += std::sqrt(left);
      values.insert(values.end(), p.begin(), p.end());
      for (const double to : {-10.0, 10.0}) {
        std::vector<double> beside = q;
        beside.back() = std::nextafter(q.back(), to);
        values.insert(values.end(), beside.begin(), beside.end());
      }
      values.insert(values.end(), q.begin(), q.end());
    }
    const DataSet data = from(std::move(values), dims, precision);
    for (const double e : {eps, std::nextafter(eps, 0.0), std::nextafter(eps, 1.0)}) {
      const Outcome outcome = check(data, e, random);
      CHECK(outcome.rounded);
      if (precision == Precision::float64) CHECK(outcome.undecided_pairs >= 2 * 60 * 3);
    }
  });
}

TEST_CASE("rounded points: far from the centre by eps' measure, all points equal, a far outlier") {
  for_each_case([](std::size_t dims, Precision precision, Random& random) {
    std::vector<double> values;
    for (std::size_t i = 0; i < 150 * dims; ++i) values.push_back(random.uniform(0, 1e6));
    for (std::size_t i = 75 * dims; i < 150 * dims; ++i) values[i] = values[i - 75 * dims] + 0.3 * random.bell();
    CHECK_FALSE(check(from(values, dims, precision), 1, random).rounded);

    CHECK(check(from(std::vector<double>(90 * dims, 0.1), dims, precision), 1e-3, random).undecided_pairs == 0);

    // The other points keep their frame, and only pairs with the outlier are undecided.
    for (double& v : values) v = random.uniform(0, 1);
    values[3] = precision == Precision::float32 ? 1e38 : 1e300;
    const Outcome outcome = check(from(values, dims, precision), 0.3 * std::sqrt(static_cast<double>(dims)), random);
    CHECK(outcome.rounded);
    CHECK(outcome.undecided_pairs < 2 * 150 + 150);
  });
}

TEST_CASE("rounded points: extreme radii are left to float64, and so are few dimensions") {
  Random random(1);
  for (const double eps : {1e-141, 1e141, 1e-300, 1e300}) {
    CHECK_FALSE(check(test::make_data("uniform", 50, 9, Precision::float64, 3), eps, random).rounded);
  }
  CHECK_FALSE(check(test::make_data("uniform", 50, 6, Precision::float64, 3), 1, random).rounded);
  CHECK(RoundedPoints().empty());
}

TEST_CASE("tile frame: thresholds are on the safe side of the distances they stand for") {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    // Two points on a line through the centre, `apart` from each other, are rounded by up to r, their product by 2 e.
    const double eps = random.uniform(1, 2);
    const double p = random.uniform(-1, 1) * std::pow(2.0, random.uniform(-3, 8));
    const double side = random.chance(0.5) ? 1 : -1;
    const double apart = eps * (1 + side * std::pow(2.0, random.uniform(-30, 0)));
    const double r = random.uniform(0, 1) * std::pow(2.0, random.uniform(-30, -2));
    const double p_near = p + r * random.uniform(-1, 1);
    const double q_near = p + apart + r * random.uniform(-1, 1);
    const double e = std::pow(2.0, random.uniform(-40, -5));
    const float product = static_cast<float>(p_near * q_near + 1.9 * e * random.uniform(-1, 1));
    const PairThresholds a = pair_thresholds(p_near * p_near, e + 0x1p-23 * p * p, r, eps);
    const PairThresholds b = pair_thresholds(q_near * q_near, e + 0x1p-23 * q_near * q_near, r, eps);
    INFO("eps " << eps << ", p " << p << ", apart " << apart << ", r " << r << ", e " << e);
    if (product < a.reject + b.reject) REQUIRE(apart > eps);
    if (product >= a.accept + b.accept) REQUIRE(apart <= eps);
    REQUIRE(a.reject <= a.accept);
  }
  const PairThresholds blunt = pair_thresholds(1, 0, 0.8, 1.5);
  CHECK(blunt.accept == std::numeric_limits<float>::infinity());
  CHECK(round_down(0.1) < 0.1);
  CHECK(round_up(0.1) > 0.1);
  CHECK(round_down(0.25) == 0.25F);
  CHECK(always_open().reject == -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace epsflow::index
