#include <epsflow/io/labelled_copy.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/checksum.hpp>
#include <epsflow/io/read/fits/fits_format.hpp>
#include <epsflow/io/read/input_file.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_reader.hpp>
#include <epsflow/io/write/arrow/parquet_writer.hpp>
#include <epsflow/io/write/labelled_csv.hpp>
#include <epsflow/io/write/labelled_fits.hpp>
#include <epsflow/io/write/labelled_geojson.hpp>
#include <epsflow/io/write/labelled_hdf5.hpp>
#include <epsflow/io/write/labelled_vtp.hpp>

namespace epsflow::io {
namespace {

OutputFormat require_labelled(OutputFormat format) {
  if (std::find(kLabelledFormats.begin(), kLabelledFormats.end(), format) == kLabelledFormats.end()) {
    throw UsageError(
        "the input with labels is written as CSV, FITS, HDF5, Parquet, GeoJSON or VTP; choose one of them");
  }
  return require_known(format);
}

/// As LabelledCopy::limit() says it.
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
    if (&file.format != &(format == OutputFormat::csv ? text_format() : fits_format())) return std::string(kOtherKind);
    if (&file.format == &fits_format() && file.bytes->is_gzip()) {
      return file.shown + " is gzipped; unpack it to have all columns copied";
    }
  }
  return {};
}

/// About how many bytes a row of coordinates takes in a format.
std::uint64_t row_bytes(OutputFormat format, const Points& points) {
  constexpr std::uint64_t kDigits = 18;       // of a coordinate in text
  constexpr std::uint64_t kFeatureText = 90;  // in GeoJSON, besides coordinates and label
  constexpr std::uint64_t kVertex = 16;
  const std::uint64_t value = bytes_of(points.precision());
  if (format == OutputFormat::csv) return points.dims() * kDigits;
  if (format == OutputFormat::geojson) return points.dims() * kDigits + kFeatureText;
  return format == OutputFormat::vtp ? 3 * value + kVertex : points.dims() * value;
}

bool same_name(std::string_view a, std::string_view b, bool ignore_case) noexcept {
  const auto folded = [&](char c) {
    return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return folded(x) == folded(y); });
}

}  // namespace

LabelledCopy::LabelledCopy(std::vector<std::filesystem::path> files, ReadOptions options, const FilePoints& points,
                           OutputFormat format, bool core, Metric metric)
    : files_(std::move(files)),
      options_(std::move(options)),
      points_(points),
      format_(require_labelled(format)),
      core_(core),
      metric_(std::move(metric)),
      limit_(find_limit(files_, options_, format_)) {
  if (points_.inputs.size() != files_.size()) {
    throw UsageError(fmt::format("the points were read from {} files, not from {}; give those that they were read from",
                                 points_.inputs.size(), files_.size()));
  }
  find_names();
  require_free_names();
  constexpr std::uint64_t kLabelBytes = 5;
  bytes_ = points_.size() * (kLabelBytes + (limit_.empty() ? 0 : row_bytes(format_, points_)));
  for (std::size_t i = 0; limit_.empty() && i < files_.size(); ++i) {
    std::error_code code;
    const std::uintmax_t size = std::filesystem::file_size(files_[i], code);
    if (!code) bytes_ += size;
  }
}

std::string LabelledCopy::contents() const {
  std::string text = limit_.empty() ? "all columns" : "coordinates";
  // Formats without columns still take longitude and latitude by their names.
  for (const std::string& name : names_.empty() ? points_.column_names : names_) text += " " + show_text(name);
  if (core_) text += ", core points";
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
    const bool text = format_ == OutputFormat::csv;
    names_ = text ? text_column_names(files_, options_, points_) : fits_column_names(files_, options_, points_);
    left_out_ = text ? text_left_out(files_, options_, points_) : fits_left_out(files_, options_, points_);
    return;
  }
  // These have no columns.
  if (format_ == OutputFormat::geojson) return require_geojson_points(points_, metric_);
  if (format_ == OutputFormat::vtp) return require_vtp_points(points_);
  const bool has_names = points_.column_names.size() == points_.dims();
  for (std::size_t k = 0; k < points_.dims(); ++k) {
    const std::size_t number = k < points_.column_numbers.size() ? points_.column_numbers[k] : k;
    const bool is_named = has_names && !points_.column_names[k].empty();
    names_.push_back(is_named ? points_.column_names[k] : fmt::format("x{}", number));
  }
  if (format_ == OutputFormat::fits) require_fits_names(names_);
  if (format_ == OutputFormat::hdf5) require_hdf5_names(names_);
  if (format_ == OutputFormat::parquet) require_parquet_names(names_);
}

void LabelledCopy::require_free_names() const {
  const bool ignore_case = format_ == OutputFormat::fits;
  std::vector<std::string> added{kLabelColumn};
  if (core_) added.emplace_back(kCoreColumn);
  if (!limit_.empty() && points_.renumbered()) added.emplace_back(kRowColumn);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto is_same = [&](const std::string& other) { return same_name(names_[i], other, ignore_case); };
    if (std::any_of(added.begin(), added.end(), is_same)) {
      throw InputError(
          fmt::format("{} has a column {} already, beside which none of that name can be written; rename it there",
                      display_name(files_[0]), show_text(names_[i])));
    }
    // What is copied may have the same name twice, as it had before.
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
                         const VariantResult& result) const {
  const LabelledRows rows{.points = points_, .result = result, .metric = metric_, .core = core_};
  require_unchanged();
  if (format_ == OutputFormat::hdf5) {
    write_hdf5_coordinates(file, target, names_, rows);
  } else if (format_ == OutputFormat::parquet) {
    write_parquet_coordinates(file, target, names_, rows);
  } else if (format_ == OutputFormat::geojson) {
    write_geojson(file, target, rows);
  } else if (format_ == OutputFormat::vtp) {
    write_vtp(file, target, rows);
  } else if (format_ == OutputFormat::fits) {
    if (limit_.empty()) {
      write_fits_copy(file, target, files_, options_, rows);
    } else {
      write_fits_coordinates(file, target, names_, rows);
    }
  } else if (limit_.empty()) {
    write_csv_copy(file, target, files_, options_, names_, rows);
  } else {
    write_csv_coordinates(file, target, names_, rows);
  }
  require_unchanged();
}

void LabelledCopy::write(const std::filesystem::path& target, const VariantResult& result, Overwrite overwrite) const {
  write_atomically(target, overwrite, [&](const std::filesystem::path& file) { write(file, target, result); });
}

}  // namespace epsflow::io
