#include <epsflow/io/read/format.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>

#include <epsflow/io/formats.hpp>
#include <epsflow/io/read/readers.hpp>
#include <epsflow/io/read/text/text_reader.hpp>
#include <epsflow/io/read/utf8.hpp>

namespace epsflow::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNeedsArrow = "EPSFLOW_WITH_PARQUET=ON (libarrow and libparquet)";

/// Returns the first format that passes the test, or null.
template <class Test>
const Format* find_where(Test test) {
  const std::span<const Format> all = all_formats();
  const auto found = std::find_if(all.begin(), all.end(), test);
  return found == all.end() ? nullptr : &*found;
}

/// A kind of file that epsflow does not read.
struct ForeignKind {
  std::string_view name;
  std::string_view remedy;
};

/// Returns the position of the first byte that text cannot contain: a control character, or invalid UTF-8. Scans the
/// first 1024 bytes only. Returns nullopt if there is none.
std::optional<std::size_t> find_binary(std::string_view bytes) noexcept {
  constexpr std::size_t kScanned = 1024;
  constexpr std::size_t kLongest = 4;
  const std::string_view scanned = bytes.substr(0, kScanned);
  for (std::size_t i = 0; i < scanned.size();) {
    const auto byte = static_cast<unsigned char>(scanned[i]);
    const bool is_control = (byte < 0x20 && (byte < '\t' || byte > '\r')) || byte == 0x7F;
    const std::size_t length = utf8_length(bytes.substr(i, kLongest));
    if (is_control || length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

/// Returns the name of the first entry of a ZIP archive; empty if `bytes` do not begin one.
std::string_view first_zip_entry(std::string_view bytes) noexcept {
  constexpr std::size_t kHeader = 30;
  if (!bytes.starts_with("PK\x03\x04"sv) || bytes.size() < kHeader) return {};
  const std::size_t length =
      static_cast<unsigned char>(bytes[26]) + (std::size_t{static_cast<unsigned char>(bytes[27])} << 8);
  return bytes.substr(kHeader, length);
}

std::string_view without_blanks_before(std::string_view text) noexcept {
  if (text.starts_with("\xEF\xBB\xBF"sv)) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

constexpr std::string_view kUnpack = "unpack it first";

/// Recognises binary files of other programs by their first bytes.
std::optional<ForeignKind> foreign_binary(std::string_view bytes) {
  struct Magic {
    std::string_view bytes;
    ForeignKind foreign;
  };
  static constexpr std::array kMagics{
      Magic{"PARE"sv, {"an encrypted Parquet file", "write it without encryption first"}},
      Magic{"FEA1"sv, {"a Feather file of version 1", "write it anew as version 2 first, as pandas does"}},
      Magic{"BZh"sv, {"packed by bzip2", "unpack it with bunzip2 first; gzip is read as it is"}},
      Magic{"\xFD"
            "7zXZ\0"sv,
            {"packed by xz", "unpack it with unxz first; gzip is read as it is"}},
      Magic{"\x28\xB5\x2F\xFD"sv, {"packed by zstd", "unpack it with unzstd first; gzip is read as it is"}},
      Magic{"\x04\x22\x4D\x18"sv, {"packed by lz4", "unpack it with unlz4 first; gzip is read as it is"}},
      Magic{"7z\xBC\xAF\x27\x1C"sv, {"a 7-Zip archive", kUnpack}},
      Magic{"CDF\x01"sv, {"a netCDF-3 file", "convert it with nccopy -k nc4, and name the result .h5"}},
      Magic{"CDF\x02"sv, {"a netCDF-3 file", "convert it with nccopy -k nc4, and name the result .h5"}},
      Magic{"CDF\x05"sv, {"a netCDF-3 file", "convert it with nccopy -k nc4, and name the result .h5"}},
      Magic{"\x0E\x03\x13\x01"sv, {"an HDF4 file", "convert it with h4toh5 first"}},
      Magic{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, {"an Excel file of old", "save its sheet as CSV first"}},
      Magic{"SQLite format 3\0"sv, {"an SQLite database", "write its table as CSV first"}},
      Magic{"MATLAB 5.0 MAT-file"sv, {"a MATLAB file", "write the points with writematrix as CSV first"}},
      Magic{"MATLAB 7.3 MAT-file"sv, {"a MATLAB file", "write the points with writematrix as CSV first"}},
      Magic{"%PDF-"sv, {"a PDF document", "fetch the table itself, not a print of it"}},
  };
  const auto found =
      std::find_if(kMagics.begin(), kMagics.end(), [&](const Magic& magic) { return bytes.starts_with(magic.bytes); });
  if (found != kMagics.end()) return found->foreign;
  if (bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5) {
    return ForeignKind{"a Python pickle", "it could run anything when read; write the points with numpy.save instead"};
  }
  const std::string_view entry = first_zip_entry(bytes);
  if (entry == "[Content_Types].xml") return ForeignKind{"an Excel or Office file", "save its sheet as CSV first"};
  if (entry == "mimetype") return ForeignKind{"an OpenDocument file", "save its sheet as CSV first"};
  if (!entry.empty() || bytes.starts_with("PK\x05\x06"sv))
    return ForeignKind{"a ZIP archive", "unpack it with unzip first"};
  return std::nullopt;
}

std::optional<ForeignKind> foreign_text(std::string_view bytes) {
  const std::string_view text = without_blanks_before(bytes);
  if (text.starts_with("%PDF-"sv)) return foreign_binary(text);
  if (text.size() < 2 || text[0] != '<') return std::nullopt;
  const std::string start = to_lower(text.substr(0, 14));
  if (start.starts_with("<!doctype html") || start.starts_with("<html")) {
    return ForeignKind{"a web page", "it may be an error or a login instead of the file: fetch the file again"};
  }
  const bool is_element = text[1] == '?' || text[1] == '!' || (start[1] >= 'a' && start[1] <= 'z');
  if (text.find("VOTABLE") != std::string_view::npos) {
    return ForeignKind{"a VOTable", "convert it to FITS first, as astropy and topcat can"};
  }
  // A row may begin with <NA>.
  if (!is_element || text.starts_with("<NA>")) return std::nullopt;
  return ForeignKind{"an XML file", "write the points as CSV first"};
}

bool is_utf16(std::string_view bytes) noexcept {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

/// Raw coordinates may happen to begin like a gzip file, so for raw files only the name decides.
Unpack unpack_of(const FileName& name) {
  return name.format == &format_by_name("raw") && !name.is_packed ? Unpack::nothing : Unpack::gzip;
}

}  // namespace

std::span<const Format> all_formats() {
  static const std::array formats{
      Format{.name = "text", .takes = {"text."}, .reader = {.read = read_text}},
      Format{.name = "NPY",
             .extensions = {".npy"},
             .magic = "\x93NUMPY",
             .takes = {"share"},
             .reader = {.read = read_npy}},
      Format{.name = "raw",
             .extensions = {".raw", ".bin", ".f32", ".f64"},
             .takes = {"raw.", "share"},
             .reader = {.read = read_raw}},
      Format{.name = "NPZ",
             .extensions = {".npz"},
             .begins = [](std::string_view bytes) { return first_zip_entry(bytes).ends_with(".npy"); },
             .takes = {"table"},
             .needs = "EPSFLOW_WITH_NPZ=ON (libzip)",
             .reader = npz_reader()},
      Format{.name = "FITS",
             .extensions = {".fits", ".fit", ".fts"},
             .magic = "SIMPLE  =",
             .takes = {"table", "share"},
             .needs = "EPSFLOW_WITH_FITS=ON (cfitsio)",
             .must_begin = "SIMPLE",
             .otherwise = "not a FITS file: it does not begin with SIMPLE; name it by its kind",
             .reader = fits_reader()},
      Format{.name = "HDF5",
             .extensions = {".h5", ".hdf5", ".hdf"},
             .magic = "\x89HDF\r\n\x1a\n",
             .takes = {"table", "particles", "external_storage", "share"},
             .needs = "EPSFLOW_WITH_HDF5=ON (libhdf5)",
             .reader = hdf5_reader()},
      Format{.name = "Parquet",
             .extensions = {".parquet", ".parq", ".pq"},
             // PAR1,PAR2 may be names of columns.
             .begins = [](std::string_view bytes) { return bytes.starts_with("PAR1") && find_binary(bytes); },
             .takes = {"share"},
             .needs = kNeedsArrow,
             .must_begin = "PAR1",
             .otherwise = "not a Parquet file: it does not begin with PAR1; name it by its kind",
             .reader = parquet_reader()},
      Format{.name = "Arrow",
             .extensions = {".arrow", ".feather", ".ipc"},
             .magic = "ARROW1\0\0"sv,
             .takes = {"share"},
             .needs = kNeedsArrow,
             .must_begin = "ARROW1",
             .otherwise = "not an Arrow file: it does not begin with ARROW1; name it by its kind, or write an Arrow "
                          "stream as a file, as pyarrow.ipc.new_file does",
             .reader = arrow_reader()}};
  return formats;
}

const Format& format_by_name(std::string_view name) {
  return *find_where([&](const Format& format) { return format.name == name; });
}

bool Format::takes_option(std::string_view option) const {
  return std::ranges::any_of(takes, [&](std::string_view taken) { return option.starts_with(taken); });
}

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> infos;
  for (const Format& format : all_formats()) {
    const bool has_library = format.reader.version != nullptr;
    infos.push_back({format.name, format.usable(), has_library ? format.reader.version() : std::string(format.needs)});
  }
  return infos;
}

void require_format(std::string_view name) {
  const Format* format = find_where([&](const Format& one) { return one.name == name; });
  if (format == nullptr || format->usable()) return;
  throw UsageError(fmt::format("this build reads and writes no {}: build with {}", format->name, format->needs));
}

FileName parse_name(const std::filesystem::path& file) {
  FileName name{.extension = to_lower(file.extension().string())};
  if (name.extension == ".gz") name = {to_lower(file.stem().extension().string()), true};
  name.format = find_where([&](const Format& format) {
    return std::find(format.extensions.begin(), format.extensions.end(), name.extension) != format.extensions.end();
  });
  return name;
}

const Format& find_format(std::span<const char> first_bytes, const FileName& name, bool raw_is_expected,
                          const std::string& shown) {
  const std::string_view bytes(first_bytes.data(), first_bytes.size());
  const auto has_magic = [&](const Format& format) { return !format.magic.empty() && bytes.starts_with(format.magic); };
  if (const Format* const format = find_where(has_magic)) return *format;
  if (name.format == &format_by_name("raw")) return *name.format;
  const auto begins = [&](const Format& format) { return format.begins != nullptr && format.begins(bytes); };
  if (const Format* const format = find_where(begins)) return *format;
  const std::optional<std::size_t> binary = find_binary(bytes);
  // A magic text such as PARE counts only in a binary file, because it may be the name of a column.
  if (const auto foreign = binary ? foreign_binary(bytes) : foreign_text(bytes)) {
    throw InputError(fmt::format("{}: is {}, which is not read; {}", shown, foreign->name, foreign->remedy));
  }
  if (name.format != nullptr) return *name.format;
  if (!binary || is_utf16(bytes)) return format_by_name("text");
  if (raw_is_expected) return format_by_name("raw");
  throw InputError(
      fmt::format("{}: is no text: byte {} is 0x{:02x}, which UTF-8 text does not have there; name the file "
                  "by its kind, .raw for bare coordinates, or convert text to UTF-8, as iconv does",
                  shown, *binary, static_cast<unsigned char>(bytes[*binary])));
}

std::string stamp_of(const std::filesystem::path& file) {
  struct stat status {};
  if (file == "-" || stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto time_of = [](const timespec& time) { return fmt::format("{}.{:09}", time.tv_sec, time.tv_nsec); };
  return fmt::format("{}:{} {} bytes {} {}", status.st_dev, status.st_ino, status.st_size, time_of(status.st_mtim),
                     time_of(status.st_ctim));
}

InputFile::InputFile(const std::filesystem::path& file, const ReadOptions& options)
    : shown(display_name(file)),
      stamp(stamp_of(file)),
      name(parse_name(file)),
      bytes(open_stream(file, unpack_of(name))),
      format(find_format(bytes->peek(), name, options.raw.dims > 0, shown)) {
  if (bytes->peek().empty()) throw InputError(shown + ": empty: the file has no bytes; points are needed");
}

}  // namespace epsflow::io
