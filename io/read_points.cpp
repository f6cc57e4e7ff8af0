#include <epsflow/io/read_points.hpp>

#include <algorithm>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/child_reader.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/row_numbers.hpp>

namespace epsflow {

namespace {

using io::ReadOptions;

constexpr std::array kReadOptions{
    Option<ReadOptions>{{.library = "ReadOptions::columns",
                         .program = "columns",
                         .placeholder = "A,B",
                         .standard = "all",
                         .meaning =
                             "columns to use as coordinates: names, numbers from 0, ranges as 0-2, -1 for the last, "
                             "elements of vector columns as pos[0], HDF5 data sets as /lon,/lat; a name with a "
                             "comma goes in double quotes"}},
    option<ReadOptions>(
        {.library = "ReadOptions::weight",
         .program = "weight",
         .placeholder = "COLUMN",
         .standard = "every point counts 1",
         .meaning =
             "column of the weights of the points: a point is core where the weights of the points within eps, its "
             "own included, sum to minpts; it is no coordinate unless ReadOptions::columns names it"},
        [](auto& options) -> auto& { return options.weight; }),
    option<ReadOptions>(
        {.library = "ReadOptions::table",
         .program = "table",
         .placeholder = "NAME",
         .standard = "the first of FITS, the only one of the others",
         .meaning = "FITS: extension number or name; HDF5, NPZ: name of the data set or array"},
        [](auto& options) -> auto& { return options.table; }),
    option<ReadOptions>(
        {.library = "ReadOptions::particles",
         .program = "particles",
         .meaning = "HDF5: which particles of a snapshot of SWIFT, Gadget-4 or Arepo to read"},
        [](auto& options) -> auto& { return options.particles; }),
    option<ReadOptions>(
        {.library = "ReadOptions::on_nan",
         .program = "on-nan",
         .meaning = "what to do with rows that hold NaN, infinity or nothing in a used column"},
        [](auto& options) -> auto& { return options.on_nan; }),
    option<ReadOptions>(
        {.library = "ReadOptions::text.header",
         .program = "header",
         .meaning = "text: whether the first row names the columns; auto: when it holds text and no number"},
        [](auto& options) -> auto& { return options.text.header; }),
    option<ReadOptions>(
        {.library = "ReadOptions::text.delimiter",
         .program = "delimiter",
         .placeholder = "C|tab|blanks",
         .standard = "found out from the first rows",
         .meaning = "text: what parts the fields"},
        [](auto& options) -> auto& { return options.text.delimiter; }),
    option<ReadOptions>(
        {.library = "ReadOptions::text.decimal",
         .program = "decimal",
         .placeholder = "C",
         .meaning = "text: what parts whole numbers from fractions"},
        [](auto& options) -> auto& { return options.text.decimal; }),
    option<ReadOptions>(
        {.library = "ReadOptions::text.comment",
         .program = "comment",
         .placeholder = "TEXT",
         .may_be_empty = true,
         .meaning = "text: lines that begin with this are skipped; '': none are"},
        [](auto& options) -> auto& { return options.text.comment; }),
    option<ReadOptions>(
        {.library = "ReadOptions::text.skip_rows",
         .program = "skip-rows",
         .placeholder = "N",
         .meaning = "text: lines to skip before anything else"},
        [](auto& options) -> auto& { return options.text.skip_rows; }),
    option<ReadOptions>(
        {.library = "ReadOptions::raw.dims",
         .program = "dims",
         .placeholder = "D",
         .least = 1,
         .most = kMaxDims,
         .meaning = "raw files: coordinates per point"},
        [](auto& options) -> auto& { return options.raw.dims; }),
    option<ReadOptions>(
        {.library = "ReadOptions::raw.precision",
         .program = "precision",
         .standard = "what .f32 or .f64 says, else float64",
         .meaning = "raw files: type of a coordinate"},
        [](auto& options) -> auto& { return options.raw.precision; }),
    option<ReadOptions>(
        {.library = "ReadOptions::external_storage",
         .program = "external",
         .meaning = "HDF5: read data sets that keep their values in other files as well"},
        [](auto& options) -> auto& { return options.external_storage; })};

}  // namespace

template <>
std::span<const Option<io::ReadOptions>> options_of<io::ReadOptions>() noexcept {
  return kReadOptions;
}

}  // namespace epsflow

namespace epsflow::io {
namespace {

/// Throws UsageError for options that do not apply to the format of the file.
void refuse_idle_options(const InputFile& file, const ReadOptions& options) {
  constexpr std::string_view kOwner = "ReadOptions::";
  for (const Option<ReadOptions>& option : options_of<ReadOptions>()) {
    const std::string_view name = option.library.substr(kOwner.size());
    std::vector<std::string_view> names;
    for (const Format& format : all_formats()) {
      if (format.takes_option(name)) names.push_back(format.name);
    }
    const bool is_for_all = names.empty();
    if (is_for_all || file.format.takes_option(name) || option.get(options) == default_of(option)) continue;
    throw UsageError(fmt::format("{}: {} is for {} files, but this is read as {}; leave it out", file.shown,
                                 option.library, fmt::join(names, ", "), file.format.name));
  }
}

/// Throws UsageError if the share is invalid, or if every process would have to read all rows of the format.
void check_share(const InputFile& file, const RowShare& share) {
  if (share.index >= share.count) {
    throw UsageError(fmt::format("share {} of {} cannot be; shares count from 0", share.index, share.count));
  }
  if (share.count == 1 || file.format.takes_option("share")) return;
  throw UsageError(fmt::format(
      "{}: several processes do not share a {} file: write it as NPY, HDF5 or Parquet, or as one file for each process",
      file.shown, file.format.name));
}

/// Sets the precision that the extension .f32 or .f64 states. Throws UsageError if the options state another.
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
  PointsBuilder points(source);
  read_in_child(format, library_file(*file.bytes, source), source, points);
  return points.take();
}

/// Reads one file. Earlier files of the same data set take `taken` bytes of the budget.
FilePoints read_file(const InputFile& file, const ReadOptions& options, std::uint64_t taken) {
  refuse_idle_options(file, options);
  check_share(file, options.share);
  ReadOptions adjusted = options;
  if (&file.format == &format_by_name("raw")) {
    set_raw_precision(file, adjusted.raw);
    if (file.name.is_packed && !file.bytes->is_gzip()) {
      throw InputError(file.shown + ": not a gzip file, although its name says so; rename it or fetch it again");
    }
  }
  FilePoints points = read_as(file, {.name = file.shown, .options = adjusted, .memory_taken = taken});
  points.inputs.front().stamp = file.stamp;
  std::string& kind = points.inputs.front().kind;
  if (kind.empty()) kind = file.format.name;
  if (&file.format != (file.name.format != nullptr ? file.name.format : &format_by_name("text")))
    kind += " by its first bytes";
  if (file.bytes->is_gzip()) kind += ", gzipped";
  return points;
}

void require_same_kind(const std::filesystem::path& first_file, const FilePoints& first,
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
  if (points.box != first.box) {
    throw InputError(fmt::format("{} and {} are snapshots of different boxes; read them one by one", file.string(),
                                 first_file.string()));
  }
}

/// Joins the rows of all parts to one data set; each part is freed as soon as it is copied.
FilePoints join(std::vector<FilePoints> parts, const std::string& names, const ReadOptions& options) {
  std::uint64_t n = 0;
  std::vector<InputRows> inputs;
  bool single = true;
  for (FilePoints& part : parts) {
    n += part.size();
    inputs.push_back(std::move(part.inputs.front()));
    single = single && part.precision() == Precision::float32;
  }
  const std::size_t dims = parts[0].dims();
  const Precision precision = single ? Precision::float32 : Precision::float64;
  const bool weighted = !options.weight.empty();
  require_points_fit({.name = names, .options = options}, n, dims + (weighted ? 1 : 0),
                     dims * bytes_of(precision) + (weighted ? sizeof(double) : 0));
  FilePoints all(narrow<std::size_t>(n), dims, precision);
  static_cast<PointsOrigin&>(all) = parts[0];
  all.has_masses = std::ranges::all_of(parts, &FilePoints::has_masses);
  all.inputs = std::move(inputs);
  all.weights.reserve(weighted ? all.size() : 0);
  std::size_t at = 0;
  for (FilePoints& part : parts) {
    part.view().visit([&](auto from) {
      with_type(precision, [&]<class T>(T /*zero*/) {
        T* const to = all.values<T>().data() + at * dims;
        std::transform(from.begin(), from.end(), to, [](auto x) { return static_cast<T>(x); });
      });
    });
    all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
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
    require_same_kind(files[0], parts[0], path, parts.back(), options);
    taken += parts.back().view().bytes() + parts.back().weights.size() * sizeof(double);
  }
  return join(std::move(parts), fmt::format("{} and {} more files", files[0].string(), files.size() - 1), options);
}

ColumnsBeside read_columns(const std::vector<std::filesystem::path>& files, const ReadOptions& options,
                           const std::vector<std::string>& columns, const FilePoints& points) {
  ColumnsBeside beside;
  if (columns.empty()) return beside;
  for (const InputRows& input : points.inputs) {
    if (!input.stamp.empty()) continue;
    throw UsageError(
        fmt::format("{}: columns beside the coordinates are read in a second pass, and a pipe gives its bytes once: "
                    "write them to a file",
                    input.name));
  }
  ReadOptions second = options;
  second.columns = columns;
  second.weight.clear();
  second.choose = {};
  second.on_nan = NanPolicy::keep;
  FilePoints read = read_points(files, second);
  if (read.dims() != columns.size()) {
    throw UsageError(
        fmt::format("{} of the input were named as columns beside the coordinates, by {}: name each by itself",
                    format_count(read.dims(), "column"), format_count(columns.size(), "entry")));
  }
  for (std::size_t f = 0; f < points.inputs.size(); ++f) {
    const InputRows& input = points.inputs[f];
    if (read.inputs.size() != points.inputs.size() || read.inputs[f].stamp != input.stamp ||
        read.inputs[f].rows != input.rows) {
      throw InputError(input.name + ": has changed since it was read; run again");
    }
  }
  beside.values.resize(columns.size());
  for (std::vector<double>& column : beside.values) column.reserve(points.size());
  RowWalker walker(points.inputs);
  for (std::size_t row = 0; row < read.size(); ++row) {
    if (walker.next() == RowWalker::kDropped) continue;
    for (std::size_t k = 0; k < columns.size(); ++k) beside.values[k].push_back(read.view().at(row, k));
  }
  beside.numbers = read.column_numbers;
  return beside;
}

}  // namespace epsflow::io
