#include <epsflow/core/json_numbers.hpp>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"

namespace epsflow {
namespace {

using Json = nlohmann::ordered_json;
using test::check_mentions;
using test::error_of;

std::string digits(std::size_t count) { return "1" + std::string(count - 1, '3'); }

/// Returns the error for `value` as "n" of results[3].
template <class Read>
std::string refused(const std::string& value, Read read) {
  const Json json = Json::parse(R"({"n": )" + value + "}");
  return error_of<InputError>([&] { static_cast<void>(read(JsonNumbers(json, "results[3]"))); });
}

TEST_CASE("numbers of JSON: whole numbers of any spelling, and nothing else") {
  const auto count = [](const std::string& value) {
    const Json json = Json::parse(R"({"n": )" + value + "}");
    return JsonNumbers(json, "").count("n");
  };
  CHECK(count("0") == 0);
  CHECK(count("-0") == 0);
  CHECK(count("-0.0") == 0);
  CHECK(count("169") == 169);
  CHECK(count("169.0") == 169);
  CHECK(count("1e3") == 1000);
  CHECK(count("9007199254740991") == kMostCount);
  for (const std::string& value :
       {std::string("2.5"), std::string("1e-3"), std::string("-1"), std::string("-0.5"), std::string("-1e3"),
        std::string("1e61"), std::string("9007199254740992"), std::string("9007199254740993"),
        std::string("9007199254740992.0"), std::string("18446744073709551615"), std::string("18446744073709551616"),
        digits(61), "-" + digits(61)}) {
    CAPTURE(value);
    const std::string error = refused(value, [](const auto& numbers) { return numbers.count("n"); });
    check_mentions(error, {"results[3].n is ", ", not a whole number from 0 to 9007199254740991"});
  }
  for (const auto& [value, type] :
       {std::pair("\"7\"", "string"), std::pair("null", "null"), std::pair("true", "boolean"),
        std::pair("[7]", "array"), std::pair("[[[7]]]", "array"), std::pair("{\"n\": 7}", "object")}) {
    CAPTURE(value);
    check_mentions(refused(value, [](const auto& numbers) { return numbers.count("n"); }),
                   {"results[3].n is of type", type, "not a whole number"});
  }
}

TEST_CASE("numbers of JSON: what is missing, and what is not an object, is named") {
  const Json json = Json::parse(R"({"a": 1})");
  const JsonNumbers numbers(json, "runs[1]");
  CHECK(numbers.has("a"));
  CHECK_FALSE(numbers.has("n"));
  check_mentions(error_of<InputError>([&] { static_cast<void>(numbers.count("n")); }), {"runs[1].n is missing"});
  check_mentions(error_of<InputError>([&] { static_cast<void>(numbers.real("n")); }), {"runs[1].n is missing"});
  for (const char* text : {"1", "null", "[1]", "\"a\""}) {
    const Json other = Json::parse(text);
    check_mentions(error_of<InputError>([&] { const JsonNumbers of_other(other, "runs[1]"); }),
                   {"runs[1] is", "not an object"});
  }
}

TEST_CASE("numbers of JSON: bounds of counts, and lists of counts") {
  const Json json = Json::parse(R"({"n": 7, "list": [3, 1, 2], "bad": [3, 2.5]})");
  const JsonNumbers numbers(json, "input");
  CHECK(numbers.count("n", 7, 7) == 7);
  check_mentions(error_of<InputError>([&] { static_cast<void>(numbers.count("n", 8)); }),
                 {"input.n is 7, not a whole number from 8 to 9007199254740991"});
  check_mentions(error_of<InputError>([&] { static_cast<void>(numbers.count("n", 1, 6)); }), {"from 1 to 6"});
  CHECK(numbers.counts("list") == std::vector<std::uint64_t>{3, 1, 2});
  check_mentions(error_of<InputError>([&] { static_cast<void>(numbers.counts("bad")); }), {"input.bad[1] is 2.5"});
  check_mentions(error_of<InputError>([&] { static_cast<void>(numbers.counts("n")); }), {"input.n is 7, not a list"});
}

TEST_CASE("numbers of JSON: finite numbers from 0 on, and variants") {
  const Json json =
      Json::parse(R"({"n": 0, "m": 2.5, "k": 18446744073709551616, "eps": 1e-300, "minpts": 4294967295})");
  const JsonNumbers numbers(json, "");
  CHECK(numbers.real("n") == 0);
  CHECK(numbers.real("m") == 2.5);
  CHECK(numbers.real("k") == 0x1p64);
  CHECK(numbers.variant() == Variant{1e-300, std::numeric_limits<std::uint32_t>::max()});
  for (const char* value : {"-1", "-1e-300", "\"1\"", "null", "true", "[1]", "{}"}) {
    CAPTURE(value);
    check_mentions(refused(value, [](const auto& of) { return of.real("n"); }),
                   {"results[3].n is", "not a finite number from 0 on"});
  }
  Json infinite;
  infinite["n"] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(JsonNumbers(infinite, "").real("n"), InputError);
  infinite["n"] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(JsonNumbers(infinite, "").real("n"), InputError);
  CHECK_THROWS_AS(JsonNumbers(infinite, "").count("n"), InputError);
  for (const auto& [text, named] :
       {std::pair(R"({"eps": 0, "minpts": 7})", "eps is 0, not a finite number above 0"),
        std::pair(R"({"eps": -1, "minpts": 7})", "eps is -1"),
        std::pair(R"({"eps": 1, "minpts": 0})", "minpts is 0, not a whole number from 1 to 4294967295"),
        std::pair(R"({"eps": 1, "minpts": 4294967296})", "minpts is 4294967296"),
        std::pair(R"({"eps": 1, "minpts": 5.7})", "minpts is 5.7"), std::pair(R"({"eps": 1})", "minpts is missing"),
        std::pair(R"({"minpts": 1})", "eps is missing")}) {
    CAPTURE(text);
    const Json other = Json::parse(text);
    check_mentions(error_of<InputError>([&] { static_cast<void>(JsonNumbers(other, "").variant()); }), {named});
  }
}

TEST_CASE("counts of a clustering fit each other and the points") {
  const auto misfit = [](const LabelSummary& summary, std::uint64_t points) { return misfit_of(summary, points); };
  // The fields are clusters, noise, core, border, largest.
  CHECK(misfit({}, 0).empty());
  CHECK(misfit({0, 7, 0, 0, 0}, 7).empty());
  CHECK(misfit({2, 1, 3, 2, 3}, 6).empty());
  CHECK(misfit({2, 1, 3, 2, 4}, 6).empty());  // clusters of 4 points and of 1 point
  CHECK(misfit({5, 0, 5, 0, 1}, 5).empty());
  CHECK(misfit_of({2, 1, 3, 2, 3}, std::nullopt).empty());
  check_mentions(misfit({2, 1, 3, 2, 3}, 7), {"noise, core and border points are 6 together, and there are 7 points"});
  check_mentions(misfit({2, 1, 3, 2, 3}, 0), {"6 together"});
  for (const LabelSummary& summary :
       {LabelSummary{4, 1, 3, 2, 2},  // one cluster has no core point
        LabelSummary{2, 1, 3, 2, 2},  // two clusters of 2 points have 4
        LabelSummary{2, 1, 3, 2, 5},  // no point is left for the other cluster
        LabelSummary{2, 1, 3, 2, 0}, LabelSummary{0, 3, 3, 0, 0}, LabelSummary{0, 3, 0, 3, 0},
        LabelSummary{0, 6, 0, 0, 1}, LabelSummary{1, 6, 0, 0, 0}, LabelSummary{1, 0, 6, 0, 7}}) {
    CAPTURE(summary.clusters, summary.noise, summary.core, summary.border, summary.largest);
    CHECK_FALSE(misfit(summary, 6).empty());
  }
  const Json json = Json::parse(R"({"clusters": 2, "noise": 1, "core": 3, "border": 2, "largest": 3})");
  CHECK(JsonNumbers(json, "").summary(6) == LabelSummary{2, 1, 3, 2, 3});
  check_mentions(error_of<InputError>([&] { static_cast<void>(JsonNumbers(json, "results[0]").summary(5)); }),
                 {"results[0]: noise, core and border"});
}

}  // namespace
}  // namespace epsflow
