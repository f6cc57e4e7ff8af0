#include <epsflow/io/read/file_kind.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/read/utf8.hpp>

namespace epsflow::io {
namespace {

using namespace std::string_view_literals;

std::string to_lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::optional<FileKind> kind_of_extension(std::string_view extension) {
  const auto one_of = [&](std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), extension) != list.end();
  };
  if (one_of({".npy"})) return FileKind::npy;
  if (one_of({".npz"})) return FileKind::npz;
  if (one_of({".fits", ".fit", ".fts"})) return FileKind::fits;
  if (one_of({".h5", ".hdf5", ".hdf"})) return FileKind::hdf5;
  if (one_of({".parquet", ".parq", ".pq"})) return FileKind::parquet;
  if (one_of({".arrow", ".feather", ".ipc"})) return FileKind::arrow;
  if (one_of({".raw", ".bin", ".f32", ".f64"})) return FileKind::raw;
  return std::nullopt;
}

/// Kinds whose first bytes are long enough to be no accident, not even in a raw file.
std::optional<FileKind> kind_of_bytes(std::string_view bytes) noexcept {
  if (bytes.starts_with("\x93NUMPY"sv)) return FileKind::npy;
  if (bytes.starts_with("SIMPLE  ="sv)) return FileKind::fits;
  if (bytes.starts_with("\x89HDF\r\n\x1a\n"sv)) return FileKind::hdf5;
  if (bytes.starts_with("ARROW1\0\0"sv)) return FileKind::arrow;
  return std::nullopt;
}

/// What an archive's first entry is called; empty where `bytes` begin no ZIP archive.
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

/// Where the first byte is that no text has: a control character, or no UTF-8.
std::optional<std::size_t> find_binary(std::string_view bytes) noexcept {
  constexpr std::size_t kLooked = 1024;
  constexpr std::size_t kLongest = 4;
  const std::string_view looked = bytes.substr(0, kLooked);
  for (std::size_t i = 0; i < looked.size();) {
    const auto byte = static_cast<unsigned char>(looked[i]);
    const bool is_control = (byte < 0x20 && (byte < '\t' || byte > '\r')) || byte == 0x7F;
    const std::size_t length = utf8_length(bytes.substr(i, kLongest));
    if (is_control || length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

struct Foreign {
  std::string_view name;
  std::string_view remedy;
};

constexpr std::string_view kUnpack = "unpack it first";

/// Files whose first bytes could begin a text as well, were it not for what follows.
std::optional<Foreign> foreign_binary(std::string_view bytes) {
  struct Magic {
    std::string_view bytes;
    Foreign foreign;
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
    return Foreign{"a Python pickle", "it could run anything when read; write the points with numpy.save instead"};
  }
  const std::string_view entry = first_zip_entry(bytes);
  if (entry == "[Content_Types].xml") return Foreign{"an Excel or Office file", "save its sheet as CSV first"};
  if (entry == "mimetype") return Foreign{"an OpenDocument file", "save its sheet as CSV first"};
  if (!entry.empty() || bytes.starts_with("PK\x05\x06"sv))
    return Foreign{"a ZIP archive", "unpack it with unzip first"};
  return std::nullopt;
}

std::optional<Foreign> foreign_text(std::string_view bytes) {
  const std::string_view text = without_blanks_before(bytes);
  if (text.starts_with("%PDF-"sv)) return foreign_binary(text);
  if (text.size() < 2 || text[0] != '<') return std::nullopt;
  const std::string start = to_lower(std::string(text.substr(0, 14)));
  if (start.starts_with("<!doctype html") || start.starts_with("<html")) {
    return Foreign{"a web page", "it may be an error or a login instead of the file: fetch the file again"};
  }
  const bool is_element =
      text[1] == '?' || text[1] == '!' || (to_lower({text[1]}) >= "a" && to_lower({text[1]}) <= "z");
  if (text.find("VOTABLE") != std::string_view::npos) {
    return Foreign{"a VOTable", "convert it to FITS first, as astropy and topcat can"};
  }
  // A row may begin with <NA>.
  if (!is_element || text.starts_with("<NA>")) return std::nullopt;
  return Foreign{"an XML file", "write the points as CSV first"};
}

[[noreturn]] void throw_foreign(const Foreign& foreign, const std::string& shown) {
  throw InputError(fmt::format("{}: is {}, which is not read; {}", shown, foreign.name, foreign.remedy));
}

bool is_utf16(std::string_view bytes) noexcept {
  return bytes.starts_with("\xFF\xFE"sv) || bytes.starts_with("\xFE\xFF"sv);
}

}  // namespace

std::string_view kind_name(FileKind kind) noexcept {
  constexpr std::array kNames{"text"sv, "NPY"sv, "NPZ"sv, "FITS"sv, "HDF5"sv, "Parquet"sv, "Arrow"sv, "raw"sv};
  return kNames[static_cast<std::size_t>(kind)];
}

FileName parse_name(const std::filesystem::path& file) {
  FileName name{.extension = to_lower(file.extension().string()), .is_packed = false, .kind = {}};
  if (name.extension == ".gz") name = {to_lower(file.stem().extension().string()), true, {}};
  name.kind = kind_of_extension(name.extension);
  return name;
}

FileKind find_kind(std::span<const char> first_bytes, const FileName& name, bool raw_is_expected,
                   const std::string& shown) {
  const std::string_view bytes(first_bytes.data(), first_bytes.size());
  if (const auto kind = kind_of_bytes(bytes)) return *kind;
  // Shorter marks than these may be the first coordinates of a raw file.
  if (name.kind == FileKind::raw) return FileKind::raw;
  if (first_zip_entry(bytes).ends_with(".npy")) return FileKind::npz;
  // What begins another file may stand in a text as well: PAR1,PAR2 as names of columns.
  const std::optional<std::size_t> binary = find_binary(bytes);
  if (binary && bytes.starts_with("PAR1"sv)) return FileKind::parquet;
  if (const auto foreign = binary ? foreign_binary(bytes) : foreign_text(bytes)) throw_foreign(*foreign, shown);
  if (name.kind) return *name.kind;
  if (!binary || is_utf16(bytes)) return FileKind::text;
  if (raw_is_expected) return FileKind::raw;
  throw InputError(
      fmt::format("{}: is no text: byte {} is 0x{:02x}, which UTF-8 text does not have there; name the file "
                  "by its kind, .raw for bare coordinates, or convert text to UTF-8, as iconv does",
                  shown, *binary, static_cast<unsigned char>(bytes[*binary])));
}

}  // namespace epsflow::io
