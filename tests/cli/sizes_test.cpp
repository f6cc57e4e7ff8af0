#include <epsflow/cli/sizes.hpp>

#include "support/catch.hpp"

namespace epsflow::cli {
namespace {

TEST_CASE("sizes: units are powers of 1024, in either case, with or without B and iB") {
  CHECK(parse_bytes("1") == 1U);
  CHECK(parse_bytes("512M") == std::uint64_t{512} << 20);
  CHECK(parse_bytes("8GiB") == std::uint64_t{8} << 30);
  CHECK(parse_bytes("8 gb") == std::uint64_t{8} << 30);
  CHECK(parse_bytes("1.5k") == 1536U);
  CHECK(parse_bytes("100B") == 100U);
  CHECK(parse_bytes("2T") == std::uint64_t{2} << 40);
}

TEST_CASE("sizes: what is no size of at least a byte is refused") {
  for (const char* text : {"", "lots", "-5", "0", "0.5", "8X", "8Gi8", "G", "nan", "inf", "1e30", "9999999T", "8  G"}) {
    INFO(text);
    CHECK_FALSE(parse_bytes(text));
  }
}

}  // namespace
}  // namespace epsflow::cli
