#include <epsflow/io/labelled_copy.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/row_numbers.hpp>
#include <epsflow/io/write/output_table.hpp>

namespace epsflow::io {
namespace {

OutputFormat require_table(OutputFormat format) {
  if (std::ranges::find(kTableFormats, format) == kTableFormats.end()) {
    throw UsageError("the input with labels is written as CSV, FITS, HDF5 or Parquet; choose one of them");
  }
  return require_known(format);
}

/// Returns LabelledCopy::limit().
std::string find_limit(const std::vector<std::filesystem::path>& files, const ReadOptions& options,
                       OutputFormat format) {
  constexpr std::string_view kOtherKind = "all columns are copied from text to CSV and from FITS to FITS only";
  if (format != OutputFormat::csv && format != OutputFormat::fits) return std::string(kOtherKind);
  for (const std::filesystem::path& file : files) {
    std::error_code code;
    const bool is_regular = file != "-" && std::filesystem::is_regular_file(file, code);
    if (!is_regular) return display_name(file) + " can be read only once";
  }
  for (const std::filesystem::path& path : files) {
    const InputFile file(path, options);
    if (file.format.name != (format == OutputFormat::csv ? "text" : "FITS")) return std::string(kOtherKind);
    if (format == OutputFormat::fits && file.bytes->is_gzip()) {
      return file.shown + " is gzipped; unpack it to have all columns copied";
    }
  }
  return {};
}

}  // namespace

LabelledCopy::LabelledCopy(std::vector<std::filesystem::path> files, ReadOptions options, const FilePoints& points,
                           OutputFormat format, AddedColumns added, Metric metric)
    : files_(std::move(files)),
      options_(std::move(options)),
      points_(points),
      format_(require_table(format)),
      added_(added),
      metric_(std::move(metric)),
      limit_(find_limit(files_, options_, format_)) {
  if (points_.inputs.size() != files_.size()) {
    throw UsageError(fmt::format("the points were read from {} files, not from {}; give those that they were read from",
                                 points_.inputs.size(), files_.size()));
  }
  find_names();
  require_free_names();
  constexpr std::uint64_t kDigits = 18;  // of a coordinate or a probability in text
  const bool text = format_ == OutputFormat::csv;
  const std::uint64_t label_bytes = 5 + (!added.probability ? 0 : text ? kDigits : sizeof(double));
  const std::uint64_t value_bytes = text ? kDigits : bytes_of(points_.precision());
  bytes_ = points_.size() * (label_bytes + (limit_.empty() ? 0 : points_.dims() * value_bytes));
  for (std::size_t i = 0; limit_.empty() && i < files_.size(); ++i) {
    std::error_code code;
    const std::uintmax_t size = std::filesystem::file_size(files_[i], code);
    if (!code) bytes_ += size;
  }
}

std::string LabelledCopy::contents() const {
  std::string text = limit_.empty() ? "all columns" : "coordinates";
  for (const std::string& name : names_) text += " " + show_text(name);
  if (added_.core) text += ", core points";
  if (added_.probability) text += ", probabilities";
  if (limit_.empty()) {
    for (const InputRows& input : points_.inputs) text += ", " + input.stamp;
  } else if (points_.renumbered()) {
    Checksum rows;
    for (const InputRows& input : points_.inputs) {
      rows.add(fmt::format("{} {};", input.rows, fmt::join(input.dropped, " ")));
    }
    text += ", rows " + format_checksum(rows.value());
  }
  return text;
}

void LabelledCopy::find_names() {
  if (limit_.empty()) {
    require_unchanged();
    SourceColumns found = table_format(format_).list_columns({files_, options_, points_});
    names_ = std::move(found.names);
    left_out_ = std::move(found.left_out);
    return;
  }
  const bool has_names = points_.column_names.size() == points_.dims();
  for (std::size_t k = 0; k < points_.dims(); ++k) {
    const std::size_t number = k < points_.column_numbers.size() ? points_.column_numbers[k] : k;
    const bool is_named = has_names && !points_.column_names[k].empty();
    names_.push_back(is_named ? points_.column_names[k] : fmt::format("x{}", number));
  }
  constexpr std::size_t kAdded = 3;  // row, label; core or probability
  table_format(format_).check(names_, kAdded, "coordinate");
  if (points_.renumbered()) rows_ = row_numbers(points_);
}

void LabelledCopy::require_free_names() const {
  const bool ignore_case = format_ == OutputFormat::fits;
  std::vector<std::string> added{kLabelColumn};
  if (added_.core) added.emplace_back(kCoreColumn);
  if (added_.probability) added.emplace_back(kProbabilityColumn);
  if (!limit_.empty() && points_.renumbered()) added.emplace_back(kRowColumn);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto is_same = [&](const std::string& other) {
      return ignore_case ? to_lower(names_[i]) == to_lower(other) : names_[i] == other;
    };
    if (std::any_of(added.begin(), added.end(), is_same)) {
      throw InputError(
          fmt::format("{} has a column {} already, beside which none of that name can be written; rename it there",
                      display_name(files_[0]), show_text(names_[i])));
    }
    // A copy of all columns may repeat a name, as the input does.
    if (limit_.empty() || format_ == OutputFormat::csv) continue;
    if (std::any_of(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
      throw InputError(
          fmt::format("{} names two coordinates {}, which no table but one of text can; rename one of them, or choose "
                      ".csv",
                      display_name(files_[0]), show_text(names_[i])));
    }
  }
}

void LabelledCopy::require_unchanged() const {
  for (std::size_t i = 0; limit_.empty() && i < files_.size(); ++i) {
    if (stamp_of(files_[i]) == points_.inputs[i].stamp) continue;
    throw InputError(display_name(files_[i]) + ": has changed since it was read; run again");
  }
}

void LabelledCopy::write(const std::filesystem::path& file, const std::filesystem::path& target,
                         const VariantResult& result, std::span<const double> probabilities) const {
  if (probabilities.size() != (added_.probability ? points_.size() : 0)) {
    throw UsageError("a copy with a column of probabilities needs one for each point, and any other copy none");
  }
  require_unchanged();
  OutputTable table{.origin = {format_ == OutputFormat::fits ? "LABELLED" : "labelled", result, metric_},
                    .rows = points_.size()};
  if (!limit_.empty()) {
    if (points_.renumbered()) table.columns.push_back({kRowColumn, ColumnView<std::int64_t>{rows_.data()}});
    points_.view().visit([&]<class T>(std::span<const T> values) {
      for (std::size_t k = 0; k < names_.size(); ++k) {
        table.columns.push_back({names_[k], ColumnView<T>{values.data() + k, names_.size()}});
      }
    });
  }
  table.columns.push_back({kLabelColumn, ColumnView<std::int32_t>{result.labels.data()}});
  if (added_.core) table.columns.push_back({kCoreColumn, ColumnView<std::uint8_t>{result.core.data()}});
  if (added_.probability) table.columns.push_back({kProbabilityColumn, ColumnView<double>{probabilities.data()}});
  if (!limit_.empty()) return table_format(format_).write(file, target, table);
  table_format(format_).copy(file, target, {files_, options_, points_}, names_, table);
  require_unchanged();
}

void LabelledCopy::write(const std::filesystem::path& target, const VariantResult& result, Overwrite overwrite) const {
  write_atomically(target, overwrite, [&](const std::filesystem::path& file) { write(file, target, result); });
}

}  // namespace epsflow::io
