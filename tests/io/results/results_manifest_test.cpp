#include <epsflow/io/results/results_manifest.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/io_test.hpp"

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

/// Reads sweep.json with the text `value` in place of the value at `path`.
Manifest read_with(const std::string& path, const std::string& value) {
  Json json = two_variants();
  const Json::json_pointer pointer(path);
  REQUIRE(json.contains(pointer));
  json[pointer] = "@";
  std::string text = json.dump();
  text.replace(text.find("\"@\""), 3, value);
  const TempFolder folder;
  folder.write("sweep.json", text);
  return read_manifest(folder / "");
}

Manifest read_without(const std::string& path) {
  Json json = two_variants();
  const Json::json_pointer pointer(path);
  json[pointer.parent_pointer()].erase(pointer.back());
  const TempFolder folder;
  folder.write("sweep.json", json.dump());
  return read_manifest(folder / "");
}

/// Returns the text with which sweep.json is refused if it has `value` at `path`.
std::string refusal_with(const std::string& path, const std::string& value) {
  return error_of<UsageError>([&] { (void)read_with(path, value); });
}

constexpr const char* kDamaged = "was not written by epsflow, or is damaged";

}  // namespace

// json_numbers_test.cpp tests numbers of all forms, and counts that do not fit each other.
TEST_CASE("results manifest: numbers that no run writes are damage, wherever they stand") {
  CHECK(read_with("/results/0/noise", "169").entries.at({0.25, 7}).summary == LabelSummary{13, 169, 1600, 231, 400});
  for (const auto& [path, named] : {std::pair{"/results/0/noise", "results[0].noise"},
                                    {"/results/1/clusters", "results[1].clusters"},
                                    {"/results/0/core", "results[0].core"},
                                    {"/results/0/border", "results[0].border"},
                                    {"/results/0/largest", "results[0].largest"},
                                    {"/results/0/minpts", "results[0].minpts"},
                                    {"/results/0/eps", "results[0].eps"},
                                    {"/results/1/seconds", "results[1].seconds"},
                                    {"/runs/0/seconds", "runs[0].seconds"},
                                    {"/files/0/bytes", "files[0].bytes"},
                                    {"/input/points", "input.points"},
                                    {"/input/dims", "input.dims"},
                                    {"/input/dropped_rows", "input.dropped_rows"},
                                    {"/input/column_numbers/1", "input.column_numbers[1]"},
                                    {"/input/files/0/rows", "input.files[0].rows"},
                                    {"/input/files/0/dropped_rows", "input.files[0].dropped_rows"},
                                    {"/seconds", "seconds"},
                                    {"/variants", "variants"}}) {
    CAPTURE(path);
    check_mentions(refusal_with(path, "-1"), {"sweep.json", kDamaged, std::string(named) + " is -1, not a ",
                                              "; move it away, or choose another folder"});
  }
  check_mentions(refusal_with("/results/0/noise", "1e400"), {"sweep.json", kDamaged});
  check_error<UsageError>({"sweep.json", kDamaged, "files[0].bytes is missing"},
                          [&] { (void)read_without("/files/0/bytes"); });
  for (const auto& [path, value] : {std::pair{"/results/0/noise", "170"}, {"/input/points", "2001"}}) {
    check_mentions(refusal_with(path, value), {"sweep.json", kDamaged, "results[0]: noise, core and border points"});
  }
  check_mentions(refusal_with("/variants", "3"), {"variants is 3, not a whole number from 2 to 2"});
}

TEST_CASE("results manifest: lists that are missing or of another form are damage") {
  for (const char* list : {"/runs", "/results", "/files"}) {
    CAPTURE(list);
    check_error<UsageError>({"sweep.json", kDamaged}, [&] { (void)read_without(list); });
  }
  for (const auto& [path, value] : {std::pair{"/runs", "3"},
                                    {"/runs", "[1]"},
                                    {"/runs", "[{}]"},
                                    {"/runs", R"([{"status": 3}])"},
                                    {"/runs", R"({"a": 1})"},
                                    {"/results", "3"},
                                    {"/results", "[3]"},
                                    {"/results", "[{}]"}}) {
    CAPTURE(path, value);
    check_mentions(refusal_with(path, value), {"sweep.json", kDamaged});
  }
  check_mentions(refusal_with("/input", R"({"checksum": "x", "slices": 5})"), {kDamaged, "input.slices is not a text"});
  check_mentions(refusal_with("/results/0/minpts", "8"),
                 {kDamaged, "results[0] has labels that are not among the files"});
  check_mentions(refusal_with("/results", R"([{"minpts": 7, "min_cluster_size": 1, "clusters": 0, "noise": 2000,
                                               "clustered": 0, "largest": 0, "persistence": 1, "seconds": 1}])"),
                 {kDamaged, "results[0].min_cluster_size is 1"});
}

}  // namespace epsflow::io::test
