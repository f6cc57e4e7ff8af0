#include <epsflow/io/read_points.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/byte_stream.hpp>
#include <epsflow/io/fits_reader.hpp>
#include <epsflow/io/hdf5_reader.hpp>
#include <epsflow/io/npy_reader.hpp>
#include <epsflow/io/raw_reader.hpp>
#include <epsflow/io/source.hpp>
#include <epsflow/io/text_reader.hpp>

namespace epsflow::io {
namespace {

enum class FileKind : std::uint8_t { text, npy, fits, hdf5, raw };

std::string_view kind_name(FileKind kind) noexcept {
  switch (kind) {
    case FileKind::text:
      return "text";
    case FileKind::npy:
      return "NPY";
    case FileKind::fits:
      return "FITS";
    case FileKind::hdf5:
      return "HDF5";
    case FileKind::raw:
      return "raw";
  }
  return "";
}

std::string lower_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

struct FileName {
  std::string extension;  ///< in lower case, without .gz
  bool is_packed = false;
};

FileName parse_name(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  if (extension != ".gz") return {extension, false};
  return {lower_extension(file.stem()), true};
}

std::optional<FileKind> kind_of_extension(std::string_view extension) {
  const auto one_of = [&](std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), extension) != list.end();
  };
  if (one_of({".npy"})) return FileKind::npy;
  if (one_of({".fits", ".fit", ".fts"})) return FileKind::fits;
  if (one_of({".h5", ".hdf5", ".hdf"})) return FileKind::hdf5;
  if (one_of({".raw", ".bin", ".f32", ".f64"})) return FileKind::raw;
  return std::nullopt;
}

FileKind kind_of_bytes(std::span<const char> bytes) {
  const std::string_view prefix(bytes.data(), bytes.size());
  if (is_npy(bytes)) return FileKind::npy;
  if (prefix.starts_with("SIMPLE  =")) return FileKind::fits;
  if (prefix.starts_with("\x89HDF\r\n\x1a\n")) return FileKind::hdf5;
  return FileKind::text;
}

/// Raw coordinates may happen to begin like a gzip file, so that there only the name counts.
Unpack unpack_of(const FileName& name) {
  return kind_of_extension(name.extension) == FileKind::raw && !name.is_packed ? Unpack::nothing : Unpack::gzip;
}

/// A file whose kind is known and whose presence has been seen to.
struct OpenFile {
  std::filesystem::path path;
  FileName name;
  std::unique_ptr<ByteStream> bytes;
  FileKind kind;

  explicit OpenFile(const std::filesystem::path& file)
      : path(file),
        name(parse_name(file)),
        bytes(open_stream(file, unpack_of(name))),
        // Names such as .txt and .dat say little: the first bytes have the last word on them.
        kind(kind_of_extension(name.extension).value_or(kind_of_bytes(bytes->peek()))) {}
};

Points read_bytes(FileKind kind, std::span<const char> bytes, const Source& source) {
  switch (kind) {
    case FileKind::npy:
      return read_npy(bytes, source);
    case FileKind::raw:
      return read_raw(bytes, source);
    default:
      return read_text(bytes, source);
  }
}

/// Reads one file, while earlier files of the same data set take `taken` bytes of the budget.
Points read_file(OpenFile& file, const ReadOptions& options, std::uint64_t taken) {
  ReadOptions adjusted = options;
  if (file.name.extension == ".f32") adjusted.raw.precision = Precision::float32;
  if (file.name.extension == ".f64") adjusted.raw.precision = Precision::float64;
  const Source source{.name = display_name(file.path), .options = adjusted, .memory_taken = taken};
  const bool has_tables = file.kind == FileKind::fits || file.kind == FileKind::hdf5;
  if (!has_tables && !options.table.empty()) {
    throw UsageError(fmt::format("{}: --table is for FITS and HDF5, but this is a {} file; leave it out", source.name,
                                 kind_name(file.kind)));
  }
  if (file.bytes->peek().empty()) throw InputError(source.name + ": empty: the file has no bytes");
  if (file.kind == FileKind::hdf5) {
    const std::filesystem::path* const plain = file.bytes->regular_file();
    if (plain == nullptr) {
      throw InputError(source.name +
                       ": an HDF5 file is read here and there, which a pipe or gzip cannot do; save it "
                       "as a plain file first, unpacked with gunzip");
    }
    return read_hdf5(*plain, source);
  }
  if (file.kind == FileKind::raw && file.name.is_packed && !file.bytes->is_gzip()) {
    throw InputError(source.name + ": not a gzip file, although its name says so; rename it or fetch it again");
  }
  if (file.kind == FileKind::fits) return read_fits(*file.bytes, source);
  // Readers say more exactly what of a file of known size does not fit.
  const std::uint64_t budget = file.bytes->size() ? std::numeric_limits<std::uint64_t>::max() : memory_left(source);
  const OwnedBytes bytes = read_all(*file.bytes, budget, source.name);
  return read_bytes(file.kind, bytes.span(), source);
}

void require_same_columns(const std::filesystem::path& first_file, const Points& first,
                          const std::filesystem::path& file, const Points& points, const ReadOptions& options) {
  if (points.dims() != first.dims()) {
    throw InputError(
        fmt::format("{} has {} columns, but {} has {}; files read as one data set need the same: choose with "
                    "--columns",
                    file.string(), points.dims(), first_file.string(), first.dims()));
  }
  if (options.columns.empty() && points.column_names != first.column_names) {
    throw InputError(fmt::format("{} and {} name their columns differently; choose them with --columns", file.string(),
                                 first_file.string()));
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
Points join(std::vector<Points> parts, const std::string& names, const ReadOptions& options) {
  std::uint64_t n = 0;
  std::vector<InputRows> inputs;
  bool single = true;
  for (Points& part : parts) {
    n += part.size();
    inputs.push_back(std::move(part.inputs.front()));
    single = single && part.precision() == Precision::float32;
  }
  const Source source{.name = names, .options = options};
  Points all = make_points(source, n, parts[0].dims(), single ? Precision::float32 : Precision::float64);
  all.column_names = parts[0].column_names;
  all.column_numbers = parts[0].column_numbers;
  all.inputs = std::move(inputs);
  std::size_t at = 0;
  for (Points& part : parts) {
    append(part, all, at);
    at += part.size();
    part = Points();
  }
  return all;
}

}  // namespace

Points read_points(const std::filesystem::path& file, const ReadOptions& options) {
  OpenFile opened(file);
  return read_file(opened, options, 0);
}

Points read_points(const std::vector<std::filesystem::path>& files, const ReadOptions& options) {
  if (files.empty()) throw UsageError("no files to read; give at least one");
  if (files.size() == 1) return read_points(files[0], options);
  std::vector<Points> parts;
  std::optional<FileKind> kind;
  std::uint64_t taken = 0;
  for (const std::filesystem::path& path : files) {
    OpenFile file(path);
    if (!kind) kind = file.kind;
    if (file.kind != *kind) {
      throw UsageError(fmt::format("{} is {}, but {} is {}; files read as one data set must be of one kind",
                                   path.string(), kind_name(file.kind), files[0].string(), kind_name(*kind)));
    }
    parts.push_back(read_file(file, options, taken));
    require_same_columns(files[0], parts[0], path, parts.back(), options);
    taken += parts.back().view().bytes();
  }
  return join(std::move(parts), fmt::format("{} and {} more files", files[0].string(), files.size() - 1), options);
}

}  // namespace epsflow::io
