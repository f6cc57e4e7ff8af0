#include <epsflow/cpu/stored_core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/core_points.hpp"
#include "support/random_points.hpp"

namespace epsflow::cpu {
namespace {

using test::Random;

TEST_CASE("stored core: points near, far and at the borders of cells get the lowest label within eps") {
  std::size_t assigned = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const std::size_t dims = 1 + seed % 6;
    const bool lattice = random.chance(0.5);  // coordinates are multiples of eps / 2
    const double eps = lattice ? 1 : random.uniform(0.05, 1.5);
    const auto value = [&](double from, double to) {
      return lattice ? static_cast<double>(random.below(static_cast<std::uint64_t>(2 * (to - from)))) / 2 + from
                     : random.uniform(from, to);
    };
    std::vector<double> core, others;
    std::vector<std::int32_t> labels;
    for (std::size_t i = 0; i < 150; ++i) {
      for (std::size_t k = 0; k < dims; ++k) core.push_back(value(0, 4));
      labels.push_back(static_cast<std::int32_t>(random.below(9)));
    }
    for (std::size_t i = 0; i < 400 * dims; ++i) others.push_back(random.chance(0.01) ? -1e300 : value(-3, 7));
    const PointsView points(std::span<const double>(core), dims);
    const auto stored = store_core({points, labels, eps}, {});
    REQUIRE(stored != nullptr);
    CHECK(stored->bytes() > core.size() * sizeof(double));
    INFO("seed " << seed << ", " << dims << "-D");
    const auto expected = test::oracle_predict({points, labels, eps}, {std::span<const double>(others), dims});
    REQUIRE(stored->assign(others, {}) == expected);
    assigned += expected.size() - static_cast<std::size_t>(std::count(expected.begin(), expected.end(), kNoise));
  }
  CHECK(assigned > 1000);
}

TEST_CASE("stored core: neither beyond the dimensions that are indexed nor where an axis is cut at gaps") {
  const std::vector<std::int32_t> labels{0, 1};
  const std::vector<double> seven(14);
  CHECK(store_core({PointsView(std::span<const double>(seven), 7), labels, 1}, {}) == nullptr);
  const std::vector<double> far{0, 1e300};
  CHECK(store_core({PointsView(std::span<const double>(far), 1), labels, 1}, {}) == nullptr);
  const std::vector<double> together{5, 5};  // no axis has two slots
  const auto stored = store_core({PointsView(std::span<const double>(together), 1), labels, 1}, {});
  REQUIRE(stored != nullptr);
  const std::vector<double> others{4, 6, 3.9, -1e300, 1e300};
  CHECK(stored->assign(others, {}) == Labels{0, 0, kNoise, kNoise, kNoise});
}

TEST_CASE("stored core: a cancelled token stops it") {
  const std::vector<double> core{5, 5};
  const std::vector<std::int32_t> labels{0, 1};
  CancelToken cancel;
  const auto stored = store_core({PointsView(std::span<const double>(core), 1), labels, 1}, cancel);
  cancel.cancel();
  CHECK_THROWS_AS((void)stored->assign(core, cancel), Cancelled);
}

}  // namespace
}  // namespace epsflow::cpu
