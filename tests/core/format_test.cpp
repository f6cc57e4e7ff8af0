#include <epsflow/core/format.hpp>

#include <cstdint>
#include <limits>

#include "support/catch.hpp"

namespace epsflow {
namespace {

TEST_CASE("format: sizes in the largest unit of which there is one") {
  CHECK(format_bytes(0) == "0 bytes");
  CHECK(format_bytes(1) == "1 byte");
  CHECK(format_bytes(1023) == "1,023 bytes");
  CHECK(format_bytes(1024) == "1.0 KiB");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes((1 << 20) - 1) == "1.0 MiB");
  CHECK(format_bytes(std::uint64_t{5} << 30) == "5.0 GiB");
  CHECK(format_bytes(std::numeric_limits<std::uint64_t>::max()) == "16.0 EiB");
}

TEST_CASE("format: a size that is to be reached is never rounded down, and given in full") {
  CHECK(format_needed_bytes(17) == "17 bytes");
  CHECK(format_needed_bytes(1025) == "1.1 KiB (1,025 bytes)");
  CHECK(format_bytes(1025) == "1.0 KiB");
  CHECK(format_needed_bytes(1024) == "1.0 KiB (1,024 bytes)");
  CHECK(format_needed_bytes((std::uint64_t{1} << 30) + 1) == "1.1 GiB (1,073,741,825 bytes)");
  CHECK(format_needed_bytes((std::uint64_t{1} << 30) - 1) == "1.0 GiB (1,073,741,823 bytes)");
}

TEST_CASE("format: sizes are read in powers of 1024, and of 1000 where they end in B without an i") {
  CHECK(parse_bytes("1") == 1U);
  CHECK(parse_bytes("100B") == 100U);
  CHECK(parse_bytes("512M") == std::uint64_t{512} << 20);
  CHECK(parse_bytes("1.5k") == 1536U);
  CHECK(parse_bytes("2T") == std::uint64_t{2} << 40);
  for (const char* text : {"8G", "8g", "8 Gi", "8GiB", "8 gib"}) CHECK(parse_bytes(text) == std::uint64_t{8} << 30);
  for (const char* text : {"8GB", "8 gb", "8000MB", "8000000 KB", "0.008TB"})
    CHECK(parse_bytes(text) == 8'000'000'000U);
}

TEST_CASE("format: what is no size of at least a byte is refused") {
  for (const char* text : {"", "lots", "-5", "0", "0.5", "8X", "8Gi8", "G", "nan", "inf", "infG", "1e30", "9999999T",
                           "8  G", "8GBB", "8BG"}) {
    INFO(text);
    CHECK_FALSE(parse_bytes(text));
  }
}

TEST_CASE("format: three significant digits") {
  CHECK(format_short(0.12345) == "0.123");
  CHECK(format_short(45.678) == "45.7");
  CHECK(format_short(999.4) == "999");
  CHECK(format_short(999.6) == "1,000");
  CHECK(format_short(1353) == "1,350");
  CHECK(format_short(12'345) == "12,300");
  CHECK(format_short(1.2345e8) == "1.23e+08");
  CHECK(format_short(0) == "0");
}

TEST_CASE("format: counts in groups of three digits, nouns with an s unless there is one") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(1234567) == "1,234,567");
  CHECK(format_count(1, "cluster") == "1 cluster");
  CHECK(format_count(0, "cluster") == "0 clusters");
  CHECK(format_count(20000, "row") == "20,000 rows");
}

}  // namespace
}  // namespace epsflow
