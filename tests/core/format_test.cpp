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
