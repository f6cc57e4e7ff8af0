#include <epsflow/cli/sweep_results.hpp>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/outputs.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/cli/table_input.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/write_labels.hpp>
#include <epsflow/io/write_table.hpp>
#include <epsflow/report/as_json.hpp>

namespace epsflow::cli {
namespace {

using Json = nlohmann::ordered_json;

void print_table(const io::ResultsFolder& folder) {
  std::vector<Words> rows{{"eps", "minpts", "clusters", "noise", "core", "border", "largest", "seconds"}};
  for (const auto& [variant, e] : folder.entries()) {
    rows.push_back({format_number(e.variant.eps), std::to_string(e.variant.minpts), format_count(e.summary.clusters),
                    format_count(e.summary.noise), format_count(e.summary.core), format_count(e.summary.border),
                    format_count(e.summary.largest), fmt::format("{:.3f}", e.seconds)});
  }
  print_columns(rows);
}

void print_table_as_json(const io::ResultsFolder& folder, const Swept& swept, const std::string& out,
                         std::string_view status, double seconds) {
  Json json{{"status", status}, {"out", out}, {"seconds", seconds}, {"points", swept.points}};
  if (swept.metric != nullptr) {
    add_metric(json, *swept.metric);
  } else {
    json["metric"] = kPrecomputed;
  }
  add_input(json, swept.origin);
  json["variants"] = Json::array();
  for (const auto& [variant, e] : folder.entries()) {
    Json counts = report::counts_as_json(e.variant, e.summary);
    counts["seconds"] = e.seconds;
    counts["labels"] = e.has_labels ? Json(io::labels_name(variant)) : Json();
    json["variants"].push_back(std::move(counts));
  }
  print_json(json);
}

/// What an interrupted run says.
std::string what_is_left(const io::ResultsFolder& folder, const std::string& out) {
  const std::string count = format_count(folder.entries().size(), "complete variant");
  if (folder.entries().empty()) return "interrupted before any variant was finished; nothing was written";
  if (folder.replacing()) {
    return fmt::format(
        "interrupted; {} still holds the old results, and {} of the new ones aside: the same command goes on", out,
        count);
  }
  return fmt::format("interrupted; {} holds {}: the same command with --resume goes on", out, count);
}

}  // namespace

io::FolderMode folder_mode(const Arguments& arguments) {
  const bool resume = arguments.flag("resume");
  const bool overwrite = arguments.flag("overwrite");
  if (resume && overwrite) throw UsageError("give either --resume or --overwrite, not both");
  if (resume) return io::FolderMode::resume;
  return overwrite ? io::FolderMode::overwrite : io::FolderMode::fresh;
}

Words options_of_outputs(bool io::ResultsOutput::*property) {
  Words options;
  for (const io::ResultsOutput& output : io::kResultsOutputs) {
    if (property != nullptr && !(output.*property)) continue;
    io::for_each_word(output.options, [&](std::string_view option) { options.emplace_back(option); });
  }
  return options;
}

Words options_of_outputs() { return options_of_outputs(nullptr); }

io::FolderOutputs folder_outputs(const Arguments& arguments) {
  io::FolderOutputs outputs{.wanted = {}, .inputs = inputs_of(arguments)};
  for (const io::ResultsOutput& output : io::kResultsOutputs) {
    if (!io::has_word(output.commands, arguments.command().name)) continue;
    std::string_view asked;
    io::for_each_word(output.options, [&](std::string_view option) {
      if (arguments.given(option)) asked = option;
    });
    if (asked.empty() && !output.options.empty() && arguments.command().name == "sweep") continue;
    outputs.wanted.emplace(output.name, output.copy ? "." + arguments.text(asked) : std::string(output.extensions));
  }
  if (arguments.given("keep") && arguments.text("keep") == word_of(Keep::summary)) {
    outputs.wanted.erase(io::kLabelsFolder);
  }
  for (const auto& [name, extension] : outputs.wanted) {
    if (name.ends_with(".npz")) io::require_format("NPZ");
    if (name.ends_with(".h5")) io::require_format("HDF5");
    if (name == io::kLabelledFolder) static_cast<void>(io::output_format(name + extension, io::kLabelledFormats));
    if (name == io::kCatalogFolder) static_cast<void>(io::output_format(name + extension, io::kTableFormats));
  }
  return outputs;
}

void check_kept(const Arguments& arguments, const RunOptions& run) {
  for (const std::string& name : options_of_outputs(&io::ResultsOutput::of_labels)) {
    if (!keeps_labels(run.keep) && arguments.given(name)) {
      throw UsageError(
          fmt::format("--{} is made of labels, and --keep summary makes none; leave one of them out", name));
    }
  }
  check_options(run);
}

std::vector<Variant> all_variants(const io::ResultsFolder& folder, const std::vector<Variant>& missing) {
  std::set<Variant, io::VariantOrder> all(missing.begin(), missing.end());
  for (const auto& [variant, entry] : folder.entries()) all.insert(variant);
  return {all.begin(), all.end()};
}

bool lineage_is_missing(const io::ResultsFolder& folder, const std::vector<Variant>& missing) {
  return !missing.empty() || !folder.holds(io::kLineageName) || folder.holds(io::kExploreName);
}

void print_sweep(const io::ResultsFolder& folder, const Swept& swept, const Arguments& arguments,
                 std::string_view status, double seconds) {
  const std::string& out = arguments.text("out");
  if (arguments.flag("json")) print_table_as_json(folder, swept, out, status, seconds);
  if (status == "interrupted") return say(what_is_left(folder, out));
  if (arguments.flag("json") || arguments.flag("quiet")) return;
  print_table(folder);
  const bool sliced = arguments.given("by") || arguments.flag("by-file");
  const std::string by = swept.metric != nullptr ? describe(*swept.metric) : std::string(kPrecomputed);
  print_result("{} of {}{} in {:.2f} s; {}{}\n", format_count(swept.variants, "variant"),
               format_count(swept.points, "point"), by.empty() ? "" : " (" + by + ")", seconds,
               swept.labels ? fmt::format("labels in {}/labels", out) : fmt::format("counts in {}/summary.csv", out),
               sliced ? fmt::format(", counts of slices in {}/{}", out, io::kSlicesName) : "");
}

}  // namespace epsflow::cli
