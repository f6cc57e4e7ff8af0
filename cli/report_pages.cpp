#include <epsflow/cli/report_pages.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/structure_files.hpp>
#include <epsflow/cli/sweep_results.hpp>

namespace epsflow::cli {
namespace {

/// The options that do not change results.
constexpr std::array<std::string_view, 7> kOfOutput{"out", "report", "overwrite", "resume", "json", "quiet", "help"};

/// Returns a word, quoted for a shell if necessary.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string::npos ? word : in_quotes(word);
}

/// Returns a command line of the program, quoted for a shell. options: "true" for flags. Options for the output
/// path and for messages are left out.
std::string command_line(std::string_view command, const Words& files, const InputOptions& options) {
  std::string line = fmt::format("epsflow {}", command);
  for (const std::string& file : files) line += " " + shell_word(file);
  for (const auto& [name, value] : options) {
    if (std::ranges::find(kOfOutput, name) != kOfOutput.end()) continue;
    const OptionSpec* const option = find_option(find_command(command), name);
    line += " --" + name;
    if (option == nullptr || option->kind != ValueKind::flag) line += " " + shell_word(value);
  }
  return line;
}

std::string words_of(const InputOptions& entries) {
  std::string text;
  for (const auto& [name, value] : entries) text += (text.empty() ? "" : "; ") + name + " " + value;
  return text;
}

std::string title_of(const io::FilePoints& points, const Words& files) {
  const std::size_t count = std::max(points.inputs.size(), files.size());
  const std::string first = !files.empty() ? files.front() : count > 0 ? points.inputs.front().name : "points";
  const std::string name = std::filesystem::path(first).filename().string();
  return count > 1 ? fmt::format("{} and {}", name, format_count(count - 1, "more file")) : name;
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

OptionSpec report_option(std::string help) { return output_file("report", std::move(help), "FILE.html"); }

report::Subject subject_of(const io::FilePoints& points, const Metric& metric, const Origin& origin) {
  report::Subject subject{.title = title_of(points, origin.files), .points = points.view(), .metric = metric};
  subject.columns.names = points.column_names;
  if (!points.inputs.empty()) subject.columns.units = points.inputs.front().units;
  auto& told = subject.provenance;
  for (const io::InputRows& input : points.inputs) {
    told.emplace_back("Input", fmt::format("{}: {}{}{}", input.name, input.kind, input.kind.empty() ? "" : "; ",
                                           format_count(input.rows, "row")));
    if (!input.dropped.empty()) {
      told.emplace_back(
          "Dropped", fmt::format("{} with NaN, infinity or missing values", format_count(input.dropped.size(), "row")));
    }
  }
  told.emplace_back("Checksum", origin.checksum);
  told.emplace_back("Metric", describe_in_full(metric));
  told.emplace_back("Program", "epsflow " + origin.run.version);
  told.emplace_back("Machine", words_of(origin.run.machine));
  told.emplace_back("Made", origin.started);
  subject.command = command_line(origin.command, origin.files, origin.run.options);
  if (origin.command != "explore") subject.command += " --out results";
  InputOptions options, given = origin.run.options;
  name_columns(given, points.column_names, points.column_numbers);
  const Words outputs = options_of_outputs(nullptr);
  constexpr std::array<std::string_view, 4> kOfGrid{"eps", "minpts", "variants", "min-cluster-size"};
  const bool of_trees = origin.command == "hdbscan";
  const Command& of_cell = find_command(of_trees ? "hdbscan" : "cluster");
  for (const auto& option : given) {
    const bool of_grid = std::ranges::find(kOfGrid, option.first) != kOfGrid.end();
    const bool of_output = std::ranges::find(outputs, option.first) != outputs.end();
    if (!of_grid && !of_output && find_option(of_cell, option.first) != nullptr) options.push_back(option);
  }
  subject.catalogue_hint =
      command_line(of_cell.name, origin.files, options) +
      (of_trees ? " --minpts {minpts} --min-cluster-size {min_cluster_size} --out clusters --catalog csv"
                : " --eps {eps} --minpts {minpts} --catalog clusters.csv");
  if (of_trees) return subject;
  std::erase_if(options,
                [](const auto& option) { return find_option(find_command("explore"), option.first) == nullptr; });
  subject.advice_hint = command_line("explore", origin.files, options) + " --report explored.html";
  return subject;
}

void write_page(const Messages& messages, const std::string& file, io::Overwrite overwrite,
                const report::Report& report) {
  const std::string page = report.page();
  io::write_text_file(file, page, overwrite);
  messages.tell("{}: a report of {}, {} with a map, {}", file, format_count(report.cells(), "cell"), report.maps(),
                format_bytes(page.size()));
}

void add_folder(report::Report& report, const std::filesystem::path& folder, const io::Manifest& manifest) {
  const auto labels_in = [&](const std::string& name) {
    return read_file_column(require_unchanged(folder, manifest, name), kLabelNumbers).values;
  };
  const InterruptGuard interrupt;
  for (const auto& [variant, entry] : manifest.entries) {
    std::vector<std::int32_t> labels;
    if (entry.has_labels) labels = labels_in(io::labels_name(variant));
    report.add(variant, entry.summary, labels, interrupt.token());
  }
  if (manifest.owns(io::kLineageName)) {
    report.add_lineage(read_lineage(require_unchanged(folder, manifest, io::kLineageName)));
  }
  if (manifest.of_hierarchies() && manifest.owns(io::kHierarchyName)) {
    const TreeReader trees(require_unchanged(folder, manifest, io::kHierarchyName));
    for (const auto& [variant, entry] : manifest.entries) {
      interrupt.token().check();
      report.add_tree(variant, trees.read(variant));
    }
  }
  if (!manifest.owns(io::kExploreName)) return;
  const std::filesystem::path map = require_unchanged(folder, manifest, io::kMapName);
  const std::filesystem::path advice = require_unchanged(folder, manifest, io::kExploreName);
  report.add_scores(read_scores(map));
  std::vector<std::int32_t> recommended;
  if (manifest.owns(io::kRecommendedName)) recommended = labels_in(io::kRecommendedName);
  try {
    report.advise(read_text(advice), recommended, interrupt.token());
  } catch (const InputError& e) {
    throw input_error("{}: {}", advice.string(), e.what());
  }
}

}  // namespace epsflow::cli
