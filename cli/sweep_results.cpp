#include <epsflow/cli/sweep_results.hpp>

#include <set>

#include <epsflow/cli/labels.hpp>
#include <epsflow/cli/report_pages.hpp>
#include <epsflow/core/json_numbers.hpp>
#include <epsflow/io/formats.hpp>
#include <epsflow/io/write_table.hpp>

namespace epsflow::cli {
namespace {

io::FolderMode parse_folder_mode(const Arguments& arguments) {
  const bool resume = arguments.given("resume");
  const bool overwrite = arguments.given("overwrite");
  if (resume && overwrite) throw UsageError("give either --resume or --overwrite, not both");
  if (resume) return io::FolderMode::resume;
  return overwrite ? io::FolderMode::overwrite : io::FolderMode::fresh;
}

/// Throws UsageError for options that need labels if none are stored, and as check_options() does.
void check_keep(const Arguments& arguments, const RunOptions& run) {
  for (const std::string& name : options_of_outputs(&io::ResultsOutput::of_labels)) {
    if (keeps_labels(run.keep) || !arguments.given(name)) continue;
    throw usage_error("--{} is made of labels, and --keep summary makes none; leave one of them out", name);
  }
  check_options(run);
}

/// Prints a row for each variant. Variants of hierarchies have min_cluster_size and persistence.
void print_variants(const io::Entries& entries) {
  const bool selected = !entries.empty() && entries.begin()->first.min_cluster_size > 0;
  std::vector<Words> rows{
      selected
          ? Words{"minpts", "min_cluster_size", "clusters", "noise", "clustered", "largest", "persistence", "seconds"}
          : Words{"eps", "minpts", "clusters", "noise", "core", "border", "largest", "seconds"}};
  for (const auto& [variant, e] : entries) {
    const LabelSummary& s = e.summary;
    Words row = selected ? Words{std::to_string(variant.minpts), std::to_string(variant.min_cluster_size)}
                         : Words{format_number(variant.eps), std::to_string(variant.minpts)};
    for (const std::uint64_t count : {s.clusters, s.noise, s.core}) row.push_back(format_count(count));
    if (!selected) row.push_back(format_count(s.border));
    row.push_back(format_count(s.largest));
    if (selected) row.push_back(fmt::format("{:.4f}", e.persistence));
    row.push_back(fmt::format("{:.3f}", e.seconds));
    rows.push_back(std::move(row));
  }
  print_columns(rows);
}

}  // namespace

Words options_of_outputs(bool io::ResultsOutput::*property) {
  Words options;
  for (const io::ResultsOutput& output : io::kResultsOutputs) {
    if (property != nullptr && !(output.*property)) continue;
    io::for_each_word(output.options, [&](std::string_view option) { options.emplace_back(option); });
  }
  return options;
}

io::FolderOutputs parse_folder_outputs(const Arguments& arguments) {
  io::FolderOutputs outputs{.wanted = {}, .inputs = Outputs(arguments).inputs()};
  for (const io::ResultsOutput& output : io::kResultsOutputs) {
    if (!io::has_word(output.commands, arguments.command().name)) continue;
    std::string_view asked;
    io::for_each_word(output.options, [&](std::string_view option) {
      if (arguments.given(option)) asked = option;
    });
    if (asked.empty() && !output.options.empty() && arguments.command().name != "explore") continue;
    const bool chosen = output.extensions.find(' ') != std::string_view::npos;
    outputs.wanted.emplace(output.name, chosen ? "." + arguments.text(asked) : std::string(output.extensions));
  }
  if (arguments.given("keep") && arguments.text("keep") == word_of(Keep::summary))
    outputs.wanted.erase(io::kLabelsFolder);
  for (const auto& [name, extension] : outputs.wanted) {
    if (name.ends_with(".npz") && arguments.given("report")) io::require_format("NPZ");  // the page is made from it
    if (name.ends_with(".h5")) io::require_format("HDF5");
    if (name == io::kLabelledFolder) static_cast<void>(io::output_format(name + extension, io::kTableFormats));
    if (name == io::kCatalogFolder) static_cast<void>(io::output_format(name + extension, io::kTableFormats));
  }
  return outputs;
}

SweepCommand parse_sweep_command(const Arguments& arguments, Sweep sweep) {
  SweepCommand command{.of_table = arguments.given("neighbors"),
                       .sweep = std::move(sweep),
                       .mode = parse_folder_mode(arguments),
                       .settings = parse_run_settings(arguments),
                       .out = arguments.text("out"),
                       .given = parse_given(arguments)};
  if (command.of_table) {
    Words about_points = options_of_outputs(&io::ResultsOutput::of_points);
    about_points.insert(about_points.end(), {"keep", "stats", "by-width"});
    require_table_options(arguments, about_points);
  }
  command.input = parse_input(arguments);
  check_keep(arguments, command.settings.run);
  command.outputs = parse_folder_outputs(arguments);
  return command;
}

void parse_report_of(const Arguments& arguments, SweepCommand& command) {
  const bool fresh = command.mode == io::FolderMode::fresh;
  command.report = Outputs(arguments).take_page("report", fresh ? io::Overwrite::refuse : io::Overwrite::replace);
}

void write_report(const SweepCommand& command, const std::string& name, const io::FilePoints& points) {
  const io::Manifest manifest = read_results(command.out, true);
  const Metric& metric = command.input.metric;
  report::Report report(subject_of(points, metric,
                                   {.command = name,
                                    .files = command.input.files,
                                    .checksum = manifest.checksum,
                                    .started = io::now_utc(),
                                    .run = describe_run(command.given, metric, command.settings.engine.backend)}));
  add_folder(report, command.out, manifest);
  write_page(command.input.messages, command.report, io::Overwrite::replace, report);
}

io::VariantWriter labelled_writer(const Input& input, const io::FilePoints& points, const std::string& extension,
                                  io::AddedColumns added, const Buffer<double>* probabilities) {
  const io::OutputFormat format = io::output_format(io::kLabelledFolder + extension, io::kTableFormats);
  const auto copy = std::make_shared<const io::LabelledCopy>(input.labelled_copy(points, format, added));
  return {.folder = io::kLabelledFolder,
          .extension = extension,
          .contents = copy->contents(),
          .bytes = copy->bytes(),
          .write = [copy, probabilities](const auto& file, const auto& target, const VariantResult& result) {
            copy->write(file, target, result, probabilities == nullptr ? std::span<double>() : probabilities->span());
          }};
}

std::vector<Variant> all_variants(const io::ResultsFolder& folder, const std::vector<Variant>& missing) {
  std::set<Variant, VariantOrder> all(missing.begin(), missing.end());
  for (const auto& [variant, entry] : folder.entries()) all.insert(variant);
  return {all.begin(), all.end()};
}

bool lineage_is_missing(const io::ResultsFolder& folder, const std::vector<Variant>& missing) {
  return !missing.empty() || !folder.holds(io::kLineageName) || folder.holds(io::kExploreName);
}

void SweepRun::print_as_json(std::string_view status, double seconds) const {
  nlohmann::ordered_json json{
      {"status", status}, {"out", command_.out}, {"seconds", seconds}, {"points", input_.points}};
  add_input(json, input_.origin, metric_);
  json["variants"] = nlohmann::ordered_json::array();
  for (const auto& [variant, e] : folder_->entries()) {
    nlohmann::ordered_json counts = counts_as_json<nlohmann::ordered_json>(e.variant, e.summary);
    if (variant.min_cluster_size > 0) counts["persistence"] = e.persistence;
    counts["seconds"] = e.seconds;
    counts["labels"] = e.has_labels ? nlohmann::ordered_json(io::labels_name(variant)) : nlohmann::ordered_json();
    json["variants"].push_back(std::move(counts));
  }
  print_json(json);
}

/// Returns the text that an interrupted run prints.
std::string SweepRun::what_is_left() const {
  const std::string count = format_count(folder_->entries().size(), "complete variant");
  if (folder_->entries().empty()) return "interrupted before any variant was finished; nothing was written";
  if (!command_.outputs.resumable) {
    if (!folder_->replacing()) {
      return fmt::format("interrupted; {} holds {}: the same command with --overwrite makes all again", command_.out,
                         count);
    }
    return fmt::format("interrupted; {} still holds the old results", command_.out);
  }
  if (folder_->replacing()) {
    return fmt::format(
        "interrupted; {} still holds the old results, and {} of the new ones aside: the same command goes on",
        command_.out, count);
  }
  return fmt::format("interrupted; {} holds {}: the same command with --resume goes on", command_.out, count);
}

void SweepRun::finish(std::string_view status) const {
  folder_->finish(std::string(status), time_.seconds(), trace_);
  const Messages& messages = command_.input.messages;
  const double taken = time_.seconds();
  if (messages.json) print_as_json(status, taken);
  if (status == "interrupted") return say(what_is_left());
  if (messages.json || messages.quiet) return;
  print_variants(folder_->entries());
  const std::string& out = command_.out;
  const std::string by = metric_ != nullptr ? describe(*metric_) : std::string(kPrecomputed);
  const bool labels = command_.settings.run.keep == Keep::labels;
  print_result("{} of {}{} in {:.2f} s; {}{}\n", format_count(variants_, "variant"),
               format_count(input_.points, "point"), by.empty() ? "" : " (" + by + ")", taken,
               labels ? fmt::format("labels in {}/labels", out) : fmt::format("counts in {}/summary.csv", out),
               command_.input.sliced() ? fmt::format(", counts of slices in {}/{}", out, io::kSlicesName) : "");
}

int SweepRun::run(const std::function<void(const Observer&)>& make) {
  const Messages& messages = command_.input.messages;
  const InterruptGuard interrupt;
  try {
    watched(!messages.quiet, interrupt.token(), [&](Observer observer) {
      observer.on_notice = messages.notices();
      observer.trace = &trace_;
      make(observer);
    });
  } catch (const Cancelled&) {
    finish("interrupted");
    return kInterrupted;
  } catch (const std::exception& e) {
    fail(e.what());
    throw;
  }
  finish("complete");
  return kDone;
}

void SweepRun::fail(const std::string& reason) const {
  if (folder_ == nullptr) return;
  try {
    folder_->finish("failed", time_.seconds(), trace_, reason);
  } catch (const ResourceError&) {  // NOLINT(bugprone-empty-catch): the first error is the cause
  }
}

}  // namespace epsflow::cli
