#include <epsflow/cli/outputs.hpp>

#include <algorithm>
#include <system_error>

#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/npy_writer.hpp>

namespace epsflow::cli {
namespace {

std::filesystem::path resolved_path(const std::filesystem::path& path) {
  // If no part of a path exists, as for v.npy, weakly_canonical() does not make it absolute.
  std::error_code code;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
}

}  // namespace

void print_json(const nlohmann::ordered_json& json) {
  print_result("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

OptionSpec overwrite_option() { return flag("overwrite", "replace files that exist; inputs never"); }

Outputs::Outputs(const Arguments& arguments)
    : messages_(parse_messages(arguments)),
      overwrite_(arguments.given("overwrite") ? io::Overwrite::replace : io::Overwrite::refuse) {
  if (arguments.command().operand.words.empty()) inputs_ = paths_of(arguments.operands());
  for (const auto& [name, value] : arguments.all_given()) {
    const OptionSpec& option = *find_option(arguments.command(), name);
    if (option.kind != ValueKind::file && option.kind != ValueKind::folder) continue;
    option.writes ? static_cast<void>(written_.emplace_back(name, value)) : add_inputs(arguments.texts(name));
  }
  // A file with a default name is written even if its option is not given.
  for (const OptionGroup& group : arguments.command().groups) {
    for (const OptionSpec& option : group.options) {
      if (option.writes && !option.standard.empty() && !arguments.given(option.name)) {
        written_.emplace_back(option.name, option.standard);
      }
    }
  }
}

std::string Outputs::named(std::string_view option) const {
  const auto found = std::ranges::find(written_, option, &std::pair<std::string, std::string>::first);
  return found == written_.end() ? "" : found->second;
}

/// Throws UsageError if another option of the command also writes to `file`.
void Outputs::require_no_other(std::string_view option, const std::string& file) const {
  for (const auto& [other, path] : written_) {
    if (other == option || resolved_path(file) != resolved_path(path)) continue;
    throw usage_error("--{} and --{} are both {}; give each its own path", option, other, path);
  }
}

/// Throws UsageError if `file` is an input, or a file of results in a folder that is an input.
void Outputs::require_unread(const std::filesystem::path& file, io::Overwrite replaces) const {
  io::require_target(file, replaces, inputs_);
  if (file == io::kStandardOutput) return;
  std::error_code code;
  for (const std::filesystem::path& input : inputs_) {
    if (!std::filesystem::is_directory(input, code)) continue;
    const std::filesystem::path folder = std::filesystem::canonical(input, code);
    if (!io::is_results_name(resolved_path(file).lexically_relative(folder).string())) continue;
    throw usage_error("{} is a file of the results that are read from {}; choose another name", file.string(),
                      input.string());
  }
}

std::string Outputs::take(std::string_view option, std::span<const io::OutputFormat> formats) {
  std::string file = named(option);
  if (file.empty()) return file;
  static_cast<void>(io::output_format(file, formats));
  require_no_other(option, file);
  require_unread(file, overwrite_);
  if (file != io::kStandardOutput) return file;
  if (messages_.json) {
    throw usage_error("--{} - and --json both go to standard output; give one of them", option);
  }
  streamed_ = true;
  return file;
}

std::string Outputs::take_with_rows(std::span<const io::OutputFormat> formats) {
  out_ = take("out", formats);
  if (out_.empty() || out_ == io::kStandardOutput) return out_;
  rows_ = std::filesystem::path(out_).replace_extension(".rows.npy");
  for (const auto& [option, path] : written_) {
    if (resolved_path(rows_) != resolved_path(path)) continue;
    throw usage_error("--{} is {}, where the rows of --out go; give it another name", option, rows_.string());
  }
  require_unread(rows_, overwrite_);
  if (std::error_code code; std::filesystem::exists(rows_, code) && !io::is_marked_npy(rows_)) {
    throw UsageError(rows_.string() +
                     " is where the row of each point goes, and epsflow did not write it: move it away, or choose "
                     "another name for --out");
  }
  return out_;
}

std::string Outputs::take_page(std::string_view option, io::Overwrite replaces) {
  std::string file = named(option);
  if (file.empty()) return file;
  const std::filesystem::path extension = std::filesystem::path(file).extension();
  if (extension != ".html" && extension != ".htm") {
    throw usage_error("--{} {} is where a page for a browser goes: give it a name that ends in .html", option, file);
  }
  require_no_other(option, file);
  require_unread(file, replaces);
  return file;
}

void Outputs::print(const nlohmann::ordered_json& json, const std::string& line) const {
  if (messages_.json) {
    print_json(json);
  } else if (has_summary()) {
    print_text(line);
  }
}

void Outputs::remove_rows() const {
  if (!rows_.empty() && overwrite_ == io::Overwrite::replace) std::filesystem::remove(rows_);
}

void Outputs::write_rows(const io::FilePoints& points, std::string_view what) const {
  if (!points.renumbered()) return;
  if (!rows_.empty()) return io::write_npy(rows_, io::marked_npy(io::row_numbers(points)), overwrite_);
  const std::string rows_of_points =
      points.dropped_rows() > 0 ? fmt::format("the {} that were kept of {}", format_count(points.size(), "row"),
                                              format_count(points.size() + points.dropped_rows()))
                                : fmt::format("the rows of all {} files", points.inputs.size());
  messages_.tell(
      "{} are of {}, one after the other: name a file with --out to have the row of each beside it, in NAME.rows.npy",
      what, rows_of_points);
}

void Outputs::write_labels(const VariantResult& result, const io::FilePoints& points, const Metric& metric,
                           io::LabelNumbers numbers) const {
  remove_rows();
  if (!out_.empty()) io::write_labels(out_, result, overwrite_, metric, numbers);
  if (!out_.empty() || !result.core.empty()) write_rows(points, "labels and masks");
}

}  // namespace epsflow::cli
