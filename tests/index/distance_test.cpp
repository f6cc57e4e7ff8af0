#include <epsflow/index/distance.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::index {
namespace {

using test::Random;

TEST_CASE("distance: inclusive, in float64, in the order of the dimensions") {
  const std::vector<double> p{0, 0};
  const std::vector<double> q{3, 4};
  CHECK(is_neighbor(p.data(), q.data(), 2, 25.0));
  CHECK_FALSE(is_neighbor(p.data(), q.data(), 2, std::nextafter(25.0, 0.0)));
  // In 1 + 2^-53 + 2^-53, both small terms are lost if added one by one, but not if added to each other first.
  const std::vector<double> zero(3, 0);
  const double small = 0x1p-27 * std::sqrt(2.0);
  const std::vector<double> one_first{1, small * 0.99, small * 0.99};
  const std::vector<double> one_last{small * 0.99, small * 0.99, 1};
  CHECK(is_neighbor(zero.data(), one_first.data(), 3, 1.0));
  CHECK_FALSE(is_neighbor(zero.data(), one_last.data(), 3, 1.0));
}

TEST_CASE("distance: float32 is widened before the difference") {
  const float a = 0.1F;
  const float b = 1.1F;
  CHECK_FALSE(is_neighbor(&a, &b, 1, 1.0));
  const double exact = static_cast<double>(b) - static_cast<double>(a);
  CHECK(is_neighbor(&a, &b, 1, exact * exact));
}

TEST_CASE("distance: overflow and underflow") {
  const double low = -1.7e308;
  const double high = 1.7e308;
  CHECK_FALSE(is_neighbor(&low, &high, 1, 1e308));
  CHECK(is_neighbor(&low, &high, 1, std::numeric_limits<double>::infinity()));
  const double zero = 0;
  const double tiny = 1e-170;
  CHECK(is_neighbor(&zero, &tiny, 1, 0.0));  // the square underflows
  CHECK(is_neighbor(&zero, &zero, 1, 0.0));
}

TEST_CASE("distance: no pair of neighbours differs by more than the reach in any dimension") {
  Random random(4242);
  for (int i = 0; i < 20'000; ++i) {
    const double eps = std::ldexp(1 + random.unit(), static_cast<int>(random.below(2090)) - 1070);
    if (!(eps > 0) || !std::isfinite(eps)) continue;
    const double limit = eps * eps;
    const double reach = neighbor_reach(eps);
    REQUIRE(reach >= eps);
    if (std::isinf(limit)) {
      REQUIRE(std::isinf(reach));
      continue;
    }
    // Bisection over the float64 numbers finds the largest difference that still passes.
    std::uint64_t passes = 0;
    std::uint64_t fails = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    while (fails - passes > 1) {
      const std::uint64_t middle = passes + (fails - passes) / 2;
      const double x = std::bit_cast<double>(middle);
      const double zero = 0;
      (is_neighbor(&zero, &x, 1, limit) ? passes : fails) = middle;
    }
    REQUIRE(std::bit_cast<double>(passes) <= reach);
    // Unless squares underflow, the reach must not be much larger, or cells would be too large.
    if (limit > 1e-290) REQUIRE(reach <= eps * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace epsflow::index
