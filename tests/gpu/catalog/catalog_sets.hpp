// Makes labelled points and compares two catalogues of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

#include <epsflow/catalog/catalog.hpp>
#include <epsflow/core/labels.hpp>

namespace epsflow::test {

struct Set {
  std::size_t dims = 1;
  std::vector<double> x = {};
  std::vector<std::int32_t> labels = {};
  std::vector<std::uint8_t> core = {};
  std::vector<double> weights = {};
  std::vector<double> column = {};

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] PointsView view() const { return {std::span<const double>(x), dims}; }
};

/// Returns n points with labels from −1 to clusters − 1; the first cluster has about half of all. If `whole` is true,
/// coordinates and the column are integers, whose sums are exact.
inline Set random_set(std::size_t n, std::size_t dims, std::int32_t clusters, std::uint64_t seed, bool whole = false) {
  Random random(seed);
  Set set{.dims = dims};
  for (std::size_t i = 0; i < n; ++i) {
    const auto label = clusters == 0 || random.chance(0.2) ? kNoise
                       : random.chance(0.5)
                           ? 0
                           : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(clusters)));
    set.labels.push_back(label);
    set.core.push_back(label >= 0 && random.chance(0.7) ? 1 : 0);
    set.weights.push_back(whole ? static_cast<double>(random.below(4)) : random.uniform(0, 3));
    set.column.push_back(random.chance(0.1) ? std::numeric_limits<double>::quiet_NaN()
                         : whole            ? static_cast<double>(random.below(1000))
                                            : random.bell());
    for (std::size_t k = 0; k < dims; ++k) {
      set.x.push_back(whole ? static_cast<double>(random.below(64)) : random.uniform(-5, 5));
    }
  }
  return set;
}

struct Parts {
  bool core = true;
  bool weights = false;
  bool columns = false;
};

inline Catalog host_catalog(const Set& set, const Metric& metric, Parts parts) {
  std::vector<NamedColumn> columns;
  if (parts.columns) columns = {{"v", set.column}, {"mass", set.column, true}};
  return catalog({.points = set.view(),
                  .metric = metric,
                  .labels = set.labels,
                  .core = parts.core ? std::span<const std::uint8_t>(set.core) : std::span<const std::uint8_t>(),
                  .weights = parts.weights ? std::span<const double>(set.weights) : std::span<const double>(),
                  .columns = columns});
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// scale: values may differ by rounding relative to this size.
inline void require_near(const std::vector<double>& made, const std::vector<double>& expected, double scale) {
  REQUIRE(made.size() == expected.size());
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (std::isnan(expected[k])) {
      REQUIRE(std::isnan(made[k]));
    } else if (made[k] != expected[k]) {
      INFO("entry " << k << ": " << made[k] << " instead of " << expected[k]);
      REQUIRE(std::abs(made[k] - expected[k]) <= 1e-12 * std::max(scale, std::abs(expected[k])));
    }
  }
}

inline void require_equal_counts(const Catalog& made, const Catalog& expected) {
  REQUIRE(made.dims == expected.dims);
  REQUIRE(made.cluster == expected.cluster);
  REQUIRE(made.size == expected.size);
  REQUIRE(made.core == expected.core);
  REQUIRE(made.first_core == expected.first_core);
  REQUIRE(made.slice.empty());
  REQUIRE(made.columns.size() == expected.columns.size());
  for (std::size_t k = 0; k < made.columns.size(); ++k) {
    REQUIRE(made.columns[k].name == expected.columns[k].name);
    REQUIRE(same_bits(made.columns[k].min, expected.columns[k].min));
    REQUIRE(same_bits(made.columns[k].max, expected.columns[k].max));
  }
}

/// scale: the approximate size of the largest coordinate.
inline void require_near(const Catalog& made, const Catalog& expected, double scale) {
  require_equal_counts(made, expected);
  require_near(made.weight, expected.weight, 0);
  require_near(made.center, expected.center, scale);
  require_near(made.spread, expected.spread, scale);
  require_near(made.lower, expected.lower, scale);
  require_near(made.upper, expected.upper, scale);
  require_near(made.radius, expected.radius, scale);
  for (std::size_t k = 0; k < made.columns.size(); ++k) {
    require_near(made.columns[k].mean, expected.columns[k].mean, 1);
    require_near(made.columns[k].sum, expected.columns[k].sum, 100);
  }
}

inline void require_same_bits(const Catalog& a, const Catalog& b) {
  require_equal_counts(a, b);
  REQUIRE(same_bits(a.weight, b.weight));
  REQUIRE(same_bits(a.center, b.center));
  REQUIRE(same_bits(a.spread, b.spread));
  REQUIRE(same_bits(a.lower, b.lower));
  REQUIRE(same_bits(a.upper, b.upper));
  REQUIRE(same_bits(a.radius, b.radius));
  for (std::size_t k = 0; k < a.columns.size(); ++k) {
    REQUIRE(same_bits(a.columns[k].mean, b.columns[k].mean));
    REQUIRE(same_bits(a.columns[k].sum, b.columns[k].sum));
  }
}

}  // namespace epsflow::test
