#include <epsflow/core/checked.hpp>

#include <cstdint>
#include <limits>

#include "support/catch.hpp"
#include "support/errors.hpp"

namespace epsflow {
namespace {

using test::check_mentions;
using test::error_of;

TEST_CASE("narrow: what fits is converted, what does not is named") {
  CHECK(narrow<std::uint32_t>(std::uint64_t{4294967295}) == 4294967295U);
  CHECK(narrow<std::int8_t>(-128) == -128);
  CHECK(narrow<std::uint64_t>(std::int32_t{7}) == 7);
  check_mentions(error_of<Error>([] { (void)narrow<std::uint32_t>(std::uint64_t{4294967296}, "the row"); }),
                 {"the row", "4294967296", "32 bits"});
  check_mentions(error_of<Error>([] { (void)narrow<std::uint64_t>(-1, "offset"); }), {"offset", "-1"});
  check_mentions(error_of<Error>([] { (void)narrow<std::int32_t>(std::uint32_t{0x80000000U}); }), {"2147483648"});
  CHECK_THROWS_AS(narrow<std::int8_t>(128), Error);
}

TEST_CASE("checked multiply: products that do not fit are errors") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK(checked_multiply(3, 5) == 15);
  CHECK(checked_multiply(0, most) == 0);
  CHECK(checked_multiply(most, 0) == 0);
  CHECK(checked_multiply(most, 1) == most);
  CHECK(checked_multiply(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1) == most - 0xFFFFFFFFULL);
  check_mentions(error_of<ResourceError>([] { (void)checked_multiply(std::uint64_t{1} << 60, 16, "rows"); }),
                 {"rows", "1152921504606846976", "16"});
  CHECK_THROWS_AS(checked_multiply(most, 2), ResourceError);
  CHECK_THROWS_AS(checked_multiply(2, most), ResourceError);
}

}  // namespace
}  // namespace epsflow
