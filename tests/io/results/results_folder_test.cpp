#include <epsflow/io/results/results_folder.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/io/results/results_files.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::io::test {
namespace {

FilePoints six_points(double first = 1) {
  FilePoints points(6, 1, Precision::float64);
  const std::span<double> values = points.values<double>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<double>(i);
  return points;
}

VariantResult result_of(const Variant& variant) {
  return {
      variant, {0, -1, 1, 1, 0, static_cast<std::int32_t>(variant.minpts)}, {2, 1, 3, 2, 3}, 1.5, {1, 0, 1, 1, 0, 1}};
}

const Sweep& both() {
  static const Sweep sweep({{0.25, 7}, {0.5, 7}});
  return sweep;
}

/// Returns options for labels and this output.
FolderOutputs with(const char* output, const char* extension = "") {
  FolderOutputs outputs;
  outputs.wanted.emplace(output, extension);
  return outputs;
}

/// Adds results of the variants that are missing, ends the run and returns these variants.
std::vector<Variant> fill(ResultsFolder& results, const FilePoints& points = six_points(), RunDescription run = {}) {
  const std::vector<Variant> missing = results.begin(results_input(points), std::move(run));
  for (const Variant& variant : missing) results.add(result_of(variant));
  results.finish("complete", 1, Trace());
  return missing;
}

/// Computes the missing variants of both() and returns their number.
std::size_t make(const std::filesystem::path& folder, FolderMode mode, const FolderOutputs& outputs = {},
                 const Notice& notice = {}) {
  std::size_t made = 0;
  {
    ResultsFolder results(folder, both(), mode, outputs, notice);
    made = fill(results).size();
    CHECK(results.entries().size() == 2);
  }
  CHECK_FALSE(std::filesystem::exists(folder / ".epsflow"));
  return made;
}

}  // namespace

TEST_CASE("results folder: the table of outputs is what names are known by") {
  for (const ResultsOutput& output : kResultsOutputs) {
    INFO(output.name);
    CHECK(find_output(output.name) == &output);
    CHECK_FALSE(output.commands.empty());
    const bool of_variant = output.scope == OutputScope::each_variant;
    CHECK(output.extensions.empty() != of_variant);
    CHECK(is_results_name(output.name) != of_variant);
    for_each_word(output.extensions, [&](std::string_view extension) {
      CHECK(is_results_name(variant_file(output.name, {0.25, 7}, extension)));
      FolderOutputs outputs{.wanted = {{std::string(output.name), std::string(extension)}}};
      CHECK(variant_files({0.25, 7}, outputs) == std::vector{variant_file(output.name, {0.25, 7}, extension)});
    });
    CHECK_FALSE(is_results_name(std::string(output.name) + "/eps_0.25_minpts_7.txt"));
    CHECK_FALSE(is_results_name("../" + std::string(output.name)));
  }
  CHECK(kResultsOutputs.front().name == kLabelsFolder);
  CHECK(find_output("labels/") == nullptr);
}

TEST_CASE("results folder: weights are a part of the input") {
  const TempFolder folder;
  const auto begin = [&](std::vector<double> weights, FolderMode mode) {
    FilePoints points = six_points();
    if (!weights.empty()) points.weight_column = "mass";
    points.weights = std::move(weights);
    ResultsFolder results(folder / "r", both(), mode, {}, nullptr);
    return fill(results, points, {.metric = "cosine"}).size();
  };
  const std::vector<double> ones(6, 1.0);
  CHECK(begin(ones, FolderMode::fresh) == 2);
  CHECK(begin(ones, FolderMode::resume) == 0);
  check_mentions(bytes_of_file(folder / "r/sweep.json"), {R"("metric": "cosine, weighted")", R"("weight": "mass")"});
  check_error<InputError>({"other weights of the points", "FolderMode::overwrite"},
                          [&] { begin(std::vector<double>(6, 2.0), FolderMode::resume); });
  check_error<InputError>({"results of points with weights"}, [&] { begin({}, FolderMode::resume); });
  CHECK(begin({}, FolderMode::overwrite) == 2);
  CHECK(bytes_of_file(folder / "r/sweep.json").find("weight") == std::string::npos);
  check_error<InputError>({"results of points without weights"}, [&] { begin(ones, FolderMode::resume); });
}

TEST_CASE("results folder: vectors that several have written are those of one") {
  const TempFolder folder;
  const FolderOutputs outputs = with(kCoreFolder, ".npy");
  CHECK(make(folder / "one", FolderMode::fresh, outputs) == 2);
  {
    ResultsFolder results(folder / "shared", both(), FolderMode::fresh, outputs, nullptr);
    for (const Variant& variant : results.begin(results_input(six_points()), {})) {
      const VariantResult result = result_of(variant);
      const std::vector<SharedVector> vectors = results.shared().vectors(variant);
      REQUIRE(vectors.size() == 2);
      const auto labels = std::as_bytes(std::span<const std::int32_t>(result.labels));
      const auto core = std::as_bytes(std::span<const std::uint8_t>(result.core));
      std::vector<FileDigest> digests;
      for (const SharedVector& vector : vectors) {
        const auto values = &vector == &vectors[0] ? labels : core;
        const std::size_t each = values.size() / 6;
        // The last rows are written first, and one share has no rows.
        const FileDigest last = write_share(vector, 4, values.subspan(4 * each), Durable::now);
        const FileDigest none = write_share(vector, 4, {});
        const FileDigest first = write_share(vector, 0, values.first(4 * each));
        digests.push_back(digest_of_shares(vector, std::vector{first, none, last}));
        CHECK(digests.back() == digest_of(vector.file));
      }
      results.add_shared(result, digests);
    }
    results.finish("complete", 1, Trace());
  }
  for (const std::string name : {"labels/eps_0.25_minpts_7.npy", "core/eps_0.5_minpts_7.npy", "summary.csv"}) {
    CHECK(bytes_of_file(folder / "shared" / name) == bytes_of_file(folder / "one" / name));
  }
  CHECK(make(folder / "shared", FolderMode::resume, outputs) == 0);
  const SharedVector gone{"labels.npy", folder / "gone/labels.npy", folder / "labels.npy", "<i4", 6};
  check_error<ResourceError>({"labels.npy", "choose one that all see"},
                             [&] { static_cast<void>(write_share(gone, 0, {})); });
}

TEST_CASE("results folder: variants that are known only later") {
  const TempFolder folder;
  const auto explore = [&](FolderMode mode) {
    FolderOutputs outputs = with(kExploreName);
    outputs.resumable = false;
    ResultsFolder results(folder / "r", Sweep(), mode, outputs, nullptr);
    results.ask(both());
    const std::vector<Variant> missing = results.begin(results_input(six_points()), {});
    for (const Variant& variant : missing) results.add(result_of(variant));
    results.add_file(kExploreName, [](const auto& file) { write_text_file(file, "{}"); });
    results.finish("complete", 1, Trace());
    return missing;
  };
  CHECK(explore(FolderMode::fresh) == both().variants());
  const std::string refused = error_of<UsageError>([&] { (void)explore(FolderMode::fresh); });
  check_mentions(refused, {"holds results already", "FolderMode::overwrite"});
  CHECK(refused.find("FolderMode::resume") == std::string::npos);
  CHECK(explore(FolderMode::overwrite).size() == 2);
  CHECK(std::filesystem::exists(folder / "r/explore.json"));
  // No variant is requested, and no file remains.
  { const ResultsFolder results(folder / "none", Sweep(), FolderMode::fresh, {}, nullptr); }
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
  std::filesystem::create_directories(folder / "s/labels");
  write_text_file(folder / "s/labels/eps_0.5_minpts_7.npy", "mine");
  ResultsFolder results(folder / "s", Sweep(), FolderMode::fresh, {}, nullptr);
  CHECK_THROWS_AS(results.ask(both()), InTheWay);
}

TEST_CASE("results folder: sweep.h5 is of variants that all have labels") {
  const TempFolder folder;
  CHECK(make(folder / "r", FolderMode::fresh, {.wanted = {}}) == 2);
  check_error<UsageError>({"counts alone were kept", "sweep.h5"}, [&] {
    make(folder / "r", FolderMode::resume, {.wanted = {{kHdf5Name, ""}}});
  });
  CHECK_FALSE(std::filesystem::exists(folder / "r/.epsflow"));
  CHECK(make(folder / "r", FolderMode::resume, with(kHdf5Name)) == 2);
  CHECK(std::filesystem::exists(folder / "r/sweep.h5"));
  check_error<UsageError>({"sweep.h5"}, [&] {
    make(folder / "new", FolderMode::fresh, {.wanted = {{kHdf5Name, ""}}});
  });
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  // A file that an earlier run requested goes with the first variant without labels, and comes with the last labels.
  std::string said;
  const auto add = [&](double eps, const FolderOutputs& outputs, RunDescription run = {}) {
    const auto notice = [&](const std::string& text) { said = text; };
    ResultsFolder results(folder / "h", Sweep({{eps, 7}}), FolderMode::resume, outputs, notice);
    CHECK(fill(results, six_points(), std::move(run)).size() == 1);
    return std::filesystem::exists(folder / "h/sweep.h5");
  };
  CHECK(add(0.25, with(kHdf5Name), {.options = {{"hdf5", ""}}}));
  CHECK_FALSE(add(0.5, {.wanted = {}}));
  check_mentions(said, {"sweep.h5 is not written"});
  CHECK(add(0.5, {}));
}

TEST_CASE("results folder: what is there is not made again, and what is asked for beside it is") {
  const TempFolder folder;
  CHECK(make(folder / "r", FolderMode::fresh) == 2);
  CHECK(make(folder / "r", FolderMode::resume) == 0);
  CHECK(make(folder / "r", FolderMode::resume, with(kCoreFolder, ".npy")) == 2);
  CHECK(std::filesystem::exists(folder / "r/core/eps_0.25_minpts_7.npy"));
  CHECK(make(folder / "r", FolderMode::resume, with(kCoreFolder, ".npy")) == 0);
  CHECK(make(folder / "r", FolderMode::overwrite) == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "r/core"));
  check_error<UsageError>({"holds results already", "FolderMode::resume", "FolderMode::overwrite"},
                          [&] { make(folder / "r", FolderMode::fresh); });
}

TEST_CASE("results folder: another input is not resumed, and nothing is changed") {
  const TempFolder folder;
  make(folder / "r", FolderMode::fresh);
  const auto digest = digest_of(folder / "r/sweep.json");
  ResultsFolder results(folder / "r", both(), FolderMode::resume, {}, {});
  check_error<InputError>({"another input", "FolderMode::overwrite"},
                          [&] { (void)results.begin(results_input(six_points(9)), {}); });
  CHECK(digest_of(folder / "r/sweep.json") == digest);
}

TEST_CASE("results folder: labelled files need a name and what writes them") {
  const TempFolder folder;
  ResultsFolder results(folder / "r", both(), FolderMode::fresh, with(kLabelledFolder, ".csv"), {});
  check_error<UsageError>({"labelled", "give both"}, [&] { (void)results.begin(results_input(six_points()), {}); });
}

TEST_CASE("results folder: a run that finished nothing leaves no trace, neither ended nor dropped") {
  const TempFolder folder;
  for (const bool ended : {false, true}) {
    ResultsFolder results(folder / "a/r", both(), FolderMode::fresh, {}, {});
    CHECK(results.begin(results_input(six_points()), {}).size() == 2);
    if (ended) results.finish("failed", 1, Trace(), "no memory");
  }
  CHECK(std::filesystem::is_empty(folder / ""));
}

TEST_CASE("results folder: what a killed run had journalled counts, moved or not; a torn line does not") {
  const TempFolder folder;
  make(folder / "whole", FolderMode::fresh);
  const Manifest whole = read_manifest(folder / "whole");
  const std::filesystem::path hidden = folder / "r/.epsflow";
  std::filesystem::create_directories(hidden / "partial");
  const std::string checksum = checksum_of(six_points());
  {
    Journal journal(hidden / "journal",
                    {.input = describe_input(results_input(six_points()), checksum),
                     .runs = {describe_run({}, now_utc(), "running", 0, {})}},
                    false);
    for (const auto& [variant, entry] : whole.entries) {
      journal.add(labels_name(variant), whole.files.at(labels_name(variant)));
      journal.add(entry);
    }
    journal.sync();
  }
  std::filesystem::create_directories(folder / "r/labels");
  std::filesystem::copy(folder / "whole/labels/eps_0.25_minpts_7.npy", folder / "r/labels");
  const std::filesystem::path partial = hidden / "partial/labels-eps_0.5_minpts_7.npy";
  std::size_t expected = 1;
  SECTION("moved and not moved") {
    std::filesystem::copy(folder / "whole/labels/eps_0.5_minpts_7.npy", partial);
    expected = 0;
  }
  SECTION("a file that is cut short") {
    std::filesystem::copy(folder / "whole/labels/eps_0.5_minpts_7.npy", partial);
    std::filesystem::resize_file(partial, 100);
  }
  SECTION("a torn line") {
    std::filesystem::resize_file(hidden / "journal", std::filesystem::file_size(hidden / "journal") - 3);
  }
  check_error<UsageError>({"holds results already"}, [&] { make(folder / "r", FolderMode::fresh); });
  CHECK(make(folder / "r", FolderMode::resume) == expected);
  CHECK(digest_of(folder / "r/labels/eps_0.5_minpts_7.npy") == digest_of(folder / "whole/labels/eps_0.5_minpts_7.npy"));
}

TEST_CASE("results folder: a replacement takes the place of the old results wherever that was cut off") {
  const TempFolder folder;
  for (const int moment : {0, 1, 2, 3}) {
    INFO(moment);
    const std::filesystem::path results = folder / "r";
    std::filesystem::remove_all(results);
    {
      const Sweep other({{0.5, 7}, {0.75, 7}});
      ResultsFolder old(results, other, FolderMode::fresh, {}, {});
      fill(old);
    }
    const std::filesystem::path next = results / ".epsflow/replacement";
    make(folder / "next", FolderMode::fresh);
    std::filesystem::create_directories(next.parent_path());
    std::filesystem::rename(folder / "next", next);
    {
      Journal journal(results / ".epsflow/journal",
                      {.input = describe_input(results_input(six_points()), checksum_of(six_points())),
                       .runs = {describe_run({}, now_utc(), "running", 0, {})}},
                      true);
      journal.add_commit();
      journal.sync();
    }
    if (moment > 0) std::filesystem::remove(results / "labels/eps_0.75_minpts_7.npy");
    if (moment > 1) remove_results(results, read_manifest(results));
    if (moment > 2) {
      std::filesystem::create_directories(results / "labels");
      std::filesystem::rename(next / "labels/eps_0.25_minpts_7.npy", results / "labels/eps_0.25_minpts_7.npy");
    }
    CHECK(make(results, FolderMode::resume) == 0);
    CHECK_FALSE(std::filesystem::exists(results / "labels/eps_0.75_minpts_7.npy"));
  }
}

TEST_CASE("results folder: summary.csv is made of sweep.json, and never read") {
  const TempFolder folder;
  make(folder / "r", FolderMode::fresh);
  const std::string summary = bytes_of_file(folder / "r/summary.csv");
  for (const FolderMode mode : {FolderMode::resume, FolderMode::overwrite}) {
    for (const char* text : {"", "0.3;7\r\n", "0.3,7,1,1,1,1,1,0.1,../victim,0"}) {
      folder.write("r/summary.csv", text);
      CHECK(make(folder / "r", mode) == (mode == FolderMode::resume ? 0 : 2));
      CHECK(bytes_of_file(folder / "r/summary.csv") == summary);
    }
    std::filesystem::remove(folder / "r/summary.csv");
    CHECK(make(folder / "r", mode) == (mode == FolderMode::resume ? 0 : 2));
    CHECK(bytes_of_file(folder / "r/summary.csv") == summary);
  }
}

TEST_CASE("results folder: an eps of the folder stands for one that differs by rounding, and says so") {
  const TempFolder folder;
  const double rounded = 0.1 * 3;
  std::string said;
  const auto made = [&](const std::vector<Variant>& variants) {
    ResultsFolder results(folder / "r", Sweep(variants), FolderMode::resume, {},
                          [&](const std::string& text) { said += text; });
    return fill(results);
  };
  CHECK(made({{rounded, 7}}) == std::vector<Variant>{{rounded, 7}});
  CHECK(made({{0.3, 7}}).empty());
  check_mentions(said, {"labels/eps_0.30000000000000004_minpts_7.npy is taken for eps 0.3"});
  CHECK(made({{0.3, 8}, {0.3 * (1 + 1e-8), 7}}).size() == 2);
  // If both eps are requested, both are computed.
  CHECK(made({{0.3, 7}, {rounded, 7}}) == std::vector<Variant>{{0.3, 7}});
}

TEST_CASE("results names: epsflow's own, and no others") {
  for (const char* name : {"summary.csv", "rows.npy", "labels/eps_0.1_minpts_4.npy", "core/eps_1e-05_minpts_1.npy",
                           "labelled/eps_2_minpts_3.csv", "labels/minpts_5_size_15.npy", "hierarchy.npz",
                           "probabilities/minpts_5_size_2.npy", "catalog/minpts_5_size_15.h5"}) {
    INFO(name);
    CHECK(is_results_name(name));
  }
  for (const char* name :
       {"", "x", "labels/minpts_5_size_1.npy", "labels/minpts_0_size_5.npy", "labels/minpts_5.npy",
        "labels/eps_0_minpts_5_size_15.npy", "../summary.csv", "labels/../summary.csv", "labels/eps_0.10_minpts_4.npy",
        "labels/eps_0.1_minpts_4.csv", "labels/eps_/../x_minpts_4.npy", "labels/eps_0.1_minpts_-4.npy",
        "labels/eps_-1_minpts_4.npy", "labels/eps_inf_minpts_4.npy", "labels/eps_nan_minpts_4.npy",
        "labels/eps_1e400_minpts_4.npy", "labels/eps_0.1_minpts_0.npy", "labels/eps_0.1_minpts_4/../4.npy",
        "other/eps_0.1_minpts_4.npy"}) {
    INFO(name);
    CHECK_FALSE(is_results_name(name));
  }
}

TEST_CASE("results folder: a journal whose run says little is enough to replace what it tells of") {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "r/.epsflow");
  {
    Journal journal(folder / "r/.epsflow/journal",
                    {.input = R"({"checksum": "x"})", .runs = {R"({"status": "running"})"}}, false);
    journal.add("labels/eps_0.5_minpts_2.npy", FileDigest{152, 0xe02015c5});
    journal.add(SweepEntry{{0.5, 2}, {2, 1, 5, 0, 3}, 0.1});
    journal.sync();
  }
  CHECK(make(folder / "r", FolderMode::overwrite) == 2);
}

}  // namespace epsflow::io::test
