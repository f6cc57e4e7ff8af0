#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sweep.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/pipeline/validity.hpp>

namespace epsflow::cli {
namespace {

/// The variants of the folder that --cell names, or all.
std::vector<const io::SweepEntry*> entries_of(const Arguments& arguments, const std::string& folder,
                                              const io::Manifest& manifest) {
  std::vector<const io::SweepEntry*> entries;
  for (const std::string& text : arguments.texts("cell")) {
    for (const Variant& cell : parse_variants(text)) entries.push_back(&require_variant(folder, manifest, cell));
  }
  if (entries.empty()) {
    for (const auto& [variant, entry] : manifest.entries) entries.push_back(&entry);
  }
  for (const io::SweepEntry* const entry : entries) require_labels(folder, *entry);
  return entries;
}

/// Throws InputError where a folder is of other points, or of points that a metric moves: labels of these are judged by other distances.
void require_same_points(const std::string& folder, const io::Manifest& manifest, const io::FilePoints& points) {
  const std::string checksum = io::checksum_of_input(points, "");
  const std::string of_folder = io::without_weights(manifest.checksum);
  if (of_folder == checksum || of_folder == "unknown") return;
  throw InputError(
      fmt::format("{} is of \"{}\", and these points are \"{}\": give the points that were clustered, with the same "
                  "columns; validity is of Euclidean distances alone",
                  folder, of_folder, checksum));
}

class Report {
 public:
  void add(const Validity& found, const io::SweepEntry* entry) {
    std::vector<std::string> row;
    nlohmann::ordered_json cell;
    if (entry != nullptr) {
      row = {format_number(entry->variant.eps), std::to_string(entry->variant.minpts)};
      cell = {{"eps", entry->variant.eps}, {"minpts", entry->variant.minpts}};
    }
    row.insert(row.end(), {format_count(found.clusters.size()), text_of(found.score), text_of(found.error)});
    rows_.push_back(std::move(row));
    cell["validity"] = json_of(found.score);
    cell["error"] = json_of(found.error);
    cell["clusters"] = nlohmann::ordered_json::array();
    for (const ClusterValidity& c : found.clusters) {
      cell["clusters"].push_back({{"cluster", c.cluster},
                                  {"points", c.points},
                                  {"validity", json_of(c.score)},
                                  {"error", json_of(c.error)},
                                  {"sparseness", json_of(c.sparseness)},
                                  {"separation", json_of(c.separation)}});
    }
    json_.push_back(std::move(cell));
  }

  void print(const Arguments& arguments, std::uint64_t points) const {
    if (arguments.flag("json")) {
      print_json({{"points", points}, {"labellings", json_}});
    } else if (!arguments.flag("quiet")) {
      std::vector<Words> rows{{"clusters", "validity", "error"}};
      if (rows_.front().size() > rows.front().size()) rows.front().insert(rows.front().begin(), {"eps", "minpts"});
      rows.insert(rows.end(), rows_.begin(), rows_.end());
      print_columns(rows);
    }
  }

 private:
  static std::string text_of(double value) { return std::isnan(value) ? "-" : fmt::format("{:.6f}", value); }
  static nlohmann::ordered_json json_of(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  }

  std::vector<Words> rows_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

int run_validity(const Arguments& arguments) {
  arguments.require({});
  if (arguments.given("results") == arguments.given("labels")) {
    throw UsageError("give one of --results FOLDER and --labels FILE: the labels that are to be judged");
  }
  if (arguments.given("cell") && arguments.given("labels")) {
    throw UsageError("--cell chooses variants of --results, and --labels is one labelling: leave --cell out");
  }
  EngineOptions options;
  take(arguments, options);
  const ValidityOptions samples{.sample = arguments.number("sample"), .samples = arguments.number("samples")};
  const io::FilePoints points = read_input(arguments);
  require_points(points);
  const InterruptGuard interrupt;
  Report report;
  const auto judge = [&](const std::vector<std::int32_t>& labels, const io::SweepEntry* entry) {
    report.add(validity(points.view(), labels, Metric{}, samples, options, {.cancel = &interrupt.token()}), entry);
  };
  if (arguments.given("labels")) {
    const std::string& file = arguments.text("labels");
    judge(read_for_points(file, kLabelNumbers, points), nullptr);
  } else {
    const std::string& folder = arguments.text("results");
    const io::Manifest manifest = read_results(folder);
    require_same_points(folder, manifest, points);
    for (const io::SweepEntry* const entry : entries_of(arguments, folder, manifest)) {
      const std::string name = io::labels_name(entry->variant);
      require_unchanged(folder, manifest, name);
      const std::filesystem::path file = std::filesystem::path(folder) / name;
      judge(read_for_points(file, kLabelNumbers, points), entry);
    }
  }
  report.print(arguments, points.size());
  return kDone;
}

}  // namespace

Command validity_command() {
  const ValidityOptions standard;
  return {.name = "validity",
          .summary = "tell how well clusters are separated (DBCV)",
          .usage = "FILE … --results FOLDER | --labels FILE",
          .about =
              "The index DBCV of labels: -1 for clusters that lie in each other, 1 for dense ones that are far apart,\n"
              "the mean over all points, and noise counts 0; - where there is one cluster alone. Of a results folder\n"
              "it judges every variant, or those of --cell. By Euclidean distances, on the CPU, in the time of all\n"
              "pairs of points of a cluster. Clusters of more than sample · samples points are judged by samples,\n"
              "with the standard error; such scores tend to be too high. JSON has each cluster.",
          .example = "epsflow validity points.csv --columns x,y --results results --cell 0.3:8",
          .operand = {"FILE …"},
          .groups = {{"The labels",
                      {{.name = "results",
                        .kind = ValueKind::folder,
                        .value = "FOLDER",
                        .help = "a results folder of these points"},
                       {.name = "cell",
                        .value = "EPS:MINPTS",
                        .several = true,
                        .help = "a variant of the results (default: each)"},
                       {.name = "labels",
                        .kind = ValueKind::file,
                        .value = "FILE",
                        .help = "a file of labels, of any kind that epsflow writes"}}},
                     {"Large clusters",
                      {{.name = "sample",
                        .kind = ValueKind::integer,
                        .value = "N",
                        .least = 2,
                        .standard = std::to_string(standard.sample),
                        .help = "points of a sample"},
                       {.name = "samples",
                        .kind = ValueKind::integer,
                        .value = "N",
                        .least = 2,
                        .standard = std::to_string(standard.samples),
                        .help = "disjoint samples of a cluster"}}},
                     unweighted_input_options(),
                     {"What to use of the machine", {spec_of<EngineOptions>("threads")}},
                     message_options()},
          .run = run_validity};
}

}  // namespace epsflow::cli
