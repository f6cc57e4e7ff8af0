#include <cmath>

#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/pipeline/on_threads.hpp>

namespace epsflow::cli {
namespace {

/// Returns these variants of the folder; all if there are none.
std::vector<const io::SweepEntry*> entries_of(const std::string& folder, const io::Manifest& manifest,
                                              const std::vector<Variant>& cells) {
  std::vector<const io::SweepEntry*> entries;
  entries.reserve(cells.size());
  for (const Variant& cell : cells) entries.push_back(&require_variant(folder, manifest, cell));
  if (entries.empty()) {
    for (const auto& [variant, entry] : manifest.entries) entries.push_back(&entry);
  }
  for (const io::SweepEntry* const entry : entries) require_labels(folder, *entry);
  return entries;
}

/// Throws InputError if a folder has other points, or a metric that transforms points and so gives other distances.
void require_same_points(const std::string& folder, const io::Manifest& manifest, const io::FilePoints& points) {
  const std::string checksum = io::checksum_of_input(points, "");
  const std::string of_folder = io::without_weights(manifest.checksum);
  if (of_folder == checksum || of_folder == "unknown") return;
  throw input_error(
      "{} is of \"{}\", and these points are \"{}\": give the points that were clustered, with the same "
      "columns; validity is of Euclidean distances alone",
      folder, of_folder, checksum);
}

class ValidityReport {
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
    cell["validity"] = found.score;
    cell["error"] = found.error;
    cell["clusters"] = nlohmann::ordered_json::array();
    for (const ClusterValidity& c : found.clusters) {
      cell["clusters"].push_back({{"cluster", c.cluster},
                                  {"points", c.points},
                                  {"validity", c.score},
                                  {"error", c.error},
                                  {"sparseness", c.sparseness},
                                  {"separation", c.separation}});
    }
    json_.push_back(std::move(cell));
  }

  void print(const Messages& messages, std::uint64_t points) const {
    if (messages.json) {
      print_json({{"points", points}, {"labellings", json_}});
    } else if (!messages.quiet) {
      std::vector<Words> rows{{"clusters", "validity", "error"}};
      if (rows_.front().size() > rows.front().size()) rows.front().insert(rows.front().begin(), {"eps", "minpts"});
      rows.insert(rows.end(), rows_.begin(), rows_.end());
      print_columns(rows);
    }
  }

 private:
  static std::string text_of(double value) { return std::isnan(value) ? "-" : fmt::format("{:.6f}", value); }

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
  const std::vector<Variant> cells = parse_cells(arguments);
  const ValidityOptions samples{.sample = arguments.number("sample"), .samples = arguments.number("samples")};
  const Input input = parse_input(arguments);
  EngineOptions engine;
  take(arguments, engine);
  const io::FilePoints points = input.read();
  require_points(points, points.size());
  const InterruptGuard interrupt;
  ValidityReport report;
  const auto judge = [&](const std::filesystem::path& file, const io::SweepEntry* entry) {
    const std::vector<std::int32_t> labels = read_for_points(file, kLabelNumbers, points);
    report.add(validity(points.view(), labels, Metric{}, samples, engine, {.cancel = &interrupt.token()}), entry);
  };
  if (arguments.given("labels")) {
    judge(arguments.text("labels"), nullptr);
  } else {
    const std::string& folder = arguments.text("results");
    const io::Manifest manifest = read_results(folder);
    require_same_points(folder, manifest, points);
    for (const io::SweepEntry* const entry : entries_of(folder, manifest, cells)) {
      judge(require_unchanged(folder, manifest, io::labels_name(entry->variant)), entry);
    }
  }
  report.print(input.messages, points.size());
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
                      {folder_option("results", "a results folder of these points", false),
                       several(text_option("cell", "EPS:MINPTS", "a variant of the results (default: each)")),
                       input_file("labels", "a file of labels, of any kind that epsflow writes")}},
                     {"Large clusters",
                      {count_option("sample", 2, std::to_string(standard.sample), "points of a sample"),
                       count_option("samples", 2, std::to_string(standard.samples), "disjoint samples of a cluster")}},
                     unweighted_input_options(),
                     {"What to use of the machine", {spec_of<EngineOptions>("threads")}},
                     message_options()},
          .run = run_validity};
}

}  // namespace epsflow::cli
