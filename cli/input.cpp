#include <epsflow/cli/input.hpp>

#include <algorithm>
#include <cmath>

#include <epsflow/cli/options.hpp>
#include <epsflow/cli/running.hpp>
#include <epsflow/core/memory.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/results/results_names.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/sky/sky_columns.hpp>

namespace epsflow::cli {
namespace {

/// The largest number of items that a message lists.
constexpr std::size_t kMostListed = 10;

/// Removes a quoted item from the front of `text`, which begins with a quote, and returns it.
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
  throw usage_error("--{} '{}': a quote is not closed", option, whole);
}

/// Returns the value of an option, which must be one character.
char one_character(const Arguments& arguments, std::string_view option, std::string_view also) {
  const std::string& text = arguments.text(option);
  if (text.size() == 1 && static_cast<unsigned char>(text.front()) < 0x80) return text.front();
  throw usage_error("--{} '{}' is no single character; write one{}", option, text, also);
}

char parse_delimiter(const Arguments& arguments) {
  const std::string& text = arguments.text("delimiter");
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "blanks") return ' ';
  return one_character(arguments, "delimiter", ", or tab, or blanks");
}

/// Returns the column of --weight. As in --columns, a name with a comma must be in quotes.
std::string parse_weight(const Arguments& arguments) {
  Words columns = parse_list(arguments, "weight");
  if (columns.size() == 1) return std::move(columns.front());
  throw usage_error(
      "--weight '{}' names {}, and a point has one weight: name one column, in double quotes if its name "
      "holds a comma",
      arguments.text("weight"), format_count(columns.size(), "column"));
}

/// Returns a name from a file for display: unchanged if it reads as one name, in quotes (as in --columns) if it
/// contains a comma, and escaped if a terminal cannot show it.
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

/// Returns "; weights in column mass", or an empty text without weights.
std::string weights_of(const io::PointsOrigin& points) {
  return points.weight_column.empty() ? "" : "; weights in column " + shown(points.weight_column);
}

/// Returns "coordinates lat, lon (columns 1, 2)".
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

std::optional<double> parse_smallest_eps(const Arguments& arguments) {
  if (arguments.given("variants")) {
    return std::ranges::min(parse_variants(arguments.text("variants")), {}, &Variant::eps).eps;
  }
  if (!arguments.given("eps")) return std::nullopt;
  return std::ranges::min(parse_eps_list(arguments.text("eps")));
}

/// Throws UsageError for options of slices that contradict each other.
void parse_slicing(const Arguments& arguments, Input& input) {
  input.by_file = arguments.given("by-file");
  const Words& by = input.beside.by;
  if (input.by_file && !by.empty()) throw UsageError("--by and --by-file both say what a slice is: give one of them");
  if (by.size() > 1) {
    throw usage_error("--by '{}' names {}: name one, in double quotes if its name holds a comma", arguments.text("by"),
                      format_count(by.size(), "column"));
  }
  if (!arguments.given("by-width")) return;
  if (by.empty()) throw UsageError("--by-width is about the column of --by: give --by as well");
  input.by_width = arguments.decimal("by-width", "a number above 0, as 300",
                                     [](double width) { return width > 0 && std::isfinite(width); });
}

/// Returns the coordinates among the columns of a file. Called if --columns is not given.
std::vector<std::size_t> choose_columns(const Words& names, const Metric& metric, const NamedColumns& beside) {
  std::vector<std::size_t> chosen = sky_columns(names, metric);
  Words others;
  for (const auto& [option, columns] : beside.by_option())
    others.insert(others.end(), columns->begin(), columns->end());
  if (!chosen.empty() || others.empty()) return chosen;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (std::ranges::find(others, names[k]) == others.end()) chosen.push_back(k);
  }
  if (!chosen.empty()) return chosen;
  throw UsageError("no column is left for coordinates: those of --by and --stats are none unless --columns names them");
}

/// Returns the text of a library error with the options that name these columns, instead of the option --columns.
std::string in_words_of_columns(const NamedColumns& beside, const Words& names, std::string text) {
  std::string options;
  for (const auto& [option, columns] : beside.by_option()) {
    const auto is_asked_for = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
    if (std::ranges::any_of(*columns, is_asked_for)) {
      options += fmt::format("{}--{}", options.empty() ? "" : " or ", option);
    }
  }
  constexpr std::string_view kOfCoordinates = "ReadOptions::columns";
  const std::size_t at = text.find(kOfCoordinates);
  if (at != std::string::npos && !options.empty()) text.replace(at, kOfCoordinates.size(), options);
  return text;
}

}  // namespace

OptionGroup input_options() { return {"Input", specs_of<io::ReadOptions>()}; }

OptionGroup unweighted_input_options() {
  OptionGroup group = input_options();
  std::erase_if(group.options, [](const OptionSpec& option) { return option.name == "weight"; });
  return group;
}

Words parse_list(const Arguments& arguments, std::string_view option) {
  Words items;
  if (!arguments.given(option)) return items;
  const std::string_view whole = arguments.text(option);
  std::string_view text = whole;
  while (true) {
    text = io::trim(text);
    std::string item;
    if (text.starts_with('"')) {
      item = take_quoted(option, text, whole);
      text = io::trim(text);
      if (!text.empty() && text.front() != ',') {
        throw usage_error("--{} '{}': a comma is missing before '{}'", option, whole, text);
      }
    } else {
      item = io::trim(text.substr(0, text.find(',')));
      text.remove_prefix(std::min(text.size(), text.find(',')));
    }
    if (item.empty()) {
      throw usage_error("--{} '{}': item {} is empty; take the comma away or write a name", option, whole,
                        items.size() + 1);
    }
    items.push_back(std::move(item));
    if (text.empty()) return items;
    text.remove_prefix(1);
  }
}

void require_one_pipe(const Words& files) {
  if (std::ranges::count(files, "-") <= 1) return;
  throw UsageError("- stands for standard input, which can be read only once; name it once");
}

Input parse_input(const Arguments& arguments) {
  Input input{.files = arguments.operands(),
              .metric = parse_metric(arguments),
              .smallest_eps = parse_smallest_eps(arguments),
              .messages = parse_messages(arguments)};
  require_one_pipe(input.files);
  io::ReadOptions& options = input.options;
  take(arguments, options);
  options.columns = parse_list(arguments, "columns");
  if (arguments.given("weight")) options.weight = parse_weight(arguments);
  input.beside = {.by = parse_list(arguments, "by"),
                  .stats = parse_list(arguments, "stats"),
                  .velocity = parse_list(arguments, "velocity")};
  // The option --ids of fof is a word and not a column.
  if (arguments.command().name == "tracks") input.beside.ids = parse_list(arguments, "ids");
  options.choose = [metric = input.metric, beside = input.beside](const Words& names) {
    return choose_columns(names, metric, beside);
  };
  if (arguments.given("delimiter")) options.text.delimiter = parse_delimiter(arguments);
  if (arguments.given("decimal")) options.text.decimal = one_character(arguments, "decimal", "");
  input.has_memory = arguments.given("memory");
  options.memory = input.has_memory ? arguments.size("memory") : machine_memory() / 2;
  parse_slicing(arguments, input);
  return input;
}

io::FilePoints Input::read() const {
  io::FilePoints points = io::read_points(paths_of(files), options);
  if (!messages.quiet) say_what_was_read(points, points.size(), points.dims());
  return points;
}

io::FilePoints Input::read_resolved() {
  io::FilePoints points = read();
  require_points(points, points.size());
  resolve(points);
  return points;
}

std::vector<std::vector<double>> Input::read_beside(const Words& names, const io::FilePoints& points) const {
  io::ColumnsBeside read;
  try {
    read = io::read_columns(paths_of(files), options, names, points);
  } catch (const UsageError& error) {
    throw UsageError(in_words_of_columns(beside, names, error.what()));
  } catch (const InputError& error) {
    throw InputError(in_words_of_columns(beside, names, error.what()));
  }
  for (std::size_t k = 0; k < names.size() && options.columns.empty(); ++k) {
    const auto taken = std::ranges::find(points.column_numbers, read.numbers[k]);
    if (taken == points.column_numbers.end()) continue;
    throw usage_error("column {} is a coordinate as well, as nothing says which columns are: give them with --columns",
                      names[k]);
  }
  return std::move(read.values);
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

io::LabelledCopy Input::labelled_copy(const io::FilePoints& points, io::OutputFormat format,
                                      io::AddedColumns added) const {
  io::LabelledCopy copy(paths_of(files), options, points, format, added, metric);
  if (!copy.limit().empty()) messages.tell("labelled files hold the coordinates alone: {}", copy.limit());
  if (!copy.left_out().empty()) messages.tell("labelled files leave out {}", copy.left_out());
  return copy;
}

std::string row_of(const io::FilePoints& points, std::size_t point) {
  const auto row = static_cast<std::uint64_t>(points.renumbered() ? io::row_numbers(points, points.size())[point]
                                                                  : static_cast<std::int64_t>(point));
  std::uint64_t before = 0;
  for (const io::InputRows& input : points.inputs) {
    if (row < before + input.rows) {
      return points.inputs.size() > 1 ? fmt::format("row {} of {}", row - before, input.name)
                                      : fmt::format("row {}", row);
    }
    before += input.rows;
  }
  return fmt::format("row {}", row);
}

void require_points(const io::PointsOrigin& origin, std::uint64_t n) {
  if (n > 0 || origin.dropped_rows() == 0) return;
  throw input_error(
      "all {} were dropped for NaN, infinity or missing values in the columns that were read, and "
      "nothing is left to cluster: choose others with --columns",
      format_count(origin.dropped_rows(), "row"));
}

void add_input(nlohmann::ordered_json& json, const io::PointsOrigin& origin, const Metric* metric) {
  json["metric"] = metric == nullptr ? std::string(kPrecomputed) : describe_in_full(*metric);
  if (metric != nullptr && !eps_unit(*metric).empty()) json["eps_unit"] = eps_unit(*metric);
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

OptionGroup table_options() {
  return {"A table of neighbours in place of points",
          {flag("neighbors",
                "FILE is a table that epsflow neighbors wrote: with distances for every eps up to its own, without for "
                "that eps")}};
}

void require_table_options(const Arguments& arguments, const Words& more) {
  const auto refuse = [&](const std::string& name) {
    if (!arguments.given(name)) return;
    throw usage_error("--{} is about points, and --neighbors reads a table of their neighbours; leave one of them out",
                      name);
  };
  for (const OptionGroup& group :
       {metric_options(), input_options(), several_gpus_options(), search_options(), run_options()}) {
    for (const OptionSpec& option : group.options) refuse(option.name);
  }
  for (const std::string& name : more) refuse(name);
  if (arguments.operands().size() != 1) {
    throw usage_error("--neighbors takes one table, and {} files are named; give one", arguments.operands().size());
  }
}

TableInput read_table(const Input& input) {
  const std::string& file = input.files.front();
  TableInput read{.table = io::read_neighbors(file, input.options.memory), .origin = {}};
  const NeighborsView table = read.table.view();
  read.origin.inputs.push_back({.name = file, .kind = "HDF5 table of neighbours", .rows = table.size()});
  input.messages.tell("{}: {} within {}; {}, {}, with{} distances", io::show_name(file),
                      read.origin.inputs.front().kind, format_number(table.eps), format_count(table.size(), "row"),
                      format_count(table.ids.size(), "pair"), table.distances.empty() ? "out" : "");
  return read;
}

io::ResultsInput results_input(const TableInput& input) {
  const NeighborsView table = input.table.view();
  io::Checksum checksum;
  checksum.add(fmt::format("neighbors {}", table.eps));
  checksum.add(std::as_bytes(table.offsets));
  checksum.add(std::as_bytes(table.ids));
  checksum.add(std::as_bytes(table.distances));
  return {.origin = input.origin, .points = table.size(), .checksum = "crc32:" + io::format_checksum(checksum.value())};
}

}  // namespace epsflow::cli
