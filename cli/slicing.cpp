#include <epsflow/cli/slicing.hpp>

#include <algorithm>
#include <cmath>
#include <variant>

#include <epsflow/io/checksum.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/atomic_file.hpp>
#include <epsflow/io/write/csv_writer.hpp>

namespace epsflow::cli {
namespace {

/// Returns a slice for each file, even if it is empty.
SliceRows rows_by_file(const io::FilePoints& points) {
  SliceRows rows;
  rows.offsets.push_back(0);
  for (const io::InputRows& input : points.inputs) {
    rows.keys.push_back(static_cast<double>(rows.keys.size()));
    rows.offsets.push_back(rows.offsets.back() + input.rows - input.dropped.size());
  }
  return rows;
}

/// Drops points without a value of --by, or of a column of --ids, if --on-nan drops points without coordinates.
void drop_without(const Input& input, io::FilePoints& points) {
  if (input.options.on_nan != io::NanPolicy::drop) return;
  Words names = input.beside.by;
  names.insert(names.end(), input.beside.ids.begin(), input.beside.ids.end());
  if (names.empty()) return;
  std::vector<bool> is_out(points.size());
  for (const std::vector<double>& values : input.read_beside(names, points)) {
    for (std::size_t i = 0; i < values.size(); ++i) is_out[i] = is_out[i] || !std::isfinite(values[i]);
  }
  const auto count = static_cast<std::uint64_t>(std::ranges::count(is_out, true));
  if (count == 0) return;
  io::drop_points(points, is_out);
  input.messages.tell("dropped {} for missing values in {}", format_count(count, "row"), fmt::join(names, ", "));
  require_points(points, points.size());
}

SliceRows rows_of(const Input& input, io::FilePoints& points) {
  drop_without(input, points);
  if (input.by_file) return rows_by_file(points);
  const std::vector<double> values = std::move(input.read_beside(input.beside.by, points).front());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw input_error(
        "{} has {} in the column {} of --by, and every point is in a slice: fill it, or drop such rows "
        "with --on-nan drop",
        row_of(points, i), values[i], input.beside.by.front());
  }
  return slice_rows(values, input.by_width);
}

/// Returns the names of the slices, as integers if all are whole numbers.
TableColumn called(const Input& input, const io::FilePoints& points, const SliceRows& rows) {
  if (input.by_file) {
    std::vector<std::string> names;
    for (const io::InputRows& file : points.inputs) names.push_back(file.name);
    return {"file", std::move(names)};
  }
  const std::string& name = input.beside.by.front();
  const bool whole =
      std::ranges::all_of(rows.keys, [](double key) { return key == std::floor(key) && std::abs(key) < 0x1p53; });
  if (whole) return {name, std::vector<std::int64_t>(rows.keys.begin(), rows.keys.end())};
  return {name, rows.keys};
}

}  // namespace

OptionGroup slicing_options() {
  return {"Many data sets at once",
          {text_option("by", "COLUMN",
                       "cluster the rows of each value of this column (a number, or a time in ISO 8601, which becomes "
                       "seconds since 1970) by themselves, as a slice; it is no coordinate unless --columns names it"),
           text_option("by-width", "W",
                       "with --by: a slice for each stretch from a whole multiple of W up to the next, instead of each "
                       "value"),
           flag("by-file", "cluster the rows of each file by themselves")}};
}

Slicing::Slicing(const Input& input, io::FilePoints& points)
    : points_(points),
      rows_(rows_of(input, points)),
      slices_(rows_.offsets, points.size()),
      called_(cli::called(input, points, rows_)) {
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
  return fmt::format("{} by {} (crc32:{})", format_count(rows_.count(), "slice"), called_.name,
                     io::format_checksum(sum.value()));
}

void write_slice_counts(const std::filesystem::path& file, const Slicing& slicing, const SliceCounts& counts) {
  io::FileStream out(file, file);
  io::CsvWriter csv(out);
  static constexpr std::array<std::string_view, 8> kCounts{"points", "eps",  "minpts", "clusters",
                                                           "noise",  "core", "border", "largest"};
  const std::string& called = slicing.called().name;
  csv.text(std::ranges::find(kCounts, called) == kCounts.end() ? called : "slice_" + called);
  for (const std::string_view name : kCounts) csv.text(name);
  csv.end_row();
  for (std::size_t s = 0; s < slicing.rows().count(); ++s) {
    for (const auto& [variant, slices] : counts) {
      std::visit([&](const auto& values) { csv.value(values[s]); }, slicing.called().values);
      csv.number(slicing.rows().offsets[s + 1] - slicing.rows().offsets[s]);
      csv.number(variant.eps);
      csv.number(variant.minpts);
      const LabelSummary& of = slices[s];
      for (const std::uint64_t count : {of.clusters, of.noise, of.core, of.border, of.largest}) csv.number(count);
      csv.end_row();
    }
  }
  csv.flush();
  out.close();
}

}  // namespace epsflow::cli
