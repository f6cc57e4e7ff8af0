#include <system_error>

#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/report_pages.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::cli {
namespace {

using nlohmann::ordered_json;

/// Returns the run and the input that a results folder records.
Origin origin_of(const std::filesystem::path& folder, const io::Manifest& manifest) {
  Origin origin{.command = manifest.of_hierarchies()         ? "hdbscan"
                           : manifest.owns(io::kExploreName) ? "explore"
                                                             : "sweep",
                .checksum = manifest.checksum};
  try {
    const ordered_json run = ordered_json::parse(manifest.runs.back());
    origin.started = run.at("started");
    origin.run.version = run.at("version");
    for (const auto& [name, value] : run.at("options").items()) origin.run.options.emplace_back(name, value);
    for (const auto& [name, value] : run.at("machine").items()) origin.run.machine.emplace_back(name, value);
    const ordered_json input = ordered_json::parse(manifest.input);
    for (const ordered_json& file : input.at("files")) origin.files.push_back(file.at("name"));
    name_columns(origin.run.options, input.at("columns").get<Words>(),
                 input.at("column_numbers").get<std::vector<std::size_t>>());
  } catch (const ordered_json::exception&) {
    throw input_error("{} does not say how it was made, or is damaged: sweep again",
                      (folder / io::kManifestName).string());
  }
  return origin;
}

/// Returns the input files: the files of --input, or else the files that the folder names.
Words input_files(const Arguments& arguments, const std::filesystem::path& folder, const Origin& origin) {
  if (arguments.given("input")) return arguments.texts("input");
  if (origin.files.empty()) {
    throw input_error("{} does not say of which file it is: give the points with --input FILE", folder.string());
  }
  for (const std::string& file : origin.files) {
    if (file == io::kStandardOutput) {
      throw input_error("{} is of points from standard input: give them with --input FILE", folder.string());
    }
    std::error_code code;
    if (std::filesystem::exists(file, code)) continue;
    throw input_error("{} is of {}, which is not there (any more): say where it is now with --input FILE",
                      folder.string(), file);
  }
  return origin.files;
}

/// Returns arguments that read the same points: the options of the folder's run, overridden by this command line.
Arguments reading_of(const Arguments& arguments, const Words& files, const Origin& origin) {
  OptionValues options = arguments.all_given();
  for (const auto& [name, value] : origin.run.options) {
    if (name != "quiet" && find_option(arguments.command(), name) != nullptr) options.emplace(name, value);
  }
  for (const char* of_report : {"input", "out", "json", "overwrite"}) options.erase(of_report);
  return {arguments.command(), options, files};
}

void require_same_input(const std::filesystem::path& folder, const io::Manifest& manifest, const io::FilePoints& points,
                        const Metric& metric) {
  const std::string checksum = io::checksum_of_input(points, describe(metric));
  const bool unknown = manifest.checksum.starts_with("unknown");
  if (checksum == manifest.checksum || unknown) return;
  throw input_error(
      "{} is of {}: give the points that were clustered with --input FILE, with the same columns and metric",
      folder.string(), io::describe_difference(manifest, checksum));
}

int run_report(const Arguments& arguments) {
  arguments.require({});
  if (arguments.operands().size() != 1) throw UsageError("a report is of one results folder: give one");
  const std::filesystem::path folder = arguments.operands().front();
  const io::Manifest manifest = read_results(folder, true);
  const Messages messages = parse_messages(arguments);
  if (manifest.checksum.find(kPrecomputed) != std::string::npos) {
    throw InputError(folder.string() + " is of a table of neighbours, which has no points to show");
  }
  Origin origin = origin_of(folder, manifest);
  origin.files = input_files(arguments, folder, origin);
  Outputs outputs(arguments);
  outputs.add_inputs(origin.files);
  const std::string out = outputs.take_page("out", outputs.overwrite());
  Input input = parse_input(reading_of(arguments, origin.files, origin));
  io::FilePoints points = input.read();
  input.resolve(points);
  require_same_input(folder, manifest, points, input.metric);
  report::Report report(subject_of(points, input.metric, origin));
  add_folder(report, folder, manifest);
  write_page(messages, out, outputs.overwrite(), report);
  if (messages.json) print_json({{"report", out}, {"cells", report.cells()}, {"maps", report.maps()}});
  return kDone;
}

}  // namespace

Command report_command() {
  OptionSpec out = output_file("out", "file to write", "FILE.html");
  out.standard = "report.html";
  return {.name = "report",
          .summary = "make one page for a browser of a results folder",
          .usage = "RESULTS",
          .about =
              "Makes a page of what epsflow sweep, explore or hdbscan wrote: what is recommended and why, the grid\n"
              "as a heat map, and of each cell its map, the sizes and persistence of its clusters (of hdbscan their\n"
              "tree), and the largest of them as a table. The page is one file of at most 8 MiB that needs no network\n"
              "and no server. The input is read again, as the folder says it was read; persistence needs lineage.npz\n"
              "(sweep --lineage). Cells without labels have no map.",
          .example = "epsflow report results --out report.html",
          .operand = {"RESULTS"},
          .groups = {{"The page", {std::move(out), overwrite_option()}},
                     {"The points, where they are elsewhere now, or were read otherwise",
                      {several(
                          input_file("input", "the file that was clustered (default: where the folder says it was)"))}},
                     metric_options(),
                     input_options(),
                     message_options()},
          .run = run_report};
}

}  // namespace epsflow::cli
