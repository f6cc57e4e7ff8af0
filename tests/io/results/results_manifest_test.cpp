#include <epsflow/io/results/results_manifest.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/io_test.hpp"
#include "io/json_samples.hpp"

#include <epsflow/io/results/save_results.hpp>

namespace epsflow::io::test {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the sweep.json of two variants of 2,000 points, as a run writes it.
Json two_variants() {
  static const Json manifest = [] {
    const TempFolder folder;
    const std::vector<std::int32_t> labels(2000);
    const std::string input =
        R"({"files": [{"name": "p.csv", "kind": "text", "rows": 2003, "dropped_rows": 3}], "checksum": "x", "points": 2000, )"
        R"("dims": 2, "precision": "float64", "columns": ["x", "y"], "column_numbers": [0, 1], "dropped_rows": 3})";
    save_results(folder / "r",
                 {.variants = {{{{0.25, 7}, {13, 169, 1600, 231, 400}, 1.5}, labels, {}},
                               {{{0.5, 7}, {1, 0, 1990, 10, 2000}, 0.5}, labels, {}}},
                  .input = input,
                  .run = {},
                  .rows = {}},
                 Overwrite::refuse);
    return Json::parse(bytes_of_file(folder / "r/sweep.json"));
  }();
  return manifest;
}

/// Reads sweep.json with the text `value` in place of the value at `place`.
Manifest read_with(const std::string& place, const std::string& value) {
  Json json = two_variants();
  const Json::json_pointer pointer(place);
  REQUIRE(json.contains(pointer));
  json[pointer] = "@";
  std::string text = json.dump();
  text.replace(text.find("\"@\""), 3, value);
  const TempFolder folder;
  folder.write("sweep.json", text);
  return read_manifest(folder / "");
}

Manifest read_without(const std::string& place) {
  Json json = two_variants();
  const Json::json_pointer pointer(place);
  json[pointer.parent_pointer()].erase(pointer.back());
  const TempFolder folder;
  folder.write("sweep.json", json.dump());
  return read_manifest(folder / "");
}

/// Returns the text with which sweep.json is refused if it has `value` at `place`.
std::string refusal_with(const std::string& place, const std::string& value) {
  return error_of<UsageError>([&] { (void)read_with(place, value); });
}

constexpr const char* kDamaged = "was not written by epsflow, or is damaged";

}  // namespace

TEST_CASE("results manifest: counts that are no counts are damage, wherever they stand") {
  for (const auto& [place, named] :
       std::vector<std::pair<std::string, std::string>>{{"/results/0/noise", "results[0].noise"},
                                                        {"/results/1/clusters", "results[1].clusters"},
                                                        {"/results/0/core", "results[0].core"},
                                                        {"/results/0/border", "results[0].border"},
                                                        {"/results/0/largest", "results[0].largest"},
                                                        {"/results/0/minpts", "results[0].minpts"},
                                                        {"/files/0/bytes", "files[0].bytes"},
                                                        {"/input/points", "input.points"},
                                                        {"/input/dims", "input.dims"},
                                                        {"/input/dropped_rows", "input.dropped_rows"},
                                                        {"/input/column_numbers/1", "input.column_numbers[1]"},
                                                        {"/input/files/0/rows", "input.files[0].rows"},
                                                        {"/input/files/0/dropped_rows", "input.files[0].dropped_rows"},
                                                        {"/variants", "variants"}}) {
    for (const std::string& value : kNoCounts) {
      CAPTURE(place, value);
      check_mentions(refusal_with(place, value),
                     {"sweep.json", kDamaged, named + " is ", "; move it away, or choose another folder"});
    }
  }
  for (const char* place :
       {"/results/0/noise", "/results/0/clusters", "/results/0/core", "/results/0/border", "/results/0/largest",
        "/results/0/minpts", "/results/0/eps", "/results/0/seconds", "/files/0/bytes"}) {
    CAPTURE(place);
    check_error<UsageError>({"sweep.json", kDamaged, "is missing"}, [&] { (void)read_without(place); });
  }
}

TEST_CASE("results manifest: eps and seconds are finite") {
  for (const auto& [place, named] : {std::pair<std::string, std::string>{"/results/0/eps", "results[0].eps"},
                                     {"/results/1/seconds", "results[1].seconds"},
                                     {"/runs/0/seconds", "runs[0].seconds"},
                                     {"/seconds", "seconds"}}) {
    for (const char* value : {"\"1\"", "null", "true", "[1]", "-1", "-1e61", "{}"}) {
      CAPTURE(place, value);
      check_mentions(refusal_with(place, value), {"sweep.json", kDamaged, named + " is "});
    }
    check_mentions(refusal_with(place, "1e400"), {"sweep.json", kDamaged});
    CHECK_NOTHROW(read_with(place, place == "/results/0/eps" ? "0.25" : "0"));
  }
  check_mentions(refusal_with("/results/0/eps", "0"), {"results[0].eps is 0"});
}

TEST_CASE("results manifest: counts fit each other, the points and the variants") {
  CHECK(read_with("/results/0/noise", "169").entries.at({0.25, 7}).summary == LabelSummary{13, 169, 1600, 231, 400});
  CHECK(read_with("/results/0/noise", "1.69e2").entries.at({0.25, 7}).summary.noise == 169);
  for (const auto& [place, value] : {std::pair{"/results/0/noise", "170"},
                                     {"/results/0/core", "1599"},
                                     {"/results/0/border", "0"},
                                     {"/results/0/clusters", "1601"},
                                     {"/results/0/clusters", "0"},
                                     {"/results/0/largest", "2001"},
                                     {"/results/0/largest", "1"},
                                     {"/results/0/largest", "0"},
                                     {"/input/points", "2001"},
                                     {"/input/points", "0"}}) {
    CAPTURE(place, value);
    check_mentions(refusal_with(place, value), {"sweep.json", kDamaged, "results[0]: "});
  }
  check_mentions(refusal_with("/variants", "3"), {"variants is 3, not a whole number from 2 to 2"});
}

TEST_CASE("results manifest: texts where the input needs them") {
  Json json = two_variants();
  json["input"]["slices"] = 5;
  const TempFolder folder;
  folder.write("sweep.json", json.dump());
  check_error<UsageError>({kDamaged, "input.slices is not a text"}, [&] { (void)read_manifest(folder / ""); });
}

TEST_CASE("results manifest: counts that are possible for the points of an input") {
  const SweepEntry entry{{0.5, 2}, {1, 1, 5, 1, 6}};
  CHECK_NOTHROW(require_possible(entry, R"({"checksum": "x", "points": 7})"));
  CHECK_NOTHROW(require_possible(entry, R"({"checksum": "x"})"));
  CHECK_THROWS_AS(require_possible(entry, R"({"checksum": "x", "points": 8})"), InputError);
  for (const char* input :
       {R"({"points": -2000})", R"({"points": 2000.5})", R"({"points": "7"})", "[]", "7", "junk", ""}) {
    CAPTURE(input);
    CHECK_THROWS_AS(require_possible(entry, input), InputError);
  }
}

}  // namespace epsflow::io::test
