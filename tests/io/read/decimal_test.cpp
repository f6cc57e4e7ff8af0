#include <epsflow/io/read/decimal.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "support/catch.hpp"

namespace epsflow::io {
namespace {

// Parses as the reader does: by the fast path if it accepts the whole text, otherwise by the full parser.
double parse(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  if (scan_decimal(text.data(), end, value) == end) return value;
  const std::optional<double> number = parse_number(text);
  REQUIRE(number);
  return *number;
}

void check_exact(const std::string& text) {
  const double expected = std::strtod(text.c_str(), nullptr);
  const double got = parse(text);
  if (std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(expected)) return;
  INFO(text);
  CHECK(std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(expected));
}

std::string print(const char* format, double value) {
  char text[512];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

TEST_CASE("decimal: every printed float64 is read back exactly") {
  const std::uint64_t seed = 20240611;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> degrees(-180, 180);
  for (int i = 0; i < 100000; ++i) {
    const double x = degrees(random);
    for (const char* format : {"%.17g", "%.16g", "%.15g", "%.6f", "%.2f", "%.18e", "%.7e", "%.19f"}) {
      check_exact(print(format, x));
    }
    const double any = std::bit_cast<double>(random());
    if (!std::isfinite(any)) continue;
    check_exact(print("%.17g", any));
    CHECK(parse(print("%.17g", any)) == any);
  }
}

TEST_CASE("decimal: integers and quotients next to a tie between two float64 values") {
  const std::uint64_t seed = 77;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t mantissa = random() % 10000000000000000000ULL;
    const int decimals = static_cast<int>(random() % 20);
    std::string text = std::to_string(mantissa);
    if (static_cast<int>(text.size()) > decimals) text.insert(text.size() - static_cast<std::size_t>(decimals), ".");
    check_exact(text);
    check_exact(std::to_string(mantissa) + "e-" + std::to_string(random() % 30));
  }
  // 2^53 + 1 and similar numbers lie exactly between two float64 values, so one more digit decides the rounding.
  for (const char* text :
       {"9007199254740992", "9007199254740993", "9007199254740993.0", "9007199254740993.1", "9007199254740992.9",
        "9007199254740995", "18014398509481986", "18014398509481990", "1152921504606847104", "1152921504606846848.5",
        "9223372036854776832", "4503599627370496.5", "4503599627370497.5", "0.5000000000000000277",
        "9007199254740993e22", "9007199254740993e-3"}) {
    check_exact(text);
  }
}

TEST_CASE("decimal: the edges of float64") {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "00012.500",
                           ".5",
                           "5.",
                           "-.25",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "123456789012345678901",
                           "4.9e-324",
                           "5e-324",
                           "2.2250738585072014e-308",
                           "2.2250738585072011e-308",
                           "1e-310",
                           "1.7976931348623157e308",
                           "0.000000000000000000000000000001",
                           "1E5",
                           "1e+05",
                           "1e0005",
                           "1e-0005",
                           "1000000000000000e15",
                           "0.1000000000000000055511151231257827021181583404541015625"}) {
    check_exact(text);
  }
  CHECK(std::signbit(parse("-0")));
  CHECK(parse("1e309") == std::numeric_limits<double>::infinity());
  CHECK(parse("-1e309") == -std::numeric_limits<double>::infinity());
  CHECK(parse("1e99999999999999999999") == std::numeric_limits<double>::infinity());
  CHECK(parse("1e-400") == 0);
  CHECK(std::signbit(parse("-1e-400")));
  CHECK(parse("1e-99999999999999999999") == 0);
  CHECK(parse("0." + std::string(400, '0') + "1") == 0);
  CHECK(parse("1" + std::string(400, '0')) == std::numeric_limits<double>::infinity());
}

TEST_CASE("decimal: what is a number and what is not") {
  CHECK(parse_number("+1.5") == 1.5);
  for (const char* text : {"nan", "NaN", "NAN", "-nan"}) {
    INFO(text);
    REQUIRE(parse_number(text));
    CHECK(std::isnan(*parse_number(text)));
  }
  for (const char* text : {"inf", "Infinity", "-INF", "+inf"}) {
    INFO(text);
    REQUIRE(parse_number(text));
    CHECK(std::isinf(*parse_number(text)));
  }
  for (const char* text : {"",      "-",   "+",    ".",   "e5", "1e", "1e+",   "+-1", "--1",     "++1",
                           "1.2.3", "1,5", "0x10", "12a", " 1", "1 ", "1_000", "na",  "infinit", "1e5.0"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text));
  }
}

TEST_CASE("decimal: the fast path stops where the number stops") {
  const std::string text = "-115.12,37.45";
  double value = 0;
  const char* const stop = scan_decimal(text.data(), text.data() + text.size(), value);
  REQUIRE(stop == text.data() + 7);
  CHECK(value == -115.12);
  for (const char* other : {"", "-", ".", "x", "+1", "nan", "12345678901234567890", "1e", "1e+"}) {
    INFO(other);
    CHECK(scan_decimal(other, other + std::strlen(other), value) == nullptr);
  }
}

}  // namespace
}  // namespace epsflow::io
