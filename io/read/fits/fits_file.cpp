#include <epsflow/io/read/fits/fits_file.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

#include <epsflow/core/checked.hpp>

namespace epsflow::io {
namespace {

constexpr std::size_t kCard = 80;

/// Throws InputError for a block of a header that names a column without quotes: cfitsio would copy 70 such characters
/// past the end of its buffer. Returns true if it is the header's last block.
bool require_quoted_names(std::string_view block, const Source& source) {
  for (; block.size() >= kCard; block.remove_prefix(kCard)) {
    const std::string_view card = block.substr(0, kCard);
    if (card.starts_with("END     ")) return true;
    if (!card.starts_with("TTYPE")) continue;
    const std::size_t value = card.find_first_not_of(' ', std::min(card.find('='), kCard - 1) + 1);
    if (value == std::string_view::npos || card[value] == '\'') continue;
    throw source.error("the name of a column stands without quotes in {}; the file may be damaged, fetch it again",
                       show_text(card));
  }
  return false;
}

/// The position of the open table in its file, according to the header.
struct TableExtent {
  LONGLONG begin = 0;
  LONGLONG end = 0;  ///< end of its last block
  LONGLONG row_bytes = 0;
  LONGLONG rows = 0;
};

TableExtent extent_of_table(fitsfile* file, const Source& source) {
  TableExtent table;
  int status = 0;
  fits_get_hduaddrll(file, nullptr, &table.begin, &table.end, &status);
  fits_read_key(file, TLONGLONG, "NAXIS1", &table.row_bytes, nullptr, &status);
  fits_read_key(file, TLONGLONG, "NAXIS2", &table.rows, nullptr, &status);
  check_fits(status, source, "reading the size of the table");
  return table;
}

}  // namespace

std::mutex& fits_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string describe_fits(int status) {
  std::array<char, FLEN_STATUS> text{};
  fits_get_errstatus(status, text.data());
  std::string reason = text.data();
  std::array<char, FLEN_ERRMSG> message{};
  if (fits_read_errmsg(message.data()) != 0) reason += fmt::format(" ({})", message.data());
  fits_clear_errmsg();
  return fmt::format("{} [cfitsio {}]", reason, status);
}

void check_fits(int status, const Source& source, std::string_view doing) {
  if (status == 0) return;
  throw source.error("{} failed: {}; the file may be truncated or damaged, fetch it again", doing,
                     describe_fits(status));
}

std::optional<std::string> read_fits_text(fitsfile* file, const std::string& keyword) {
  const FitsMessageMark mark;
  std::array<char, FLEN_VALUE> text{};
  int status = 0;
  fits_read_key(file, TSTRING, keyword.c_str(), text.data(), nullptr, &status);
  return status == 0 ? std::optional<std::string>(text.data()) : std::nullopt;
}

FitsFile::FitsFile(const LibraryFile& file, const Source& source)
    : source_(source), size_(file.size), stream_(file.path, std::ios::binary) {
  fitsfile* opened = nullptr;
  int status = 0;
  // fits_open_file() would read brackets in a name as filters. An absolute path does not begin with "~".
  fits_open_diskfile(&opened, std::filesystem::absolute(file.path).c_str(), READONLY, &status);
  file_.reset(opened);
  check_fits(status, source, "opening the FITS file");
  visit_extensions();
}

std::optional<std::string_view> FitsFile::read_block(std::uint64_t at) {
  if (at > size_ || size_ - at < kFitsBlock) return std::nullopt;
  block_.resize(kFitsBlock);
  if (!stream_.seekg(narrow<std::streamoff>(at)).read(block_.data(), kFitsBlock)) return std::nullopt;
  return block_;
}

void FitsFile::visit_extensions() {
  for (int status = 0; status == 0;) {
    LONGLONG header = 0;
    LONGLONG data = 0;
    LONGLONG next = 0;
    check_fits(fits_get_hduaddrll(file_.get(), &header, &data, &next, &status), source_, "finding the next extension");
    if (next < 0) throw source_.error("damaged: an extension ends before it begins; fetch the file again");
    for (auto at = narrow<std::uint64_t>(next); const auto block = read_block(at); at += kFitsBlock) {
      if (require_quoted_names(*block, source_)) break;
    }
    fits_movrel_hdu(file_.get(), 1, nullptr, &status);
  }
}

void FitsFile::require_end_of_table() {
  int status = 0;
  LONGLONG heap = 0;
  fits_read_key(file_.get(), TLONGLONG, "PCOUNT", &heap, nullptr, &status);
  check_fits(status, source_, "reading the size of the table");
  const TableExtent table = extent_of_table(file_.get(), source_);
  const auto end = narrow<std::uint64_t>(table.begin + table.row_bytes * table.rows + heap);
  stream_.clear();
  for (std::uint64_t at = end / kFitsBlock * kFitsBlock; const auto block = read_block(at); at += kFitsBlock) {
    const std::string_view rest = block->substr(end > at ? end - at : 0);
    if (rest.starts_with("XTENSION")) return;
    // Zeros or blanks pad the last block of a table; on tapes, whole blocks.
    if (rest.find_first_not_of('\0') == std::string_view::npos) continue;
    if (rest.find_first_not_of(' ') == std::string_view::npos) continue;
    throw source_.error(
        "damaged: by its header the table ends at byte {}, but what follows is no extension; fetch the file again",
        end);
  }
}

std::vector<FitsTableEntry> list_tables(fitsfile* file, const Source& source) {
  std::vector<FitsTableEntry> tables;
  int status = 0;
  int count = 0;
  check_fits(fits_get_num_hdus(file, &count, &status), source, "counting the extensions");
  for (int hdu = 1; hdu <= count; ++hdu) {
    int type = 0;
    check_fits(fits_movabs_hdu(file, hdu, &type, &status), source, fmt::format("opening extension {}", hdu - 1));
    if (type != BINARY_TBL && type != ASCII_TBL) continue;
    // Tables without a name are valid.
    tables.push_back({hdu - 1, read_fits_text(file, "EXTNAME").value_or("")});
  }
  if (tables.empty()) throw source.error("the FITS file has no table; points are read from tables only");
  return tables;
}

std::string describe(const FitsTableEntry& table) {
  if (table.name.empty()) return std::to_string(table.extension);
  return fmt::format("{} ({})", table.extension, show_name(table.name));
}

const FitsTableEntry& select_table(std::span<const FitsTableEntry> tables, const Source& source) {
  const std::string& wanted = source.options.table;
  const std::optional<int> number = number_in<int>(wanted);
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const FitsTableEntry& table) {
    return wanted.empty() || table.extension == number || to_lower(table.name) == to_lower(wanted);
  });
  if (found == tables.end()) {
    throw source.error("there is no table {}; ReadOptions::table may choose from: {}", show_text(wanted),
                       list_of(tables, describe));
  }
  return *found;
}

void open_table(fitsfile* file, const FitsTableEntry& table, const Source& source) {
  int status = 0;
  check_fits(fits_movabs_hdu(file, table.extension + 1, nullptr, &status), source, "opening the table");
}

void require_table_bytes(fitsfile* file, std::uint64_t size, const Source& source) {
  const TableExtent table = extent_of_table(file, source);
  if (table.begin < 0 || table.row_bytes < 0 || table.rows < 0) {
    throw source.error("the FITS table has a negative size; fetch the file again");
  }
  const auto first = narrow<std::uint64_t>(table.begin);
  const std::uint64_t bytes =
      checked_multiply(narrow<std::uint64_t>(table.row_bytes), narrow<std::uint64_t>(table.rows), "table");
  if (first > size || bytes > size - first) {
    throw source.error("truncated: the table takes {} bytes from byte {} on, but the file has {}; fetch it again",
                       bytes, first, size);
  }
}

void require_heap_bytes(fitsfile* file, std::uint64_t size, const Source& source) {
  const TableExtent table = extent_of_table(file, source);
  const LONGLONG rows = table.row_bytes * table.rows;
  LONGLONG heap = rows;
  int status = 0;
  {
    const FitsMessageMark mark;
    fits_read_key(file, TLONGLONG, "THEAP", &heap, nullptr, &status);  // optional
  }
  const auto padded = narrow<LONGLONG>((size + kFitsBlock - 1) / kFitsBlock * kFitsBlock);
  if (table.end >= table.begin && table.end <= padded && heap >= rows && heap <= table.end - table.begin) return;
  throw source.error(
      "damaged: what lies behind the rows of the table is said to go on to byte {}, but the file has {}; fetch it "
      "again",
      std::max(table.end, table.begin + heap), size);
}

}  // namespace epsflow::io
