#include <epsflow/cli/outputs.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include <epsflow/cli/output.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
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

}  // namespace

OptionSpec overwrite_option() {
  return {.name = "overwrite", .kind = ValueKind::flag, .help = "replace files that exist; inputs never"};
}

io::Overwrite overwrite(const Arguments& arguments) {
  return arguments.flag("overwrite") ? io::Overwrite::replace : io::Overwrite::refuse;
}

void require_output(const Arguments& arguments, std::string_view option, std::span<const io::OutputFormat> formats,
                    const Words& inputs) {
  if (!arguments.given(option)) return;
  const std::filesystem::path file = arguments.text(option);
  static_cast<void>(io::output_format(file, formats));
  io::require_target(file, overwrite(arguments), paths_of(inputs));
}

void require_different_outputs(const Arguments& arguments, std::initializer_list<std::string_view> options) {
  for (auto a = options.begin(); a != options.end(); ++a) {
    for (auto b = options.begin(); b != a; ++b) {
      if (!arguments.given(*a) || !arguments.given(*b)) continue;
      if (!same_place(arguments.text(*a), arguments.text(*b))) continue;
      throw UsageError("--" + std::string(*b) + " and --" + std::string(*a) + " are both " + arguments.text(*a) +
                       "; give each a place of its own");
    }
  }
}

void require_row_output(const Arguments& arguments, std::span<const io::OutputFormat> formats, const Words& inputs) {
  require_output(arguments, "out", formats, inputs);
  const std::filesystem::path rows = rows_file(arguments);
  if (rows.empty()) return;
  io::require_target(rows, overwrite(arguments), paths_of(inputs));
  if (std::error_code code; std::filesystem::exists(rows, code) && !io::is_marked_npy(rows)) {
    throw UsageError(rows.string() +
                     " is where the row of each point goes, and epsflow did not write it: move it away, or choose "
                     "another name for --out");
  }
}

void require_label_output(const Arguments& arguments, std::span<const io::OutputFormat> formats, const Words& inputs) {
  require_row_output(arguments, formats, inputs);
  const std::filesystem::path rows = rows_file(arguments);
  if (rows.empty() || !arguments.given("core") || !same_place(rows, arguments.text("core"))) return;
  throw UsageError("--core is " + rows.string() + ", where the rows of --out go; give it another name");
}

void remove_rows(const Arguments& arguments) {
  const std::filesystem::path rows = rows_file(arguments);
  if (!rows.empty() && arguments.flag("overwrite")) std::filesystem::remove(rows);
}

void write_rows(const Arguments& arguments, const io::FilePoints& points, std::string_view what) {
  if (!points.renumbered()) return;
  const std::filesystem::path rows = rows_file(arguments);
  if (!rows.empty()) {
    io::write_npy(rows, io::marked_npy_rows(io::row_numbers(points)), overwrite(arguments));
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
                        const Metric& metric) {
  remove_rows(arguments);
  if (arguments.given("out")) io::write_labels(arguments.text("out"), result, overwrite(arguments), metric);
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
