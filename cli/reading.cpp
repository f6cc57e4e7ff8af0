#include <epsflow/cli/reading.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <epsflow/cli/metric.hpp>
#include <epsflow/cli/options.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/cli/slicing.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/core/sky_columns.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/results/results_names.hpp>

namespace epsflow::cli {
namespace {

/// Most of anything that a message lists one by one.
constexpr std::size_t kMostListed = 10;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Takes a quoted item off the front of `text`, which begins with the quote.
std::string take_quoted(std::string_view option, std::string_view& text, std::string_view whole) {
  std::string item;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '"') {
      item += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '"') {
      item += text[i++];
    } else {
      text.remove_prefix(i + 1);
      return item;
    }
  }
  throw UsageError(fmt::format("--{} '{}': a quote is not closed", option, whole));
}

/// The one character that an option stands for.
char one_character(const Arguments& arguments, std::string_view option, std::string_view also) {
  const std::string& text = arguments.text(option);
  if (text.size() == 1 && static_cast<unsigned char>(text.front()) < 0x80) return text.front();
  throw UsageError(fmt::format("--{} '{}' is no single character; write one{}", option, text, also));
}

char delimiter(const Arguments& arguments) {
  const std::string& text = arguments.text("delimiter");
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "blanks") return ' ';
  return one_character(arguments, "delimiter", ", or tab, or blanks");
}

/// In the words of --columns, so that a name with a comma goes in quotes here, too.
std::string weight(const Arguments& arguments) {
  Words columns = split_list("weight", arguments.text("weight"));
  if (columns.size() == 1) return std::move(columns.front());
  throw UsageError(
      fmt::format("--weight '{}' names {}, and a point has one weight: name one column, in double quotes if its name "
                  "holds a comma",
                  arguments.text("weight"), format_count(columns.size(), "column")));
}

/// A name from a file as it is, where it reads as one name; in quotes as --columns takes it where it holds a comma, and
/// escaped where a terminal cannot show it.
std::string shown(const std::string& name) {
  std::string escaped = io::show_text(name);
  if (escaped != "'" + name + "'") return escaped;
  return name.find(',') == std::string::npos ? name : '"' + name + '"';
}

template <class Items, class Show>
std::string list_of(const Items& items, Show show) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(items.size(), kMostListed); ++i) {
    text += (i > 0 ? ", " : "") + show(items[i]);
  }
  return items.size() > kMostListed ? text + ", …" : text;
}

/// "; weights in column mass"; nothing for points without any.
std::string weights_of(const io::PointsOrigin& points) {
  return points.weight_column.empty() ? "" : "; weights in column " + shown(points.weight_column);
}

/// "coordinates lat, lon (columns 1, 2)".
std::string coordinates_of(const io::PointsOrigin& points, std::size_t dims) {
  const std::string numbers =
      points.column_numbers.empty()
          ? ""
          : fmt::format("column{} {}", points.column_numbers.size() == 1 ? "" : "s",
                        list_of(points.column_numbers, [](std::size_t number) { return std::to_string(number); }));
  const std::string count = dims > kMostListed ? format_count(dims) + " coordinates" : "coordinates";
  if (points.column_names.empty()) {
    return numbers.empty() ? format_count(dims, "coordinate") : count + " in " + numbers;
  }
  return count + " " + list_of(points.column_names, shown) + (numbers.empty() ? "" : " (" + numbers + ")");
}

}  // namespace

OptionGroup input_options() { return {"Input", specs_of<io::ReadOptions>()}; }

OptionGroup unweighted_input_options() {
  OptionGroup group = input_options();
  std::erase_if(group.options, [](const OptionSpec& option) { return option.name == "weight"; });
  return group;
}

std::vector<std::string> split_list(std::string_view option, std::string_view text) {
  std::vector<std::string> items;
  const std::string_view whole = text;
  while (true) {
    text = trim(text);
    std::string item;
    if (text.starts_with('"')) {
      item = take_quoted(option, text, whole);
      text = trim(text);
      if (!text.empty() && text.front() != ',') {
        throw UsageError(fmt::format("--{} '{}': a comma is missing before '{}'", option, whole, text));
      }
    } else {
      item = trim(text.substr(0, text.find(',')));
      text.remove_prefix(std::min(text.size(), text.find(',')));
    }
    if (item.empty()) {
      throw UsageError(fmt::format("--{} '{}': item {} is empty; take the comma away or write a name", option, whole,
                                   items.size() + 1));
    }
    items.push_back(std::move(item));
    if (text.empty()) return items;
    text.remove_prefix(1);
  }
}

io::ReadOptions read_options(const Arguments& arguments) {
  io::ReadOptions options;
  take(arguments, options);
  if (arguments.given("columns")) options.columns = split_list("columns", arguments.text("columns"));
  if (arguments.given("weight")) options.weight = weight(arguments);
  options.choose = [metric = requested_metric(arguments), beside = columns_beside(arguments)](const Words& names) {
    std::vector<std::size_t> chosen = sky_columns(names, metric);
    if (!chosen.empty() || beside.empty()) return chosen;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (std::ranges::find(beside, names[k]) == beside.end()) chosen.push_back(k);
    }
    if (chosen.empty())
      throw UsageError(
          "no column is left for coordinates: those of --by and --stats are none unless --columns names them");
    return chosen;
  };
  if (arguments.given("delimiter")) options.text.delimiter = delimiter(arguments);
  if (arguments.given("decimal")) options.text.decimal = one_character(arguments, "decimal", "");
  options.memory = arguments.given("memory") ? arguments.size("memory") : machine_memory() / 2;
  return options;
}

io::FilePoints read_input(const Arguments& arguments) {
  const Words& files = arguments.operands();
  if (std::count(files.begin(), files.end(), "-") > 1) {
    throw UsageError("- stands for standard input, which can be read only once; name it once");
  }
  io::FilePoints points = io::read_points(paths_of(files), read_options(arguments));
  if (!arguments.flag("quiet")) say_what_was_read(points, points.size(), points.dims());
  return points;
}

void widen(io::FilePoints& points) {
  if (points.precision() == Precision::float64) return;
  Points wide(points.size(), points.dims(), Precision::float64);
  std::ranges::copy(points.values<float>(), wide.values<double>().begin());
  static_cast<Points&>(points) = std::move(wide);
}

void say_what_was_read(const io::PointsOrigin& origin, std::uint64_t n, std::size_t dims) {
  for (std::size_t i = 0; i < origin.inputs.size() && i < kMostListed; ++i) {
    const io::InputRows& input = origin.inputs[i];
    const std::string kind = input.kind.empty() ? "" : input.kind + "; ";
    const std::string name = shown(input.name);
    say(fmt::format("{}: {}{}; {}{}", name, kind, format_count(input.rows, "row"), coordinates_of(origin, dims),
                    weights_of(origin)));
    if (input.dropped.empty()) continue;
    say(fmt::format("{}: dropped {} of {} for NaN, infinity or missing values: row{} {}", name,
                    format_count(input.dropped.size()), format_count(input.rows, "row"),
                    input.dropped.size() == 1 ? "" : "s",
                    list_of(input.dropped, [](std::uint64_t row) { return std::to_string(row); })));
  }
  for (const io::InputRows& input : origin.inputs) {
    if (input.pieces == 1 || origin.inputs.size() % input.pieces == 0) continue;
    say(fmt::format("{} is one of {} of its snapshot, and {} read: name them all, or groups are cut", shown(input.name),
                    format_count(input.pieces, "file"),
                    origin.inputs.size() == 1 ? "1 is" : fmt::format("{} are", origin.inputs.size())));
    break;
  }
  if (origin.inputs.size() > kMostListed) {
    say(fmt::format("and {}; {} and {} dropped in all", format_count(origin.inputs.size() - kMostListed, "more file"),
                    format_count(n, "point"), format_count(origin.dropped_rows(), "row")));
  }
}

io::LabelledCopy labelled_copy(const Arguments& arguments, const io::FilePoints& points, io::OutputFormat format,
                               bool core, const Metric& metric) {
  io::LabelledCopy copy(paths_of(arguments.operands()), read_options(arguments), points, format, core, metric);
  if (!copy.limit().empty() && !arguments.flag("quiet")) {
    say("labelled files hold the coordinates alone: " + copy.limit());
  }
  if (!copy.left_out().empty() && !arguments.flag("quiet")) say("labelled files leave out " + copy.left_out());
  return copy;
}

io::VariantWriter labelled_writer(const io::LabelledCopy& copy, const std::string& extension) {
  return {.folder = io::kLabelledFolder,
          .extension = extension,
          .contents = copy.contents(),
          .bytes = copy.bytes(),
          .write = [&copy](const auto& file, const auto& target, const VariantResult& result) {
            copy.write(file, target, result);
          }};
}

void require_points(const io::PointsOrigin& origin, std::uint64_t n) {
  if (n > 0 || origin.dropped_rows() == 0) return;
  throw InputError(
      fmt::format("all {} were dropped for NaN, infinity or missing values in the columns that were read, and "
                  "nothing is left to cluster: choose others with --columns",
                  format_count(origin.dropped_rows(), "row")));
}

void add_metric(nlohmann::ordered_json& json, const Metric& metric) {
  json["metric"] = describe_in_full(metric);
  if (const std::string_view unit = eps_unit(metric); !unit.empty()) json["eps_unit"] = unit;
}

void add_input(nlohmann::ordered_json& json, const io::PointsOrigin& origin) {
  auto& inputs = json["inputs"] = nlohmann::ordered_json::array();
  for (const io::InputRows& input : origin.inputs) {
    inputs.push_back({{"name", input.name},
                      {"kind", input.kind},
                      {"rows", input.rows},
                      {"dropped_rows", input.dropped.size()},
                      {"first_dropped",
                       std::vector<std::uint64_t>(input.dropped.begin(),
                                                  input.dropped.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                              input.dropped.size(), kMostListed)))}});
  }
  json["columns"] = origin.column_names;
  json["column_numbers"] = origin.column_numbers;
  if (!origin.weight_column.empty()) json["weight"] = origin.weight_column;
  json["dropped_rows"] = origin.dropped_rows();
}

}  // namespace epsflow::cli
