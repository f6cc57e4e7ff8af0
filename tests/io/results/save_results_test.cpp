#include <epsflow/io/results/save_results.hpp>

#include <cmath>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/io/results/results_files.hpp>

namespace epsflow::io::test {
namespace {

const std::vector<std::int32_t> kLabels{0, -1, 1, 1};
const std::vector<std::uint8_t> kCore{1, 0, 1, 1};
const std::vector<std::int64_t> kRows{0, 2, 3, 4};

HeldResults held(double eps) {
  return {.variants = {{{{eps, 7}, {2, 1, 3, 0, 2}, 1.5}, kLabels, kCore}},
          .input = R"({"checksum": "x, cosine", "points": 4})",
          .run = {.version = "1"},
          .rows = kRows};
}

}  // namespace

TEST_CASE("save results: the folder says all that was held") {
  const TempFolder folder;
  save_results(folder / "a/r", held(0.5), Overwrite::refuse);
  const Manifest manifest = read_manifest(folder / "a/r");
  CHECK(manifest.entries.at({0.5, 7}).summary == LabelSummary{2, 1, 3, 0, 2});
  CHECK(manifest.checksum == "x, cosine");
  for (const char* name : {"labels/eps_0.5_minpts_7.npy", "core/eps_0.5_minpts_7.npy", "rows.npy"}) {
    CHECK(digest_of(folder / "a/r" / name) == manifest.files.at(name));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "a/r/.epsflow"));
}

TEST_CASE("save results: results are replaced only when told, and then whole") {
  const TempFolder folder;
  save_results(folder / "r", held(0.5), Overwrite::refuse);
  check_mentions(error_of<InTheWay>([&] { save_results(folder / "r", held(0.25), Overwrite::refuse); }),
                 {"holds results already", "Overwrite::replace"});
  save_results(folder / "r", held(0.25), Overwrite::replace);
  CHECK(read_manifest(folder / "r").entries.size() == 1);
  CHECK_FALSE(std::filesystem::exists(folder / "r/labels/eps_0.5_minpts_7.npy"));
}

TEST_CASE("save results: what is cancelled or refused leaves no trace") {
  const TempFolder folder;
  CancelToken cancel;
  cancel.cancel();
  CHECK_THROWS_AS(save_results(folder / "a/r", held(0.5), Overwrite::refuse, {}, cancel), Cancelled);
  CHECK_THROWS_AS(save_results(folder / "a/r", {}, Overwrite::refuse), UsageError);
  CHECK_FALSE(std::filesystem::exists(folder / "a"));
  save_results(folder / "r", held(0.5), Overwrite::refuse);
  CHECK_THROWS_AS(save_results(folder / "r", held(0.25), Overwrite::replace, {}, cancel), Cancelled);
  CHECK(read_manifest(folder / "r").entries.contains({0.5, 7}));
  CHECK_FALSE(std::filesystem::exists(folder / "r/.epsflow"));
}

TEST_CASE("save results: counts of no clustering of the points are refused, and leave no trace") {
  const TempFolder folder;
  const auto refused = [&](auto&& change, const char* named) {
    HeldResults results = held(0.5);
    change(results);
    check_mentions(error_of<InputError>([&] { save_results(folder / "r", results, Overwrite::refuse); }),
                   {named, "make them again"});
    CHECK_FALSE(std::filesystem::exists(folder / "r"));
  };
  refused([](HeldResults& r) { r.variants[0].entry.summary.noise = 2; }, "5 together, and there are 4 points");
  refused([](HeldResults& r) { r.variants[0].entry.summary.clusters = 4; }, "4 clusters");
  refused([](HeldResults& r) { r.variants[0].entry.summary.noise = ~std::uint64_t{0}; },
          "noise is 18446744073709551615");
  refused([](HeldResults& r) { r.variants[0].entry.seconds = std::nan(""); }, "seconds is of type null");
  refused([](HeldResults& r) { r.variants[0].entry.variant.eps = 0; }, "eps is 0");
  refused([](HeldResults& r) { r.variants[0].entry.variant.minpts = 0; }, "minpts is 0");
  refused([](HeldResults& r) { r.input = R"({"checksum": "x", "points": 4.5})"; }, "input.points is 4.5");
  for (const char* input : {"[]", "7", "junk", ""}) {
    refused([&](HeldResults& r) { r.input = input; }, "those of no clustering");
  }
}

TEST_CASE("save results: a run that did not end is left to who goes on with it") {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "r/.epsflow");
  {
    const Journal journal(folder / "r/.epsflow/journal",
                          {.input = R"({"checksum": "x"})", .runs = {R"({"status": "running"})"}}, false);
  }
  check_mentions(error_of<UsageError>([&] { save_results(folder / "r", held(0.5), Overwrite::replace); }),
                 {"killed", "FolderMode::resume"});
  {
    Journal journal(folder / "r/.epsflow/journal",
                    {.input = R"({"checksum": "x", "points": 4})", .runs = {R"({"status": "running"})"}}, false);
    const SweepEntry entry{.variant = {0, 7, 2}, .summary = {.noise = 4}};
    journal.add(labels_name(entry.variant), FileDigest{});
    journal.add(entry);
    journal.sync();
  }
  const std::string of_trees = error_of<UsageError>([&] { save_results(folder / "r", held(0.5), Overwrite::replace); });
  check_mentions(of_trees, {"killed", "another folder"});
  CHECK(of_trees.find("resume") == std::string::npos);
  CHECK(std::filesystem::exists(folder / "r/.epsflow/journal"));
}

}  // namespace epsflow::io::test
