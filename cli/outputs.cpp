#include <epsflow/cli/outputs.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include <epsflow/cli/output.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::cli {
namespace {

/// Where the input row of each label stands, beside the labels; empty where they go to no file.
std::filesystem::path rows_file(const Arguments& arguments) {
  if (!arguments.given("out") || arguments.text("out") == io::kStandardOutput) return {};
  return std::filesystem::path(arguments.text("out")).replace_extension(".rows.npy");
}

bool same_place(const std::filesystem::path& a, const std::filesystem::path& b) {
  // Of a path that begins with nothing that exists, as v.npy does, weakly_canonical() makes no absolute one.
  const auto place = [](const std::filesystem::path& path) {
    std::error_code code;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
  };
  return place(a) == place(b);
}

/// The options given that name a file or folder.
std::vector<const OptionSpec*> file_options(const Arguments& arguments) {
  std::vector<const OptionSpec*> options;
  for (const auto& [name, value] : arguments.all_given()) {
    const OptionSpec* const option = find_option(arguments.command(), name);
    if (option == nullptr) continue;
    if (option->kind == ValueKind::file || option->kind == ValueKind::folder) options.push_back(option);
  }
  return options;
}

/// Throws UsageError if another option of the command writes to `file`, too.
void require_no_other(const Arguments& arguments, std::string_view option, const std::filesystem::path& file) {
  for (const OptionSpec* const other : file_options(arguments)) {
    if (!other->writes || other->name == option || !same_place(file, arguments.text(other->name))) continue;
    throw UsageError(fmt::format("--{} and --{} are both {}; give each a place of its own", option, other->name,
                                 arguments.text(other->name)));
  }
}

/// Throws UsageError if `file` is an input, or a file of results in a folder that is one.
void require_unread(const Arguments& arguments, const std::filesystem::path& file, io::Overwrite overwrite,
                    const Words& more_inputs) {
  std::vector<std::filesystem::path> inputs = inputs_of(arguments);
  inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
  io::require_target(file, overwrite, inputs);
  if (file == io::kStandardOutput) return;
  std::error_code code;
  const std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(file, code), code);
  for (const std::filesystem::path& input : inputs) {
    if (!std::filesystem::is_directory(input, code)) continue;
    const std::filesystem::path folder = std::filesystem::canonical(input, code);
    if (!io::is_results_name(place.lexically_relative(folder).string())) continue;
    throw UsageError(fmt::format("{} is a file of the results that are read from {}; choose another name",
                                 file.string(), input.string()));
  }
}

}  // namespace

OptionSpec overwrite_option() {
  return {.name = "overwrite", .kind = ValueKind::flag, .help = "replace files that exist; inputs never"};
}

io::Overwrite overwrite(const Arguments& arguments) {
  return arguments.flag("overwrite") ? io::Overwrite::replace : io::Overwrite::refuse;
}

std::vector<std::filesystem::path> inputs_of(const Arguments& arguments) {
  std::vector<std::filesystem::path> inputs;
  if (arguments.command().operand.words.empty()) inputs = paths_of(arguments.operands());
  for (const OptionSpec* const option : file_options(arguments)) {
    if (option->writes) continue;
    for (const std::string& file : arguments.texts(option->name)) inputs.emplace_back(file);
  }
  return inputs;
}

void require_place(const Arguments& arguments, std::string_view option, io::Overwrite overwrite,
                   const Words& more_inputs) {
  const std::filesystem::path file = arguments.text(option);
  require_no_other(arguments, option, file);
  require_unread(arguments, file, overwrite, more_inputs);
}

void require_output(const Arguments& arguments, std::string_view option, std::span<const io::OutputFormat> formats,
                    const Words& more_inputs) {
  if (!arguments.given(option)) return;
  static_cast<void>(io::output_format(arguments.text(option), formats));
  require_place(arguments, option, overwrite(arguments), more_inputs);
}

void require_row_output(const Arguments& arguments, std::span<const io::OutputFormat> formats,
                        const Words& more_inputs) {
  require_output(arguments, "out", formats, more_inputs);
  const std::filesystem::path rows = rows_file(arguments);
  if (rows.empty()) return;
  for (const OptionSpec* const option : file_options(arguments)) {
    if (!option->writes || !same_place(rows, arguments.text(option->name))) continue;
    throw UsageError(
        fmt::format("--{} is {}, where the rows of --out go; give it another name", option->name, rows.string()));
  }
  require_unread(arguments, rows, overwrite(arguments), more_inputs);
  if (std::error_code code; std::filesystem::exists(rows, code) && !io::is_marked_npy(rows)) {
    throw UsageError(rows.string() +
                     " is where the row of each point goes, and epsflow did not write it: move it away, or choose "
                     "another name for --out");
  }
}

void remove_rows(const Arguments& arguments) {
  const std::filesystem::path rows = rows_file(arguments);
  if (!rows.empty() && arguments.flag("overwrite")) std::filesystem::remove(rows);
}

void write_rows(const Arguments& arguments, const io::FilePoints& points, std::string_view what) {
  if (!points.renumbered()) return;
  const std::filesystem::path rows = rows_file(arguments);
  if (!rows.empty()) {
    io::write_npy(rows, io::marked_npy(io::row_numbers(points)), overwrite(arguments));
  } else if (!arguments.flag("quiet")) {
    const std::string rows_of_points =
        points.dropped_rows() > 0 ? fmt::format("the {} that were kept of {}", format_count(points.size(), "row"),
                                                format_count(points.size() + points.dropped_rows()))
                                  : fmt::format("the rows of all {} files", points.inputs.size());
    say(fmt::format(
        "{} are of {}, one after the other: name a file with --out to have the row of each beside it, in NAME.rows.npy",
        what, rows_of_points));
  }
}

void write_label_output(const Arguments& arguments, const VariantResult& result, const io::FilePoints& points,
                        const Metric& metric, io::LabelNumbers numbers) {
  remove_rows(arguments);
  if (arguments.given("out")) io::write_labels(arguments.text("out"), result, overwrite(arguments), metric, numbers);
  if (arguments.given("out") || !result.core.empty()) write_rows(arguments, points, "labels and masks");
}

bool goes_to_standard_output(const Arguments& arguments, std::string_view option) {
  if (!arguments.given(option) || arguments.text(option) != io::kStandardOutput) return false;
  if (arguments.flag("json")) {
    throw UsageError("--" + std::string(option) + " - and --json both go to standard output; give one of them");
  }
  return true;
}

}  // namespace epsflow::cli
