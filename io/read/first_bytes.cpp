#include <epsflow/io/read/first_bytes.hpp>

#include <algorithm>
#include <array>
#include <string>

#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/utf8.hpp>

namespace epsflow::io {
namespace {

using namespace std::string_view_literals;

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

}  // namespace

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

std::string_view first_zip_entry(std::string_view bytes) noexcept {
  constexpr std::size_t kHeader = 30;
  if (!bytes.starts_with("PK\x03\x04"sv) || bytes.size() < kHeader) return {};
  const std::size_t length =
      static_cast<unsigned char>(bytes[26]) + (std::size_t{static_cast<unsigned char>(bytes[27])} << 8);
  return bytes.substr(kHeader, length);
}

std::optional<ForeignKind> find_foreign(std::string_view bytes, std::optional<std::size_t> binary) {
  return binary ? foreign_binary(bytes) : foreign_text(bytes);
}

}  // namespace epsflow::io
