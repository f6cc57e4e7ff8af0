#include <epsflow/core/sweep.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/random_points.hpp"

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow {
namespace {

using test::check_mentions;
using test::error_of;

TEST_CASE("sweep: a grid holds every eps with every minpts, eps outermost") {
  const Sweep sweep = grid({0.2, 0.1}, {8, 4});
  CHECK(sweep.variants() == std::vector<Variant>{{0.2, 8}, {0.2, 4}, {0.1, 8}, {0.1, 4}});
  CHECK(grid({}, {4}).size() == 0);
  CHECK(grid({1}, {}).size() == 0);
}

TEST_CASE("sweep: a variant given twice counts once, at its first position") {
  const Sweep sweep(std::vector<Variant>{{0.2, 4}, {0.1, 4}, {0.2, 4}, {0.2, 5}, {0.1, 4}});
  CHECK(sweep.variants() == std::vector<Variant>{{0.2, 4}, {0.1, 4}, {0.2, 5}});
  CHECK(grid({0.1, 0.1}, {4, 4}).size() == 1);
  // These eps are adjacent in float64, but not equal.
  CHECK(grid({0.1, std::nextafter(0.1, 1.0)}, {4}).size() == 2);
}

TEST_CASE("sweep: more variants than anybody means are refused before they take memory") {
  const std::vector<double> eps(1'000'000, 1.0);
  const std::vector<std::uint32_t> minpts(11, 1);
  check_mentions(error_of<UsageError>([&] { (void)grid(eps, minpts); }), {"1,000,000 eps", "11 minpts", "10,000,000"});
}

TEST_CASE("sweep: eps and minpts that cannot be are named") {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double eps : {0.0, -0.0, -1.5, std::nan(""), infinite, -infinite}) {
    const std::string text = error_of<UsageError>([&] { (void)grid({eps}, {4}); });
    check_mentions(text, {"eps", format_number(eps)});
  }
  check_mentions(error_of<UsageError>([] { (void)grid({1}, {0}); }), {"minpts 0"});
  CHECK(grid({5e-324, 1.7e308}, {1, 0xFFFFFFFFU}).size() == 4);
}

TEST_CASE("parse eps: lists") {
  CHECK(parse_eps_list("0.3") == std::vector<double>{0.3});
  CHECK(parse_eps_list("0.1,2,3e-2") == std::vector<double>{0.1, 2, 0.03});
  CHECK(parse_eps_list(" 0.1 , 0.2 ") == std::vector<double>{0.1, 0.2});
}

TEST_CASE("parse eps: steps give the decimal numbers that a reader would write") {
  CHECK(parse_eps_list("0.05:0.3:0.05") == std::vector<double>{0.05, 0.1, 0.15, 0.2, 0.25, 0.3});
  CHECK(parse_eps_list("0.1:0.7:0.1") == std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7});
  CHECK(parse_eps_list("1:2:0.25") == std::vector<double>{1, 1.25, 1.5, 1.75, 2});
  CHECK(parse_eps_list("2:2:1") == std::vector<double>{2});
  // No step meets the end exactly, so the end is left out.
  CHECK(parse_eps_list("0.1:0.35:0.1") == std::vector<double>{0.1, 0.2, 0.3});
  CHECK(parse_eps_list("0.05:0.15:0.05,0.5,1:3:1") == std::vector<double>{0.05, 0.1, 0.15, 0.5, 1, 2, 3});
}

TEST_CASE("parse eps: steps downwards") {
  const std::vector<double> values{0.5, 0.4, 0.3, 0.2, 0.1};
  CHECK(parse_eps_list("0.5:0.1:0.1") == values);
  CHECK(parse_eps_list("0.5:0.1:-0.1") == values);
  CHECK(parse_eps_list("0.3:0.2:0.1") == std::vector<double>{0.3, 0.2});  // 0.3 - 0.2 is less than 0.1 in float64
  CHECK(parse_eps_list("0.5:0.05:0.1") == values);                        // no step meets the end exactly
}

TEST_CASE("parse eps: a number of values in even steps, both ends included") {
  CHECK(parse_eps_list("0.1:0.5:5:lin") == std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5});
  CHECK(parse_eps_list("0.5:0.1:5:lin") == std::vector<double>{0.5, 0.4, 0.3, 0.2, 0.1});
  CHECK(parse_eps_list("1:2:9:lin") == std::vector<double>{1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875, 2});
  CHECK(parse_eps_list("3:7:2:lin") == std::vector<double>{3, 7});
  CHECK(parse_eps_list("3:3:1:lin") == std::vector<double>{3});
  const auto thirds = parse_eps_list("1:2:4:lin");  // thirds have no short decimal form
  REQUIRE(thirds.size() == 4);
  CHECK(thirds[1] == Approx(4.0 / 3));
  CHECK(thirds[2] == Approx(5.0 / 3));
  CHECK(thirds[3] == 2);
}

TEST_CASE("parse eps: steps of any decimal size") {
  CHECK(parse_eps_list("1e-5:7e-5:1e-5") == std::vector<double>{1e-5, 2e-5, 3e-5, 4e-5, 5e-5, 6e-5, 7e-5});
  CHECK(parse_eps_list("100000:300000:100000") == std::vector<double>{1e5, 2e5, 3e5});
  CHECK(parse_eps_list("1e22:3e22:1e22") == std::vector<double>{1e22, 2e22, 3e22});
}

TEST_CASE("parse eps: every step of a range is the decimal number") {
  for (int digits = 1; digits <= 3; ++digits) {
    for (int step = 1; step <= 40; step += 3) {
      const auto text = [&](int n) {
        std::string s = std::to_string(n);
        s.insert(0, static_cast<std::size_t>(std::max(0, digits + 1 - static_cast<int>(s.size()))), '0');
        s.insert(s.size() - static_cast<std::size_t>(digits), ".");
        return s;
      };
      INFO("step " << text(step) << ", digits " << digits);
      const auto values = parse_eps_list(text(step) + ":" + text(50 * step) + ":" + text(step));
      REQUIRE(values.size() == 50);
      for (int i = 0; i < 50; ++i) REQUIRE(values[static_cast<std::size_t>(i)] == std::stod(text((i + 1) * step)));
    }
  }
}

TEST_CASE("parse eps: logarithmic steps") {
  const auto values = parse_eps_list("0.01:10:4:log");
  REQUIRE(values.size() == 4);
  CHECK(values[0] == 0.01);
  CHECK(values[1] == Approx(0.1));
  CHECK(values[2] == Approx(1));
  CHECK(values[3] == 10);
  CHECK(parse_eps_list("3:3:1:log") == std::vector<double>{3});
  const auto down = parse_eps_list("10:0.1:3:log");
  REQUIRE(down.size() == 3);
  CHECK(down[0] == 10);
  CHECK(down[1] == Approx(1));
  CHECK(down[2] == 0.1);
  CHECK(parse_eps_list("3:7:2:log") == std::vector<double>{3, 7});
  CHECK(parse_eps_list("5:5:3:log") == std::vector<double>{5, 5, 5});
}

TEST_CASE("parse eps: what is wrong is named") {
  const auto error = [](const std::string& text) { return error_of<UsageError>([&] { (void)parse_eps_list(text); }); };
  check_mentions(error(""), {"eps", "''"});
  check_mentions(error("0.1,,0.2"), {"item 2", "0.1,,0.2", "empty"});
  check_mentions(error("0.1,0.2,"), {"item 3", "0.1,0.2,", "comma"});
  check_mentions(error(" , 0.1"), {"item 1"});
  check_mentions(error("0.1,zwei"), {"'zwei'", "0.1,zwei"});
  check_mentions(error("0.1x"), {"'0.1x'"});
  check_mentions(error("0.1;0.2"), {"'0.1;0.2'"});
  check_mentions(error("1:2"), {"'1:2'", "lo:hi:step"});
  check_mentions(error("1:2:3:4"), {"'1:2:3:4'"});
  check_mentions(error("1:2:3:lim"), {"'1:2:3:lim'", "lo:hi:n:lin"});
  check_mentions(error("0.1,1:2:3:4:5"), {"'1:2:3:4:5'"});
  check_mentions(error("1:2:0"), {"'1:2:0'", "not 0"});
  check_mentions(error("1:2:-1"), {"'1:2:-1'", "downwards"});
  // The user may mean five values, but one would result.
  check_mentions(error("1:2:5"), {"'1:2:5'", "lo:hi:n:lin"});
  check_mentions(error("2:1:5"), {"'2:1:5'", "lo:hi:n:lin"});
  check_mentions(error("3:7:1:log"), {"'3:7:1:log'", "both ends"});
  check_mentions(error("1:2:b"), {"'b'", "1:2:b"});
  check_mentions(error("0:1:0.5"), {"eps 0"});
  check_mentions(error("-1"), {"eps -1"});
  check_mentions(error("nan"), {"eps nan"});
  check_mentions(error("1e999"), {"'1e999'"});
  check_mentions(error("inf"), {"eps inf"});
  check_mentions(error("1:inf:1"), {"1:inf:1"});
  check_mentions(error("0:1:5:log"), {"'0:1:5:log'", "lo > 0"});
  check_mentions(error("1:2:0:log"), {"'1:2:0:log'"});
  check_mentions(error("1:2:2.5:log"), {"'1:2:2.5:log'"});
  check_mentions(error("1:nan:3:lin"), {"'1:nan:3:lin'"});
}

TEST_CASE("parse eps: no list of a size that nobody means") {
  const auto error = [](const std::string& text) { return error_of<UsageError>([&] { (void)parse_eps_list(text); }); };
  check_mentions(error("1:2:1e-9"), {"'1:2:1e-9'", "million"});
  check_mentions(error("1e-300:1e300:1e-300"), {"million"});
  check_mentions(error("1:2:1e12:log"), {"million"});
  check_mentions(error("1:2:1e12:lin"), {"million"});
  check_mentions(error("2:1:1e-9"), {"million"});
  CHECK(parse_eps_list("1:1000000:1").size() == 1'000'000);
}

TEST_CASE("parse minpts: lists, steps and logarithmic steps of whole numbers") {
  using Values = std::vector<std::uint32_t>;
  CHECK(parse_minpts_list("4") == Values{4});
  CHECK(parse_minpts_list("4,8,16") == Values{4, 8, 16});
  CHECK(parse_minpts_list("4:20:4") == Values{4, 8, 12, 16, 20});
  CHECK(parse_minpts_list("1:64:7:log") == Values{1, 2, 4, 8, 16, 32, 64});
  CHECK(parse_minpts_list("1:3:9:log") == Values{1, 2, 3});
  check_mentions(error_of<UsageError>([] { (void)parse_minpts_list("5,0", "min_cluster_size"); }),
                 {"min_cluster_size 0", "min_cluster_size must be"});
  CHECK(parse_minpts_list("20:4:4") == Values{20, 16, 12, 8, 4});
  CHECK(parse_minpts_list("1:10:4:lin") == Values{1, 4, 7, 10});
  CHECK(parse_minpts_list("1:10:5:lin") == Values{1, 3, 6, 8, 10});  // 3.25, 5.5 and 7.75 are rounded
  CHECK(parse_minpts_list("4,8,4:8:2") == Values{4, 8, 6});
  CHECK(parse_minpts_list("4294967295") == Values{4294967295U});
}

TEST_CASE("parse minpts: what is wrong is named") {
  const auto error = [](const std::string& text) {
    return error_of<UsageError>([&] { (void)parse_minpts_list(text); });
  };
  check_mentions(error("0"), {"minpts 0"});
  check_mentions(error("4,2.5"), {"minpts 2.5", "4,2.5"});
  check_mentions(error("-3"), {"minpts -3"});
  check_mentions(error("4294967296"), {"minpts 4294967296", "is over 4,294,967,295"});
  check_mentions(error("4,8,"), {"minpts", "item 3"});
  check_mentions(error("1:2:0.5"), {"minpts 1.5"});
  check_mentions(error("four"), {"minpts", "'four'"});
  check_mentions(error("nan"), {"minpts nan"});
  check_mentions(error(""), {"minpts"});
}

TEST_CASE("parse minpts: a long list") { CHECK(parse_minpts_list("1:300000:1").size() == 300'000); }

TEST_CASE("parse variants: pairs of eps and minpts") {
  CHECK(parse_variants("0.2:4,0.5:20") == std::vector<Variant>{{0.2, 4}, {0.5, 20}});
  CHECK(parse_variants(" 1 : 2 ") == std::vector<Variant>{{1, 2}});
  const auto error = [](const std::string& text) { return error_of<UsageError>([&] { (void)parse_variants(text); }); };
  check_mentions(error("0.2"), {"'0.2'", "eps:minpts"});
  check_mentions(error("0.2:4:5"), {"'0.2:4:5'"});
  check_mentions(error("0.2:4,"), {"item 2"});
  check_mentions(error("x:4"), {"eps", "'x'"});
  check_mentions(error("0.2:y"), {"minpts", "'y'"});
  check_mentions(error("0.2:0"), {"minpts 0"});
  check_mentions(error("0:4"), {"eps 0"});
  check_mentions(error("0.2:1.5"), {"minpts 1.5"});
}

TEST_CASE("format number: the shortest text that reads back as the same number") {
  CHECK(format_number(0.1) == "0.1");
  CHECK(format_number(-2.5) == "-2.5");
  CHECK(format_number(0.1 + 0.2) == "0.30000000000000004");
  CHECK(format_number(0.0001) == "1e-04");
  CHECK(format_number(0.00012) == "0.00012");
  CHECK(format_number(10000) == "10000");
  CHECK(format_number(100000) == "1e+05");
  CHECK(format_number(123456) == "123456");
  test::Random random(99);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::ldexp(random.unit(), static_cast<int>(random.below(2000)) - 1000);
    REQUIRE(std::stod(format_number(value)) == value);
    // If an eps is printed and read again, it must not change.
    if (value > 0) REQUIRE(parse_eps_list(format_number(value)) == std::vector<double>{value});
  }
}

TEST_CASE("three digits: the nearest decimal number of so many digits") {
  CHECK(three_digits(0) == 0);
  CHECK(three_digits(1.0520542492133274) == 1.05);
  CHECK(three_digits(-0.00012345) == -0.000123);
  CHECK(three_digits(999.6) == 1000);
  CHECK(three_digits(std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(three_digits(std::numeric_limits<double>::quiet_NaN())));
  test::Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::ldexp(0.5 + random.unit(), static_cast<int>(random.below(1900)) - 950);
    const double rounded = three_digits(value);
    REQUIRE(std::abs(rounded - value) <= 0.00501 * value);
    REQUIRE(three_digits(rounded) == rounded);
  }
}

TEST_CASE("round grid: numbers that can be typed, over all of the range, in even ratios") {
  CHECK(round_grid(1, 10, 5) == std::vector<double>{1, 1.78, 3.16, 5.62, 10});
  CHECK(round_grid(0.12345, 0.98765, 2) == std::vector<double>{0.123, 0.988});
  CHECK(round_grid(0.5, 0.5, 20) == std::vector<double>{0.5});
  CHECK(round_grid(0.3333, 0.3333, 20) == std::vector<double>{0.333, 0.334});
  CHECK(round_grid(9.99, 10.01, 4) == std::vector<double>{9.99, 10, 10.1});
  test::Random random(8);
  for (int i = 0; i < 500; ++i) {
    const double from = std::ldexp(0.5 + random.unit(), static_cast<int>(random.below(200)) - 100);
    const double to = from * (1.5 + 100 * random.unit());
    const std::vector<double> values = round_grid(from, to, 40);
    REQUIRE(values.front() <= from);
    REQUIRE(values.back() >= to);
    REQUIRE(values.size() > 30);
    const double step = std::log(to / from) / 39;
    for (std::size_t k = 0; k < values.size(); ++k) {
      REQUIRE(values[k] == three_digits(values[k]));
      if (k > 0) REQUIRE(std::abs(std::log(values[k] / values[k - 1]) - step) <= std::max(step, 0.0101));
    }
  }
}

}  // namespace
}  // namespace epsflow
