#include <epsflow/index/curve.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/random_points.hpp"

namespace epsflow::index {
namespace {

/// Compares spread bits with their definition, bit by bit.
template <std::size_t D>
void spread_as_defined() {
  test::Random random(D);
  for (int i = 0; i < 200; ++i) {
    const auto slot = static_cast<std::uint32_t>(random.bits() & ((std::uint64_t{1} << curve_bits(D)) - 1));
    std::uint64_t expected = 0;
    for (unsigned bit = 0; bit < curve_bits(D); ++bit) expected |= std::uint64_t{slot >> bit & 1} << bit * D;
    REQUIRE(detail::spread<D>(slot) == expected);
  }
}

TEST_CASE("curve: bits of slots are interleaved") {
  spread_as_defined<1>();
  spread_as_defined<2>();
  spread_as_defined<3>();
  spread_as_defined<4>();
  spread_as_defined<5>();
  spread_as_defined<6>();
}

TEST_CASE("curve: the ends of the cube have the first and the last number, whatever its size") {
  for (const double extent : {1.0, 1e-300, 5e-324, 1e300, std::numeric_limits<double>::max()}) {
    const double lo[2] = {-extent, -extent}, hi[2] = {extent, extent};
    const Curve curve(lo, hi, 2);
    REQUIRE(curve.number<2>([&](std::size_t) { return -extent; }) == 0);
    // Subnormal cubes are smaller than a slot can be. This affects only the order.
    if (extent > 1e-290) REQUIRE(curve.number<2>([&](std::size_t) { return extent; }) > ~std::uint64_t{0} / 2);
  }
  const double one[3] = {7, 7, 7};
  REQUIRE(Curve(one, one, 3).number<3>([](std::size_t) { return 7.0; }) == 0);
}

}  // namespace
}  // namespace epsflow::index
