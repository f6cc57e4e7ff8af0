#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/slice_rows.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/pipeline/predict.hpp>
#include <epsflow/sky/sky_columns.hpp>

namespace epsflow::cli {
namespace {

/// The formats of labels that store no variant.
constexpr std::array kPlainFormats{io::OutputFormat::npy, io::OutputFormat::csv, io::OutputFormat::fits};

/// Returns the machine options that apply to this command.
OptionGroup resources() {
  return {"What to use of the machine", {spec_of<EngineOptions>("memory"), spec_of<EngineOptions>("threads")}};
}

struct PredictCommand {
  Input old = {};  ///< the points that were clustered
  Input fresh = {};
  std::filesystem::path labels = {}, core = {};  ///< the files of the old points' labels and mask
  double eps = 0;
  std::string checksum = {};  ///< the checksum of points and metric in the results folder; empty without a folder
  EngineOptions engine = {};
};

/// Parses the options for reading and for the metric among `values`.
Input parse_reading(const Arguments& arguments, const OptionValues& values, const Words& files) {
  OptionValues selected;
  for (const OptionGroup& group : {unweighted_input_options(), metric_options(), resources(), message_options()}) {
    for (const OptionSpec& option : group.options) {
      if (const auto at = values.find(option.name); at != values.end()) selected.insert(*at);
    }
  }
  return parse_input(Arguments(arguments.command(), selected, files));
}

double parse_eps_of_clustering(const Arguments& arguments) {
  const std::vector<double> eps = parse_eps_list(arguments.text("eps"));
  if (eps.size() == 1) return eps.front();
  throw usage_error("predict takes one eps, that of the clustering, and --eps {} gives {}", arguments.text("eps"),
                    eps.size());
}

void refuse(const Arguments& arguments, std::initializer_list<const char*> options, std::string_view why) {
  for (const char* option : options) {
    if (arguments.given(option)) throw usage_error("--{}: {}; leave it out", option, why);
  }
}

PredictCommand parse_files(const Arguments& arguments) {
  arguments.require({"points", "labels", "core", "eps"});
  refuse(arguments, {"minpts"}, "it chooses a variant of --results");
  return {.old = parse_reading(arguments, arguments.all_given(), arguments.texts("points")),
          .fresh = parse_reading(arguments, arguments.all_given(), arguments.operands()),
          .labels = arguments.text("labels"),
          .core = arguments.text("core"),
          .eps = parse_eps_of_clustering(arguments)};
}

/// Returns the input files of a results folder.
Words files_of_input(const std::string& folder, const nlohmann::json& input) {
  Words files;
  for (const auto& file : input.value("files", nlohmann::json::array())) {
    files.push_back(file.at("name").get<std::string>());
  }
  for (const std::string& file : files) {
    if (std::error_code code; std::filesystem::exists(file, code)) continue;
    throw input_error("the points of {} were read from {}, which is not there: give them with --points{}", folder, file,
                      files.size() == 1 ? "" : fmt::format(", once for each of the {} files", files.size()));
  }
  if (files.empty()) throw InputError(folder + " does not say where its points are: give them with --points");
  return files;
}

/// The options for reading files of one kind. They do not apply to files of another kind.
constexpr std::array kOfKind{"dims",    "precision", "header", "delimiter", "decimal",
                             "comment", "skip-rows", "table",  "external"};
/// The option for the order of longitude and latitude, which differs from file to file.
constexpr const char* kOrder = "latitude-first";

bool of_one_kind(const Words& a, const Words& b) {
  return std::filesystem::path(a.front()).extension() == std::filesystem::path(b.front()).extension();
}

Variant parse_asked(const Arguments& arguments) {
  const std::vector<std::uint32_t> minpts = parse_minpts_list(arguments.text("minpts"));
  if (minpts.size() == 1) return {parse_eps_of_clustering(arguments), minpts.front()};
  throw usage_error("predict takes one minpts, that of the clustering, and --minpts {} gives {}",
                    arguments.text("minpts"), minpts.size());
}

/// Returns the stored variant. Throws InputError if it has no labels or no mask of core points in the folder.
Variant held_variant(const std::string& folder, const io::Manifest& manifest, const Variant& asked) {
  const io::SweepEntry& held = require_variant(folder, manifest, asked);
  const Variant& variant = held.variant;
  if (!held.has_labels) {
    throw input_error(
        "{} has no labels of eps {} and minpts {}, as --keep summary left them out: sweep again without it "
        "and with --core, which --resume adds to what is there",
        folder, format_number(variant.eps), variant.minpts);
  }
  if (!manifest.files.contains(io::core_name(variant))) {
    throw input_error(
        "{} has no mask of core points of eps {} and minpts {}: sweep again with --core, which "
        "--resume adds to what is there",
        folder, format_number(variant.eps), variant.minpts);
  }
  return variant;
}

/// Returns the options that read the same points as the run did.
OptionValues options_of_run(const nlohmann::json& run, const nlohmann::json& input) {
  const auto given = run.value("options", nlohmann::json::object()).get<OptionValues>();
  InputOptions options(given.begin(), given.end());
  name_columns(options, input.value("columns", Words()), input.value("column_numbers", std::vector<std::size_t>()));
  OptionValues values(options.begin(), options.end());
  for (const char* option : kColumnsBeside) values.erase(option);  // they are not used here
  return values;
}

PredictCommand parse_folder(const Arguments& arguments) {
  arguments.require({"results", "eps", "minpts"});
  refuse(arguments, {"labels", "core"}, "--results has the labels and the mask of core points");
  const std::string& folder = arguments.text("results");
  const Variant asked = parse_asked(arguments);
  const io::Manifest manifest = read_results(folder);
  const Variant variant = held_variant(folder, manifest, asked);
  std::filesystem::path labels = require_unchanged(folder, manifest, io::labels_name(variant));
  std::filesystem::path core = require_unchanged(folder, manifest, io::core_name(variant));
  const auto input = nlohmann::json::parse(manifest.input);
  // Results saved from Python name no files and have no options for reading them.
  const bool of_files = !input.value("files", nlohmann::json::array()).empty();
  OptionValues values =
      of_files ? options_of_run(nlohmann::json::parse(manifest.runs.back()), input) : arguments.all_given();
  const Words files = arguments.given("points") ? arguments.texts("points") : files_of_input(folder, input);
  for (const char* option : {"memory", "quiet", "json"}) values.erase(option);
  OptionValues values_new = arguments.all_given();
  for (const char* option : {"memory", "quiet"}) {
    if (arguments.given(option)) values[option] = values_new[option];
  }
  for (const auto& [name, value] : values) {
    const bool of_kind = std::ranges::find(kOfKind, name) != kOfKind.end();
    if (name != kOrder && (!of_kind || of_one_kind(files, arguments.operands()))) values_new.emplace(name, value);
  }
  return {.old = parse_reading(arguments, values, files),
          .fresh = parse_reading(arguments, values_new, arguments.operands()),
          .labels = std::move(labels),
          .core = std::move(core),
          .eps = variant.eps,
          .checksum = manifest.checksum};
}

PredictCommand parse_predict(const Arguments& arguments) {
  PredictCommand command;
  try {
    command = arguments.given("results") ? parse_folder(arguments) : parse_files(arguments);
  } catch (const nlohmann::json::exception&) {
    throw InputError(arguments.text("results") + " holds a sweep.json that epsflow did not write so: sweep again");
  }
  take(arguments, command.engine);
  return command;
}

/// Checks --out against all inputs.
Outputs parse_outputs(const Arguments& arguments, const PredictCommand& command) {
  Outputs outputs(arguments);
  Words files = command.old.files;
  files.insert(files.end(), {command.labels, command.core});
  outputs.add_inputs(files);
  outputs.take_with_rows(kPlainFormats);
  files.insert(files.end(), command.fresh.files.begin(), command.fresh.files.end());
  require_one_pipe(files);
  return outputs;
}

/// Calls read_for_points() for the file of --labels or --core.
std::vector<std::int32_t> read_all(const std::filesystem::path& file, WholeNumbers numbers,
                                   const io::FilePoints& points) {
  numbers.advice = "are --labels and --core swapped?";
  return read_for_points(file, numbers, points);
}

/// The core points of a clustering.
struct Core {
  Points points;
  std::vector<std::int32_t> labels;
  std::vector<std::string> column_names;
  std::vector<std::string> units;
};

/// Throws InputError if points or metric differ from those in the folder. Weights do not count: the mask reflects them.
void require_same_input(const PredictCommand& command, const io::FilePoints& points) {
  if (command.checksum.empty()) return;
  const std::string checksum = io::checksum_of_input(points, describe(command.old.metric));
  if (checksum == io::without_weights(command.checksum)) return;
  throw input_error(
      "these are not the points of the results, or the metric is another: they are \"{}\", and the "
      "results are of \"{}\"; give the points that were clustered with --points",
      checksum, command.checksum);
}

Core read_core(PredictCommand& command) {
  io::FilePoints points = command.old.read();
  command.old.resolve(points);
  require_same_input(command, points);
  const std::vector<std::int32_t> labels = read_all(command.labels, kLabelNumbers, points);
  const std::vector<std::int32_t> mask = read_all(command.core, kMaskNumbers, points);
  Core core{{}, {}, points.column_names, units_of(points)};
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 0) continue;
    ids.push_back(static_cast<std::uint32_t>(i));
    core.labels.push_back(labels[i]);
  }
  core.points = in_order(points, ids);
  return core;
}

/// Throws UsageError if a column has another unit than in the clustering. A missing unit is accepted.
void require_same_units(const io::FilePoints& points, const Core& core, const std::string& old) {
  const std::vector<std::string> units = units_of(points);
  for (std::size_t k = 0; k < std::min(units.size(), core.units.size()); ++k) {
    if (units[k].empty() || core.units[k].empty() || units[k] == core.units[k]) continue;
    throw usage_error("column {} is in {}, and in {} it is in {}: convert one of the files",
                      k < points.column_names.size() ? points.column_names[k] : std::to_string(k), units[k], old,
                      core.units[k]);
  }
}

/// Throws UsageError if the columns differ from the columns of the clustering.
void require_same_columns(const io::FilePoints& points, const Core& core, const Metric& metric,
                          const std::string& old) {
  const Words& names = points.column_names;
  if (on_sphere(metric.kind)) {
    if (may_be_one_system(names, core.column_names)) return;
    throw usage_error("the columns are {}, and those of {} are {}, coordinates of another system",
                      fmt::join(names, ", "), old, fmt::join(core.column_names, ", "));
  }
  if (core.column_names.empty() || names.empty() || core.column_names == names) return;
  throw usage_error("the columns are {}, and those of {} are {}: choose the same of both with --columns",
                    fmt::join(names, ", "), old, fmt::join(core.column_names, ", "));
}

int run_predict(const Arguments& arguments) {
  PredictCommand command = parse_predict(arguments);
  Input& old = command.old;
  Input& fresh = command.fresh;
  const Outputs outputs = parse_outputs(arguments, command);
  Metric same = fresh.metric;
  same.latitude_first = old.metric.latitude_first;
  if (same != old.metric) throw UsageError("the options of the metric are those of the results: leave them out");
  const Core core = read_core(command);
  const Metric& metric = old.metric;
  io::FilePoints points = fresh.read();
  fresh.resolve(points);
  if (latitude_comes_first(fresh.metric) != latitude_comes_first(metric)) swap_columns(points);
  const std::string name = fmt::format("{}", fmt::join(old.files, ", "));
  require_same_columns(points, core, metric, name);
  require_same_units(points, core, name);
  const InterruptGuard interrupt;
  VariantResult result;
  result.variant = {command.eps, 0};
  result.labels = predict({core.points.view(), core.labels, command.eps, metric}, points.view(), command.engine,
                          {.cancel = &interrupt.token(), .on_notice = fresh.messages.notices()});
  const auto noise = static_cast<std::uint64_t>(std::ranges::count(result.labels, kNoise));
  outputs.write_labels(result, points, metric);
  nlohmann::ordered_json json{
      {"points", points.size()}, {"eps", command.eps}, {"core", core.labels.size()}, {"noise", noise}};
  add_input(json, points, &metric);
  outputs.print(json, fmt::format("{}: {} in clusters, {} noise\n", format_count(points.size(), "point"),
                                  format_count(points.size() - noise), format_count(noise)));
  return kDone;
}

}  // namespace

Command predict_command() {
  return {
      .name = "predict",
      .summary = "find the clusters of new points",
      .usage = "FILE … --results FOLDER --eps EPS --minpts N --out labels.npy",
      .about =
          "Gives each point of the files the lowest cluster among the core points within eps of a clustering, and\n"
          "-1 where there is none: what a border point would have got. The clustering is a variant of a results\n"
          "folder of sweep --core, or --points with the --labels and the --core mask that cluster wrote. The\n"
          "folder knows its points, how they were read and the metric; options of input that are given are for\n"
          "the new points alone. On the CPU.",
      .example = "epsflow predict new.csv --results results --eps 0.3 --minpts 8 --out labels.npy",
      .operand = {"FILE …"},
      .groups =
          {{"The clustering",
            {folder_option("results", "results of sweep --core", false),
             several(input_file("points",
                                "the points that were clustered; of several files, once for each, in their order "
                                "(default: the files that the results name)")),
             input_file("labels", "their labels, without --results"),
             input_file("core", "their mask of core points, without --results"),
             text_option("eps", "EPS", "its neighbourhood radius"), minpts_option("N", "its minpts, with --results")}},
           metric_options(),
           {"Results",
            {output_file("out",
                         "labels as .npy (int32), .csv or .fits, or - for CSV on standard output; beside a file, where "
                         "rows were dropped or files joined, NAME.rows.npy (int64): the row of each label"),
             overwrite_option()}},
           unweighted_input_options(),
           resources(),
           message_options()},
      .run = run_predict};
}

}  // namespace epsflow::cli
