#include <epsflow/io/read_points.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read/arrow/arrow_reader.hpp>
#include <epsflow/io/read/arrow/parquet_reader.hpp>
#include <epsflow/io/read/fits/fits_reader.hpp>
#include <epsflow/io/read/hdf5/hdf5_reader.hpp>
#include <epsflow/io/read/input_file.hpp>
#include <epsflow/io/read/numpy/npy_reader.hpp>
#include <epsflow/io/read/numpy/npz_reader.hpp>
#include <epsflow/io/read/raw_reader.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_reader.hpp>

namespace epsflow::io {
namespace {

/// Options that say what the file itself says, or that nobody would look at.
void refuse_idle_options(const InputFile& file, const ReadOptions& options) {
  const auto refuse = [&](bool is_given, std::string_view option, std::string_view kinds) {
    if (!is_given) return;
    throw UsageError(fmt::format("{}: {} is for {}, but this is read as {}; leave it out", file.shown, option, kinds,
                                 kind_name(file.kind)));
  };
  const bool is_text = file.kind == FileKind::text;
  const bool is_raw = file.kind == FileKind::raw;
  const bool has_tables = file.kind == FileKind::fits || file.kind == FileKind::hdf5 || file.kind == FileKind::npz;
  const TextLayout& text = options.text;
  refuse(!has_tables && !options.table.empty(), "ReadOptions::table", "FITS, HDF5 and NPZ");
  refuse(!is_raw && options.raw.dims > 0, "ReadOptions::raw.dims", "raw files");
  refuse(!is_raw && options.raw.precision.has_value(), "ReadOptions::raw.precision", "raw files");
  refuse(file.kind != FileKind::hdf5 && options.external_storage, "ReadOptions::external_storage", "HDF5");
  refuse(!is_text && text.header != TextLayout::Header::automatic, "ReadOptions::text.header", "text");
  refuse(!is_text && text.delimiter != '\0', "ReadOptions::text.delimiter", "text");
  refuse(!is_text && text.decimal != TextLayout().decimal, "ReadOptions::text.decimal", "text");
  refuse(!is_text && text.comment != TextLayout().comment, "ReadOptions::text.comment", "text");
  refuse(!is_text && text.skip_rows > 0, "ReadOptions::text.skip_rows", "text");
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

FilePoints read_kind(const InputFile& file, const Source& source) {
  if (file.kind == FileKind::text) return read_text(*file.bytes, source);
  if (file.kind == FileKind::npz) return read_npz(*file.bytes, source);
  if (file.kind == FileKind::hdf5) return read_hdf5(*file.bytes, source);
  if (file.kind == FileKind::fits) return read_fits(*file.bytes, source);
  if (file.kind == FileKind::parquet) return read_parquet(*file.bytes, source);
  if (file.kind == FileKind::arrow) return read_arrow(*file.bytes, source);
  if (file.kind == FileKind::npy) return read_npy(*file.bytes, source);
  if (file.name.is_packed && !file.bytes->is_gzip()) {
    throw InputError(source.name + ": not a gzip file, although its name says so; rename it or fetch it again");
  }
  return read_raw(*file.bytes, source);
}

/// Reads one file, while earlier files of the same data set take `taken` bytes of the budget.
FilePoints read_file(const InputFile& file, const ReadOptions& options, std::uint64_t taken) {
  refuse_idle_options(file, options);
  ReadOptions adjusted = options;
  if (file.kind == FileKind::raw) set_raw_precision(file, adjusted.raw);
  const Source source{.name = file.shown, .options = adjusted, .memory_taken = taken};
  FilePoints points = read_kind(file, source);
  points.inputs.front().stamp = file.stamp;
  std::string& kind = points.inputs.front().kind;
  if (kind.empty()) kind = kind_name(file.kind);
  if (file.kind != file.name.kind.value_or(FileKind::text)) kind += " by its first bytes";
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
void append(const FilePoints& part, FilePoints& all, std::size_t at) {
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
  std::optional<FileKind> kind;
  std::uint64_t taken = 0;
  for (const std::filesystem::path& path : files) {
    const InputFile file(path, options);
    if (!kind) kind = file.kind;
    if (file.kind != *kind) {
      throw UsageError(fmt::format("{} is {}, but {} is {}; files read as one data set must be of one kind", file.shown,
                                   kind_name(file.kind), files[0].string(), kind_name(*kind)));
    }
    parts.push_back(read_file(file, options, taken));
    require_same_columns(files[0], parts[0], path, parts.back(), options);
    taken += parts.back().view().bytes();
  }
  return join(std::move(parts), fmt::format("{} and {} more files", files[0].string(), files.size() - 1), options);
}

}  // namespace epsflow::io
