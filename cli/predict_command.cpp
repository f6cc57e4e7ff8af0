#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/interrupt.hpp>
#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/slicing.hpp>
#include <epsflow/cli/units.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/sky_columns.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/results/results_manifest.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/write_labels.hpp>
#include <epsflow/pipeline/predict.hpp>

namespace epsflow::cli {
namespace {

/// Those of labels that say nothing of a variant.
constexpr std::array kPlainFormats{io::OutputFormat::npy, io::OutputFormat::csv, io::OutputFormat::fits};

/// The options of the machine that count here.
OptionGroup resources() {
  OptionGroup group = machine_options();
  std::erase_if(group.options, [](const OptionSpec& o) { return o.name != "memory" && o.name != "threads"; });
  return group;
}

/// A clustering in files, and how points are read.
struct Clustering {
  Arguments read;  ///< as a command line that names the points, with the options of input and metric
  std::filesystem::path labels;
  std::filesystem::path core;
  double eps = 0;
  Arguments read_new;         ///< the same of the points to predict
  std::string checksum = {};  ///< of points and metric as a results folder has it; empty where they are in no folder
};

using Values = std::map<std::string, std::string, std::less<>>;

/// A command line of those options that say how to read, and what distance is.
Arguments reading(const Arguments& arguments, const Values& values, const Words& files) {
  std::vector<OptionGroup> groups{unweighted_input_options(), metric_options(), resources(), message_options()};
  Words words;
  for (const OptionGroup& group : groups) {
    for (const OptionSpec& option : group.options) {
      const auto at = values.find(option.name);
      if (at == values.end()) continue;
      words.push_back("--" + option.name);
      if (option.kind != ValueKind::flag) words.push_back(at->second);
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), files.begin(), files.end());
  return {arguments.command(), words};
}

double eps_of_clustering(const Arguments& arguments) {
  const std::vector<double> eps = parse_eps_list(arguments.text("eps"));
  if (eps.size() == 1) return eps.front();
  throw UsageError(fmt::format("predict takes one eps, that of the clustering, and --eps {} gives {}",
                               arguments.text("eps"), eps.size()));
}

void refuse(const Arguments& arguments, std::initializer_list<const char*> options, std::string_view why) {
  for (const char* option : options) {
    if (arguments.given(option)) throw UsageError(fmt::format("--{}: {}; leave it out", option, why));
  }
}

Clustering clustering_of_files(const Arguments& arguments) {
  arguments.require({"points", "labels", "core", "eps"});
  refuse(arguments, {"minpts"}, "it chooses a variant of --results");
  return {.read = reading(arguments, arguments.all_given(), arguments.texts("points")),
          .labels = arguments.text("labels"),
          .core = arguments.text("core"),
          .eps = eps_of_clustering(arguments),
          .read_new = reading(arguments, arguments.all_given(), arguments.operands())};
}

/// The files that the points of a results folder were read from.
Words files_of_input(const std::string& folder, const nlohmann::json& input) {
  Words files;
  for (const auto& file : input.value("files", nlohmann::json::array())) {
    files.push_back(file.at("name").get<std::string>());
  }
  for (const std::string& file : files) {
    if (std::error_code code; std::filesystem::exists(file, code)) continue;
    throw InputError(
        fmt::format("the points of {} were read from {}, which is not there: give them with --points{}", folder, file,
                    files.size() == 1 ? "" : fmt::format(", once for each of the {} files", files.size())));
  }
  if (files.empty()) throw InputError(folder + " does not say where its points are: give them with --points");
  return files;
}

/// Options that say how files of one kind are read: not those of another kind.
constexpr std::array kOfKind{"dims",    "precision", "header", "delimiter", "decimal",
                             "comment", "skip-rows", "table",  "external"};
/// In which order two columns of a file are: each file has its own.
constexpr const char* kOrder = "latitude-first";

bool of_one_kind(const Words& a, const Words& b) {
  return std::filesystem::path(a.front()).extension() == std::filesystem::path(b.front()).extension();
}

Clustering read_folder(const Arguments& arguments) {
  arguments.require({"results", "eps", "minpts"});
  refuse(arguments, {"labels", "core"}, "--results has the labels and the mask of core points");
  const std::string& folder = arguments.text("results");
  const std::vector<std::uint32_t> minpts = parse_minpts_list(arguments.text("minpts"));
  if (minpts.size() != 1) {
    throw UsageError(fmt::format("predict takes one minpts, that of the clustering, and --minpts {} gives {}",
                                 arguments.text("minpts"), minpts.size()));
  }
  Variant variant{eps_of_clustering(arguments), minpts.front()};
  const io::Manifest manifest = read_results(folder);
  const io::SweepEntry& held = require_variant(folder, manifest, variant);
  variant = held.variant;
  if (!held.has_labels) {
    throw InputError(
        fmt::format("{} has no labels of eps {} and minpts {}, as --keep summary left them out: sweep again without it "
                    "and with --core, which --resume adds to what is there",
                    folder, format_number(variant.eps), variant.minpts));
  }
  if (!manifest.files.contains(io::core_name(variant))) {
    throw InputError(
        fmt::format("{} has no mask of core points of eps {} and minpts {}: sweep again with --core, which "
                    "--resume adds to what is there",
                    folder, format_number(variant.eps), variant.minpts));
  }
  const std::filesystem::path labels = std::filesystem::path(folder) / io::labels_name(variant);
  const std::filesystem::path core = std::filesystem::path(folder) / io::core_name(variant);
  require_unchanged(folder, manifest, io::labels_name(variant));
  require_unchanged(folder, manifest, io::core_name(variant));
  const auto run = nlohmann::json::parse(manifest.runs.back());
  const auto input = nlohmann::json::parse(manifest.input);
  // What Python saved is of no files, and says nothing of reading them.
  const bool of_files = !input.value("files", nlohmann::json::array()).empty();
  Values values = of_files ? run.value("options", nlohmann::json::object()).get<Values>() : arguments.all_given();
  const Words files = arguments.given("points") ? arguments.texts("points") : files_of_input(folder, input);
  for (const char* option : {"memory", "quiet", "json"}) values.erase(option);
  // Nothing here weighs or sums up. But the coordinates are the columns that were read, and not those of these options.
  const bool beside = names_columns_beside(values);
  for (const char* option : kColumnsBeside) values.erase(option);
  if (beside) {
    values.emplace("columns", columns_text(input.at("columns").get<Words>(),
                                           input.at("column_numbers").get<std::vector<std::size_t>>()));
  }
  Values values_new = arguments.all_given();
  for (const char* option : {"memory", "quiet"}) {
    if (arguments.given(option)) values[option] = values_new[option];
  }
  for (const auto& [name, value] : values) {
    const bool of_kind = std::ranges::find(kOfKind, name) != kOfKind.end();
    if (name != kOrder && (!of_kind || of_one_kind(files, arguments.operands()))) values_new.emplace(name, value);
  }
  return {.read = reading(arguments, values, files),
          .labels = labels,
          .core = core,
          .eps = variant.eps,
          .read_new = reading(arguments, values_new, arguments.operands()),
          .checksum = manifest.checksum};
}

Clustering clustering_of_results(const Arguments& arguments) {
  try {
    return read_folder(arguments);
  } catch (const nlohmann::json::exception&) {
    throw InputError(arguments.text("results") + " holds a sweep.json that epsflow did not write so: sweep again");
  }
}

/// read_for_points() of a file that --labels or --core names.
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

/// Throws InputError where points or metric are not those of the folder that the clustering is in. Whatever weights the points had
/// is in the mask of core points.
void require_same_input(const Clustering& clustering, const io::FilePoints& points, const Metric& metric) {
  if (clustering.checksum.empty()) return;
  const std::string checksum = io::checksum_of_input(points, describe(metric));
  if (checksum == io::without_weights(clustering.checksum)) return;
  throw InputError(
      fmt::format("these are not the points of the results, or the metric is another: they are \"{}\", and the "
                  "results are of \"{}\"; give the points that were clustered with --points",
                  checksum, clustering.checksum));
}

Core read_core(const Clustering& clustering, Metric& metric) {
  io::FilePoints points = read_input(clustering.read);
  settle_columns(clustering.read, points, metric);
  require_same_input(clustering, points, metric);
  const std::vector<std::int32_t> labels = read_all(clustering.labels, kLabelNumbers, points);
  const std::vector<std::int32_t> mask = read_all(clustering.core, kMaskNumbers, points);
  const auto count =
      static_cast<std::size_t>(std::count_if(mask.begin(), mask.end(), [](std::int32_t core) { return core != 0; }));
  Core core{Points(count, points.dims(), points.precision()), {}, points.column_names, units_of(points)};
  const auto copy = [&](auto from, auto to) {
    auto next = to.begin();
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == 0) continue;
      next = std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * points.dims()), points.dims(), next);
      core.labels.push_back(labels[i]);
    }
  };
  if (points.precision() == Precision::float32) {
    copy(points.values<float>(), core.points.values<float>());
  } else {
    copy(points.values<double>(), core.points.values<double>());
  }
  return core;
}

/// Throws UsageError where a column is in another unit than it was in the clustering. One of the two may say none.
void require_same_units(const io::FilePoints& points, const Core& core, const std::string& old) {
  const std::vector<std::string> units = units_of(points);
  for (std::size_t k = 0; k < std::min(units.size(), core.units.size()); ++k) {
    if (units[k].empty() || core.units[k].empty() || units[k] == core.units[k]) continue;
    throw UsageError(fmt::format("column {} is in {}, and in {} it is in {}: convert one of the files",
                                 k < points.column_names.size() ? points.column_names[k] : std::to_string(k), units[k],
                                 old, core.units[k]));
  }
}

int run_predict(const Arguments& arguments) {
  const Clustering clustering =
      arguments.given("results") ? clustering_of_results(arguments) : clustering_of_files(arguments);
  const std::string old = fmt::format("{}", fmt::join(clustering.read.operands(), ", "));
  Words files = clustering.read.operands();
  files.insert(files.end(), {clustering.labels, clustering.core});
  require_row_output(arguments, kPlainFormats, files);
  const bool streamed = goes_to_standard_output(arguments, "out");
  EngineOptions options;
  take(arguments, options);
  files.insert(files.end(), arguments.operands().begin(), arguments.operands().end());
  if (std::count(files.begin(), files.end(), "-") > 1) {
    throw UsageError("- stands for standard input, which can be read only once; name it once");
  }
  Metric metric = requested_metric(clustering.read);
  Metric metric_new = requested_metric(clustering.read_new);
  const bool latitude_first = std::exchange(metric_new.latitude_first, metric.latitude_first);
  if (metric_new != metric) {
    throw UsageError("the options of the metric are those of the results: leave them out");
  }
  const Core core = read_core(clustering, metric);
  io::FilePoints points = read_input(clustering.read_new);
  metric_new.latitude_first = latitude_first;
  settle_columns(clustering.read_new, points, metric_new);
  if (latitude_comes_first(metric_new) != latitude_comes_first(metric)) swap_columns(points);
  const bool by_place = !on_sphere(metric.kind);
  if (by_place && !core.column_names.empty() && !points.column_names.empty() &&
      core.column_names != points.column_names) {
    throw UsageError(fmt::format("the columns are {}, and those of {} are {}: choose the same of both with --columns",
                                 fmt::join(points.column_names, ", "), old, fmt::join(core.column_names, ", ")));
  }
  if (!by_place && !may_be_one_system(points.column_names, core.column_names)) {
    throw UsageError(fmt::format("the columns are {}, and those of {} are {}, coordinates of another system",
                                 fmt::join(points.column_names, ", "), old, fmt::join(core.column_names, ", ")));
  }
  require_same_units(points, core, old);
  const InterruptGuard interrupt;
  VariantResult result;
  result.variant = {clustering.eps, 0};
  result.labels = predict({core.points.view(), core.labels, clustering.eps, metric}, points.view(), options,
                          {.cancel = &interrupt.token(), .on_notice = notices(arguments)});
  const auto noise = static_cast<std::uint64_t>(std::count(result.labels.begin(), result.labels.end(), kNoise));
  write_label_output(arguments, result, points, metric);
  if (arguments.flag("json")) {
    nlohmann::ordered_json json{
        {"points", points.size()}, {"eps", clustering.eps}, {"core", core.labels.size()}, {"noise", noise}};
    add_metric(json, metric);
    add_input(json, points);
    print_json(json);
  } else if (!arguments.flag("quiet") && !streamed) {
    print_result("{}: {} in clusters, {} noise\n", format_count(points.size(), "point"),
                 format_count(points.size() - noise), format_count(noise));
  }
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
            {{.name = "results", .kind = ValueKind::folder, .value = "FOLDER", .help = "results of sweep --core"},
             {.name = "points",
              .kind = ValueKind::file,
              .value = "FILE",
              .several = true,
              .help = "the points that were clustered; of several files, once for each, in their order (default: the "
                      "files that the results name)"},
             {.name = "labels", .kind = ValueKind::file, .value = "FILE", .help = "their labels, without --results"},
             {.name = "core",
              .kind = ValueKind::file,
              .value = "FILE",
              .help = "their mask of core points, without --results"},
             {.name = "eps", .value = "EPS", .help = "its neighbourhood radius"},
             {.name = "minpts", .alias = "min-samples", .value = "N", .help = "its minpts, with --results"}}},
           metric_options(),
           {"Results",
            {{.name = "out",
              .kind = ValueKind::file,
              .value = "FILE",
              .writes = true,
              .help =
                  "labels as .npy (int32), .csv or .fits, or - for CSV on standard output; beside a file, where rows "
                  "were dropped or files joined, NAME.rows.npy (int64): the row of each label"},
             overwrite_option()}},
           unweighted_input_options(),
           resources(),
           message_options()},
      .run = run_predict};
}

}  // namespace epsflow::cli
