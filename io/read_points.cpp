#include <epsflow/io/read_points.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read/child_reader.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/input_file.hpp>
#include <epsflow/io/read/raw_reader.hpp>
#include <epsflow/io/read/text/text_reader.hpp>

namespace epsflow::io {
namespace {

/// A part of ReadOptions, and whether the caller gave it.
struct OptionUse {
  ReadOption option;
  std::string_view name;
  bool (*is_given)(const ReadOptions& options);
};

constexpr std::array kOptions{
    OptionUse{ReadOption::table, "table", [](const ReadOptions& o) { return !o.table.empty(); }},
    OptionUse{ReadOption::raw, "raw.dims", [](const ReadOptions& o) { return o.raw.dims > 0; }},
    OptionUse{ReadOption::raw, "raw.precision", [](const ReadOptions& o) { return o.raw.precision.has_value(); }},
    OptionUse{ReadOption::external_storage, "external_storage",
              [](const ReadOptions& o) { return o.external_storage; }},
    OptionUse{ReadOption::text, "text.header",
              [](const ReadOptions& o) { return o.text.header != TextLayout::Header::automatic; }},
    OptionUse{ReadOption::text, "text.delimiter", [](const ReadOptions& o) { return o.text.delimiter != '\0'; }},
    OptionUse{ReadOption::text, "text.decimal",
              [](const ReadOptions& o) { return o.text.decimal != TextLayout().decimal; }},
    OptionUse{ReadOption::text, "text.comment",
              [](const ReadOptions& o) { return o.text.comment != TextLayout().comment; }},
    OptionUse{ReadOption::text, "text.skip_rows", [](const ReadOptions& o) { return o.text.skip_rows > 0; }},
};

bool takes(const Format& format, ReadOption option) {
  return std::find(format.takes.begin(), format.takes.end(), option) != format.takes.end();
}

/// Options that say what the file itself says, or that nobody would look at.
void refuse_idle_options(const InputFile& file, const ReadOptions& options) {
  for (const OptionUse& use : kOptions) {
    if (takes(file.format, use.option) || !use.is_given(options)) continue;
    std::vector<std::string_view> names;
    for (const Format* const format : all_formats()) {
      if (takes(*format, use.option)) names.push_back(format->name);
    }
    throw UsageError(fmt::format("{}: ReadOptions::{} is for {} files, but this is read as {}; leave it out",
                                 file.shown, use.name, fmt::join(names, ", "), file.format.name));
  }
}

/// The precision that an extension such as .f32 says.
void set_raw_precision(const InputFile& file, RawLayout& raw) {
  const bool is_single = file.name.extension == ".f32";
  if (!is_single && file.name.extension != ".f64") return;
  const Precision said = is_single ? Precision::float32 : Precision::float64;
  if (raw.precision.value_or(said) != said) {
    throw UsageError(
        fmt::format("{}: the name says float{}, but ReadOptions::raw.precision is another; leave it out, or "
                    "rename the file to .raw",
                    file.shown, bytes_of(said) * 8));
  }
  raw.precision = said;
}

FilePoints read_as(const InputFile& file, const Source& source) {
  const Format& format = file.format;
  if (!format.usable()) {
    throw UsageError(fmt::format("{}: this build reads no {}: build with {}, or write the points as CSV or NPY first",
                                 file.shown, format.name, format.needs));
  }
  const std::span<const char> begin = file.bytes->peek();
  if (!std::string_view(begin.data(), begin.size()).starts_with(format.must_begin)) {
    throw InputError(fmt::format("{}: {}", file.shown, format.otherwise));
  }
  if (format.reader.read != nullptr) return format.reader.read(*file.bytes, source);
  return read_in_child(format, library_file(*file.bytes, source), source);
}

/// Reads one file, while earlier files of the same data set take `taken` bytes of the budget.
FilePoints read_file(const InputFile& file, const ReadOptions& options, std::uint64_t taken) {
  refuse_idle_options(file, options);
  ReadOptions adjusted = options;
  if (&file.format == &raw_format()) {
    set_raw_precision(file, adjusted.raw);
    if (file.name.is_packed && !file.bytes->is_gzip()) {
      throw InputError(file.shown + ": not a gzip file, although its name says so; rename it or fetch it again");
    }
  }
  FilePoints points = read_as(file, {.name = file.shown, .options = adjusted, .memory_taken = taken});
  points.inputs.front().stamp = file.stamp;
  std::string& kind = points.inputs.front().kind;
  if (kind.empty()) kind = file.format.name;
  if (&file.format != (file.name.format != nullptr ? file.name.format : &text_format())) kind += " by its first bytes";
  if (file.bytes->is_gzip()) kind += ", gzipped";
  return points;
}

void require_same_columns(const std::filesystem::path& first_file, const FilePoints& first,
                          const std::filesystem::path& file, const FilePoints& points, const ReadOptions& options) {
  if (points.dims() != first.dims()) {
    throw InputError(
        fmt::format("{} has {} columns, but {} has {}; files read as one data set need the same: choose with "
                    "ReadOptions::columns",
                    file.string(), points.dims(), first_file.string(), first.dims()));
  }
  if (options.columns.empty() && points.column_names != first.column_names) {
    throw InputError(fmt::format("{} and {} name their columns differently; choose them with ReadOptions::columns",
                                 file.string(), first_file.string()));
  }
}

/// Copies `part` behind the first `at` points of `all`, widening float32 where `all` is float64.
void append(const Points& part, Points& all, std::size_t at) {
  part.view().visit([&](auto from) {
    if (all.precision() == Precision::float64) {
      std::copy(from.begin(), from.end(), all.values<double>().data() + at * all.dims());
    } else {
      std::transform(from.begin(), from.end(), all.values<float>().data() + at * all.dims(),
                     [](auto x) { return static_cast<float>(x); });
    }
  });
}

/// The rows of all parts as one data set; each part is freed as soon as it is copied.
FilePoints join(std::vector<FilePoints> parts, const std::string& names, const ReadOptions& options) {
  std::uint64_t n = 0;
  std::vector<InputRows> inputs;
  bool single = true;
  for (FilePoints& part : parts) {
    n += part.size();
    inputs.push_back(std::move(part.inputs.front()));
    single = single && part.precision() == Precision::float32;
  }
  const Source source{.name = names, .options = options};
  FilePoints all = make_points(source, n, parts[0].dims(), single ? Precision::float32 : Precision::float64);
  all.column_names = parts[0].column_names;
  all.column_numbers = parts[0].column_numbers;
  all.inputs = std::move(inputs);
  std::size_t at = 0;
  for (FilePoints& part : parts) {
    append(part, all, at);
    at += part.size();
    part = FilePoints();
  }
  return all;
}

}  // namespace

FilePoints read_points(const std::filesystem::path& file, const ReadOptions& options) {
  return read_file(InputFile(file, options), options, 0);
}

FilePoints read_points(const std::vector<std::filesystem::path>& files, const ReadOptions& options) {
  if (files.empty()) throw UsageError("no files to read; give at least one");
  if (files.size() == 1) return read_points(files[0], options);
  std::vector<FilePoints> parts;
  const Format* format = nullptr;
  std::uint64_t taken = 0;
  for (const std::filesystem::path& path : files) {
    const InputFile file(path, options);
    if (format == nullptr) format = &file.format;
    if (&file.format != format) {
      throw UsageError(fmt::format("{} is {}, but {} is {}; files read as one data set must be of one kind", file.shown,
                                   file.format.name, files[0].string(), format->name));
    }
    parts.push_back(read_file(file, options, taken));
    require_same_columns(files[0], parts[0], path, parts.back(), options);
    taken += parts.back().view().bytes();
  }
  return join(std::move(parts), fmt::format("{} and {} more files", files[0].string(), files.size() - 1), options);
}

}  // namespace epsflow::io
