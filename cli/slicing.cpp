#include <epsflow/cli/slicing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <variant>

#include <epsflow/cli/output.hpp>
#include <epsflow/cli/reading.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/read_points.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/csv_writer.hpp>

namespace epsflow::cli {
namespace {

std::string by_name(const Arguments& arguments) {
  if (arguments.flag("by-file")) return "file";
  return split_list("by", arguments.text("by")).front();
}

/// 0 where it is not given.
double by_width(const Arguments& arguments) {
  if (!arguments.given("by-width")) return 0;
  return arguments.decimal("by-width", "a number above 0, as 300",
                           [](double width) { return width > 0 && std::isfinite(width); });
}

/// A slice for each file, empty ones too.
SliceRows rows_by_file(const io::FilePoints& points) {
  SliceRows rows;
  rows.offsets.push_back(0);
  for (const io::InputRows& input : points.inputs) {
    rows.keys.push_back(static_cast<double>(rows.keys.size()));
    rows.offsets.push_back(rows.offsets.back() + input.rows - input.dropped.size());
  }
  return rows;
}

/// Drops the points that lack a value of --by, or of a column of --ids, if --on-nan says so of the coordinates.
void drop_without(const Arguments& arguments, io::FilePoints& points) {
  if (read_options(arguments).on_nan != io::NanPolicy::drop) return;
  Words names;
  for (const char* option : {"by", "ids"}) {
    if (!arguments.given(option)) continue;
    for (std::string& name : split_list(option, arguments.text(option))) names.push_back(std::move(name));
  }
  if (names.empty()) return;
  std::vector<bool> is_out(points.size());
  for (const std::vector<double>& values : read_beside(arguments, names, points)) {
    for (std::size_t i = 0; i < values.size(); ++i) is_out[i] = is_out[i] || !std::isfinite(values[i]);
  }
  const auto count = static_cast<std::uint64_t>(std::ranges::count(is_out, true));
  if (count == 0) return;
  io::drop_points(points, is_out);
  if (!arguments.flag("quiet")) {
    say(fmt::format("dropped {} for missing values in {}", format_count(count, "row"), fmt::join(names, ", ")));
  }
  require_points(points);
}

SliceRows rows_of(const Arguments& arguments, io::FilePoints& points) {
  drop_without(arguments, points);
  if (arguments.flag("by-file")) return rows_by_file(points);
  const std::string name = by_name(arguments);
  const std::vector<double> values = std::move(read_beside(arguments, {name}, points).front());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw InputError(
        fmt::format("{} has {} in the column {} of --by, and every point is in a slice: fill it, or drop such rows "
                    "with --on-nan drop",
                    row_of(points, i), values[i], name));
  }
  return slice_rows(values, by_width(arguments));
}

/// Whole numbers as such.
TableColumn called(const Arguments& arguments, const io::FilePoints& points, const SliceRows& rows) {
  const std::string name = by_name(arguments);
  if (arguments.flag("by-file")) {
    std::vector<std::string> names;
    for (const io::InputRows& input : points.inputs) names.push_back(input.name);
    return {name, std::move(names)};
  }
  const bool whole =
      std::ranges::all_of(rows.keys, [](double key) { return key == std::floor(key) && std::abs(key) < 0x1p53; });
  if (whole) return {name, std::vector<std::int64_t>(rows.keys.begin(), rows.keys.end())};
  return {name, rows.keys};
}

/// What the library says of columns beside the coordinates, with the options that name them in place of the one for coordinates.
std::string in_words_of_columns(const Arguments& arguments, const Words& names, std::string text) {
  std::string options;
  for (const char* option : {"by", "stats", "velocity", "ids"}) {
    if (!arguments.given(option)) continue;
    const Words named = split_list(option, arguments.text(option));
    const auto is_asked_for = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
    if (std::ranges::any_of(named, is_asked_for))
      options += fmt::format("{}--{}", options.empty() ? "" : " or ", option);
  }
  constexpr std::string_view kOfCoordinates = "ReadOptions::columns";
  const std::size_t at = text.find(kOfCoordinates);
  if (at != std::string::npos && !options.empty()) text.replace(at, kOfCoordinates.size(), options);
  return text;
}

}  // namespace

OptionGroup slicing_options() {
  return {
      "Many data sets at once",
      {{.name = "by",
        .value = "COLUMN",
        .help = "cluster the rows of each value of this column (a number, or a time in ISO 8601, which becomes seconds "
                "since 1970) by themselves, as a slice; it is no coordinate unless --columns names it"},
       {.name = "by-width",
        .value = "W",
        .help = "with --by: a slice for each stretch from a whole multiple of W up to the next, instead of each value"},
       {.name = "by-file", .kind = ValueKind::flag, .help = "cluster the rows of each file by themselves"}}};
}

void check_slicing(const Arguments& arguments) {
  if (arguments.flag("by-file") && arguments.given("by")) {
    throw UsageError("--by and --by-file both say what a slice is: give one of them");
  }
  if (arguments.given("by-width") && !arguments.given("by")) {
    throw UsageError("--by-width is about the column of --by: give --by as well");
  }
  if (arguments.given("by")) {
    const Words columns = split_list("by", arguments.text("by"));
    if (columns.size() != 1) {
      throw UsageError(fmt::format("--by '{}' names {}: name one, in double quotes if its name holds a comma",
                                   arguments.text("by"), format_count(columns.size(), "column")));
    }
  }
  (void)by_width(arguments);
}

Words columns_beside(const Arguments& arguments) {
  Words names;
  for (const char* option : {"by", "stats", "velocity", "ids"}) {
    if (!arguments.given(option)) continue;
    if (std::string_view(option) == "ids" && arguments.command().name != "tracks") continue;  // of fof it is a word
    for (std::string& name : split_list(option, arguments.text(option))) names.push_back(std::move(name));
  }
  return names;
}

std::string columns_text(Words names, const std::vector<std::size_t>& numbers) {
  if (names.empty()) return fmt::format("{}", fmt::join(numbers, ","));
  for (std::string& name : names) {
    for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2) name.insert(at, 1, '"');
    name = '"' + name + '"';
  }
  return fmt::format("{}", fmt::join(names, ","));
}

std::vector<std::vector<double>> read_beside(const Arguments& arguments, const Words& names,
                                             const io::FilePoints& points) {
  io::ColumnsBeside beside;
  try {
    beside = io::read_columns(paths_of(arguments.operands()), read_options(arguments), names, points);
  } catch (const UsageError& error) {
    throw UsageError(in_words_of_columns(arguments, names, error.what()));
  } catch (const InputError& error) {
    throw InputError(in_words_of_columns(arguments, names, error.what()));
  }
  for (std::size_t k = 0; k < names.size() && !arguments.given("columns"); ++k) {
    const auto taken = std::ranges::find(points.column_numbers, beside.numbers[k]);
    if (taken == points.column_numbers.end()) continue;
    throw UsageError(fmt::format(
        "column {} is a coordinate as well, as nothing says which columns are: give them with --columns", names[k]));
  }
  return std::move(beside.values);
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

Slicing::Slicing(const Arguments& arguments, io::FilePoints& points)
    : points_(points),
      name_(by_name(arguments)),
      rows_(rows_of(arguments, points)),
      slices_(rows_.offsets, points.size()),
      called_(cli::called(arguments, points, rows_)) {
  if (!rows_.order.empty()) {
    ordered_ = epsflow::in_order(points, rows_.order);
    weights_ = in_order(std::span<const double>(points.weights));
  }
}

Dataset Slicing::load(const Engine& engine, const Metric& metric) const {
  Dataset data = engine.load(points(), rows_.offsets, metric);
  return weights().empty() ? data : data.weighted(weights());
}

void Slicing::restore(VariantResult& result) const {
  if (rows_.order.empty()) return;
  if (!result.labels.empty()) back_to_rows(result.labels.span(), rows_.order);
  if (!result.core.empty()) back_to_rows(std::span(result.core), rows_.order);
}

std::string Slicing::describe() const {
  io::Checksum sum;
  sum.add(std::as_bytes(std::span(rows_.keys)));
  sum.add(std::as_bytes(std::span(rows_.offsets)));
  sum.add(std::as_bytes(std::span(rows_.order)));
  return fmt::format("{} by {} (crc32:{})", format_count(rows_.count(), "slice"), name_,
                     io::format_checksum(sum.value()));
}

void SliceCounts::add(const VariantResult& result) { variants_.push_back({result.variant, result.slices}); }

void SliceCounts::write(const std::filesystem::path& file) const {
  std::vector<const Counted*> order;
  for (const Counted& counted : variants_) order.push_back(&counted);
  std::ranges::sort(order, [](const Counted* a, const Counted* b) {
    return a->variant.eps < b->variant.eps ||
           (a->variant.eps == b->variant.eps && a->variant.minpts < b->variant.minpts);
  });
  io::FileStream out(file, file);
  io::CsvWriter csv(out);
  static constexpr std::array<std::string_view, 8> kCounts{"points", "eps",  "minpts", "clusters",
                                                           "noise",  "core", "border", "largest"};
  const std::string& called = slicing_.called().name;
  csv.text(std::ranges::find(kCounts, called) == kCounts.end() ? called : "slice_" + called);
  for (const std::string_view name : kCounts) csv.text(name);
  csv.end_row();
  for (std::size_t s = 0; s < slicing_.rows().count(); ++s) {
    for (const Counted* counted : order) {
      std::visit(
          [&](const auto& values) {
            if constexpr (std::is_same_v<std::decay_t<decltype(values[s])>, std::string>) {
              csv.text(values[s]);
            } else {
              csv.number(values[s]);
            }
          },
          slicing_.called().values);
      csv.number(slicing_.rows().offsets[s + 1] - slicing_.rows().offsets[s]);
      csv.number(counted->variant.eps);
      csv.number(counted->variant.minpts);
      const LabelSummary& counts = counted->slices[s];
      for (const std::uint64_t count : {counts.clusters, counts.noise, counts.core, counts.border, counts.largest}) {
        csv.number(count);
      }
      csv.end_row();
    }
  }
  csv.flush();
  out.close();
}

}  // namespace epsflow::cli
