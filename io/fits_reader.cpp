#include <epsflow/io/fits_reader.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fitsio.h>
#include <fmt/format.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/io/element_columns.hpp>

namespace epsflow::io {
namespace {

/// cfitsio's words for a status, and the first message that it left, which is the most specific. Empties its stack.
std::string describe_status(int status) {
  std::array<char, FLEN_STATUS> text{};
  fits_get_errstatus(status, text.data());
  std::string reason = text.data();
  std::array<char, FLEN_ERRMSG> message{};
  if (fits_read_errmsg(message.data()) != 0) reason += fmt::format(" ({})", message.data());
  fits_clear_errmsg();
  return fmt::format("{} [cfitsio {}]", reason, status);
}

/// Every call goes through here: what was being done, and the status it returned.
void check_fits(int status, const Source& source, std::string_view doing) {
  if (status == 0) return;
  throw InputError(fmt::format("{}: {} failed: {}; the file may be truncated or damaged, fetch it again", source.name,
                               doing, describe_status(status)));
}

struct CloseFits {
  void operator()(fitsfile* file) const noexcept {
    int status = 0;
    fits_close_file(file, &status);
  }
};
/// Takes back the messages that cfitsio leaves on its stack, which it does even where it returns no error.
struct MessageMark {
  MessageMark() { fits_write_errmark(); }
  ~MessageMark() { fits_clear_errmark(); }
  MessageMark(const MessageMark&) = delete;
  MessageMark& operator=(const MessageMark&) = delete;
};
using FitsFile = std::unique_ptr<fitsfile, CloseFits>;

constexpr std::size_t kBlock = 2880;
constexpr std::size_t kCard = 80;

/// Fills the last block of a FITS file in memory with zeros where it is not complete, and returns the size with them:
/// cfitsio reads whole blocks, past the end of the bytes that it is given.
std::size_t complete_last_block(OwnedBytes& bytes) {
  const std::size_t padded = (bytes.size + kBlock - 1) / kBlock * kBlock;
  if (padded > bytes.storage.size()) {
    Buffer<char> room(padded);
    std::copy_n(bytes.storage.data(), bytes.size, room.data());
    bytes.storage = std::move(room);
  }
  std::fill(bytes.storage.data() + bytes.size, bytes.storage.data() + padded, '\0');
  return padded;
}

/// Throws InputError for a block of a header that names a column without quotes: cfitsio would copy 70 such characters
/// past the end of its room for them. Returns whether it is the header's last block.
bool require_quoted_names(std::string_view block, const Source& source) {
  for (; block.size() >= kCard; block.remove_prefix(kCard)) {
    const std::string_view card = block.substr(0, kCard);
    if (card.starts_with("END     ")) return true;
    if (!card.starts_with("TTYPE")) continue;
    const std::size_t value = card.find_first_not_of(' ', std::min(card.find('='), kCard - 1) + 1);
    if (value == std::string_view::npos || card[value] == '\'') continue;
    throw InputError(
        fmt::format("{}: the name of a column stands without quotes in {}; the file may be damaged, fetch it again",
                    source.name, show_text(card)));
  }
  return false;
}

/// A FITS file: a plain regular one by its path, any other unpacked into memory.
class OpenFits {
 public:
  OpenFits(ByteStream& stream, const Source& source) {
    const std::span<const char> begin = stream.peek();
    if (!std::string_view(begin.data(), begin.size()).starts_with("SIMPLE")) {
      throw InputError(source.name + ": not a FITS file: it does not begin with SIMPLE; name it by its kind");
    }
    fitsfile* opened = nullptr;
    int status = 0;
    if (const std::filesystem::path* const path = stream.regular_file()) {
      // The plain call would read brackets in a name as cfitsio's filter language; an absolute path begins with no "~".
      fits_open_diskfile(&opened, std::filesystem::absolute(*path).c_str(), READONLY, &status);
      size_ = stream.size().value_or(0);
    } else {
      bytes_ = read_all(stream, memory_left(source), source.name);
      size_ = bytes_.size;
      padded_size_ = complete_last_block(bytes_);
      address_ = bytes_.storage.data();
      fits_open_memfile(&opened, "memory", READONLY, &address_, &padded_size_, 0, nullptr, &status);
    }
    file_.reset(opened);
    check_fits(status, source, "opening the FITS file");
    visit_extensions(stream.regular_file(), source);
  }
  // cfitsio keeps the addresses of address_ and padded_size_.
  OpenFits(const OpenFits&) = delete;
  OpenFits& operator=(const OpenFits&) = delete;
  [[nodiscard]] fitsfile* get() const noexcept { return file_.get(); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// What the file's own bytes take of the memory budget.
  [[nodiscard]] std::uint64_t memory() const noexcept { return bytes_.size; }

 private:
  /// Makes cfitsio know every extension, each after a look at its header.
  void visit_extensions(const std::filesystem::path* path, const Source& source) {
    std::ifstream stream;
    if (path != nullptr) stream.open(*path, std::ios::binary);
    std::array<char, kBlock> block{};
    const auto read_block = [&](std::uint64_t at) {
      if (at + kBlock > (path != nullptr ? size_ : padded_size_)) return false;
      if (path == nullptr) return std::copy_n(bytes_.storage.data() + at, kBlock, block.data()) == block.end();
      return static_cast<bool>(stream.seekg(static_cast<std::streamoff>(at)).read(block.data(), kBlock));
    };
    for (int status = 0; status == 0;) {
      LONGLONG header = 0;
      LONGLONG data = 0;
      LONGLONG next = 0;
      check_fits(fits_get_hduaddrll(file_.get(), &header, &data, &next, &status), source, "finding the next extension");
      for (auto at = narrow<std::uint64_t>(next); read_block(at); at += kBlock) {
        if (require_quoted_names({block.data(), block.size()}, source)) break;
      }
      fits_movrel_hdu(file_.get(), 1, nullptr, &status);
    }
  }

  MessageMark mark_;
  OwnedBytes bytes_;
  void* address_ = nullptr;
  std::size_t padded_size_ = 0;
  std::uint64_t size_ = 0;
  FitsFile file_;
};

struct TableEntry {
  int extension = 0;
  std::string name;
};

std::vector<TableEntry> list_tables(fitsfile* file, const Source& source) {
  std::vector<TableEntry> tables;
  int status = 0;
  int count = 0;
  check_fits(fits_get_num_hdus(file, &count, &status), source, "counting the extensions");
  for (int hdu = 1; hdu <= count; ++hdu) {
    int type = 0;
    check_fits(fits_movabs_hdu(file, hdu, &type, &status), source, fmt::format("opening extension {}", hdu - 1));
    if (type != BINARY_TBL && type != ASCII_TBL) continue;
    std::array<char, FLEN_VALUE> name{};
    fits_write_errmark();
    fits_read_key(file, TSTRING, "EXTNAME", name.data(), nullptr, &status);
    // Most tables that lack a name are fine without.
    fits_clear_errmark();
    status = 0;
    tables.push_back({hdu - 1, name.data()});
  }
  return tables;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string describe(const TableEntry& table) {
  std::string text = std::to_string(table.extension);
  if (table.name.empty()) return text;
  const std::string shown = show_text(table.name);
  return text.append(" (").append(shown, 1, shown.size() - 2).append(")");
}

std::string describe(std::span<const TableEntry> tables) {
  constexpr std::size_t kShown = 40;
  std::string list;
  for (const TableEntry& table : tables.first(std::min(tables.size(), kShown))) {
    list += (list.empty() ? "" : ", ") + describe(table);
  }
  return tables.size() > kShown ? fmt::format("{} and {} more", list, tables.size() - kShown) : list;
}

/// The table that is asked for.
const TableEntry& select_table(std::span<const TableEntry> tables, const Source& source) {
  const std::string& wanted = source.options.table;
  int number = -1;
  const char* const end = wanted.data() + wanted.size();
  const auto [stop, code] = std::from_chars(wanted.data(), end, number);
  if (code != std::errc{} || stop != end) number = -1;
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const TableEntry& table) {
    return wanted.empty() || table.extension == number || same_name(table.name, wanted);
  });
  if (found == tables.end()) {
    throw InputError(fmt::format("{}: there is no table {}; ReadOptions::table may choose from: {}", source.name,
                                 show_text(wanted), describe(tables)));
  }
  return *found;
}

void open_table(fitsfile* file, const TableEntry& table, const Source& source) {
  int status = 0;
  check_fits(fits_movabs_hdu(file, table.extension + 1, nullptr, &status), source, "opening the table");
}

struct FitsColumn {
  std::string name;
  std::string type;        ///< TFORM, for errors
  bool is_number = false;  ///< truth values are numbers too
  bool is_logical = false;
  std::uint64_t elements = 1;  ///< values per row, where these are numbers
  bool is_plain_float32 = false;
  bool has_marked_nulls = false;  ///< TNULL, as integers and ASCII tables have it; the null of a binary float is NaN
};

FitsColumn describe_column(fitsfile* file, int number, bool is_ascii, const Source& source) {
  int status = 0;
  std::array<char, FLEN_VALUE> name{};
  std::array<char, FLEN_VALUE> form{};
  double scale = 1;
  double zero = 0;
  if (is_ascii) {
    fits_get_acolparms(file, number, name.data(), nullptr, nullptr, nullptr, &scale, &zero, nullptr, nullptr, &status);
  } else {
    fits_get_bcolparms(file, number, name.data(), nullptr, nullptr, nullptr, &scale, &zero, nullptr, nullptr, &status);
  }
  fits_read_key(file, TSTRING, fmt::format("TFORM{}", number).c_str(), form.data(), nullptr, &status);
  int type = 0;
  LONGLONG repeat = 0;
  LONGLONG width = 0;  // of no interest, but written for ASCII tables without asking whether it is there
  fits_get_coltypell(file, number, &type, &repeat, &width, &status);
  check_fits(status, source, fmt::format("reading the description of column {}", number - 1));
  constexpr std::array kIntegers{TBYTE, TSBYTE, TSHORT, TUSHORT, TINT, TUINT, TLONG, TULONG, TLONGLONG, TULONGLONG};
  FitsColumn column{.name = name.data(), .type = fmt::format("values of type {}", show_text(form.data()))};
  const bool is_integer = std::find(kIntegers.begin(), kIntegers.end(), type) != kIntegers.end();
  column.is_logical = type == TLOGICAL;
  column.has_marked_nulls = is_integer || is_ascii;
  column.is_number = is_integer || column.is_logical || type == TFLOAT || type == TDOUBLE;
  if (column.is_number) column.elements = narrow<std::uint64_t>(repeat, "values per row");
  // The decimal digits of an ASCII table may be more than float32 holds.
  column.is_plain_float32 = !is_ascii && type == TFLOAT && scale == 1 && zero == 0;
  return column;
}

/// The open table.
struct FitsTable {
  std::uint64_t rows = 0;
  std::vector<FitsColumn> columns;
  ColumnList available{.count = 0, .names = {}, .ignore_case = true};
  std::vector<std::uint64_t> elements;  ///< of each column
};

FitsTable describe_table(fitsfile* file, const Source& source) {
  int status = 0;
  int type = 0;
  int count = 0;
  LONGLONG rows = 0;
  fits_get_hdu_type(file, &type, &status);
  fits_get_num_cols(file, &count, &status);
  fits_get_num_rowsll(file, &rows, &status);
  check_fits(status, source, "reading the size of the table");
  FitsTable table;
  table.rows = narrow<std::uint64_t>(rows, "rows");
  table.available.count = narrow<std::size_t>(count);
  for (int i = 1; i <= count; ++i) {
    table.columns.push_back(describe_column(file, i, type == ASCII_TBL, source));
    table.available.names.push_back(table.columns.back().name);
    table.elements.push_back(table.columns.back().elements);
  }
  return table;
}

/// The columns that are asked for, in the table that is open. Where they stand in another table the error says so.
std::vector<ElementChoice> select_from(fitsfile* file, const FitsTable& table, const TableEntry& opened,
                                       std::span<const TableEntry> tables, const Source& source) {
  try {
    return select_elements(source, table.available, table.elements);
  } catch (const InputError&) {
    for (const TableEntry& other : tables) {
      if (source.options.columns.empty() || other.extension == opened.extension) continue;
      open_table(file, other, source);
      const FitsTable described = describe_table(file, source);
      try {
        (void)select_elements(source, described.available, described.elements);
      } catch (const InputError&) {
        continue;
      }
      throw InputError(fmt::format(
          "{}: table {} has not all of the columns asked for, but table {} has; choose it with ReadOptions::table = {}",
          source.name, describe(opened), describe(other), show_text(std::to_string(other.extension))));
    }
    throw;
  }
}

/// A file that is shorter than its table is found out before room for the table is made.
void require_table_bytes(fitsfile* file, std::uint64_t size, const Source& source) {
  int status = 0;
  LONGLONG begin = 0;
  LONGLONG row_bytes = 0;
  LONGLONG rows = 0;
  fits_get_hduaddrll(file, nullptr, &begin, nullptr, &status);
  fits_read_key(file, TLONGLONG, "NAXIS1", &row_bytes, nullptr, &status);
  fits_read_key(file, TLONGLONG, "NAXIS2", &rows, nullptr, &status);
  check_fits(status, source, "reading the size of the table");
  if (begin < 0 || row_bytes < 0 || rows < 0) {
    throw InputError(source.name + ": the FITS table has a negative size; fetch the file again");
  }
  const std::uint64_t bytes = checked_multiply(narrow<std::uint64_t>(row_bytes), narrow<std::uint64_t>(rows), "table");
  const auto first = narrow<std::uint64_t>(begin);
  if (first > size || bytes > size - first) {
    throw InputError(
        fmt::format("{}: truncated: the table takes {} bytes from byte {} on, but the file has {}; fetch it "
                    "again",
                    source.name, bytes, first, size));
  }
}

/// `count` truth values, row after row, as 0 and 1; those that are undefined as NaN.
template <class T>
void read_logical(fitsfile* file, const ElementChoice& choice, std::size_t first, std::size_t count, T* values,
                  const Source& source) {
  std::vector<char> bytes(count);
  std::vector<char> undefined(count);
  int any = 0;
  int status = 0;
  fits_read_colnull(file, TLOGICAL, narrow<int>(choice.column + 1), narrow<LONGLONG>(first + 1), 1,
                    narrow<LONGLONG>(count), bytes.data(), undefined.data(), &any, &status);
  if (status != 0) check_fits(status, source, fmt::format("reading {} from row {} on", show_text(choice.name), first));
  for (std::size_t i = 0; i < count; ++i) {
    if (undefined[i] == 0 && bytes[i] != 0 && bytes[i] != 1) {
      throw InputError(
          fmt::format("{}: column {} holds {} at or behind row {}, which is neither T nor F; fetch or write "
                      "the file again",
                      source.name, show_text(choice.name), show_text({&bytes[i], 1}), first));
    }
    values[i] = undefined[i] != 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(bytes[i]);
  }
}

/// All values of `rows` rows of a column.
template <class T>
void read_values(fitsfile* file, const FitsColumn& column, const ElementChoice& choice, std::size_t first,
                 std::size_t rows, T* values, const Source& source) {
  constexpr int kType = std::is_same_v<T, float> ? TFLOAT : TDOUBLE;
  const std::size_t count = rows * narrow<std::size_t>(column.elements);
  if (column.is_logical) return read_logical(file, choice, first, count, values, source);
  // A null of 0 means no check. cfitsio's check of binary floats would turn denormals into 0.
  T null = column.has_marked_nulls ? std::numeric_limits<T>::quiet_NaN() : T{0};
  int status = 0;
  int any_null = 0;  // cfitsio writes it without asking whether it is there
  fits_read_col(file, kType, narrow<int>(choice.column + 1), narrow<LONGLONG>(first + 1), 1, narrow<LONGLONG>(count),
                &null, values, &any_null, &status);
  if (status != 0) check_fits(status, source, fmt::format("reading {} from row {} on", show_text(choice.name), first));
}

/// The chosen element of `rows` rows of a column.
template <class T>
void read_run(fitsfile* file, const FitsColumn& column, const ElementChoice& choice, std::size_t first,
              std::size_t rows, T* values, const Source& source) {
  if (column.elements == 1) return read_values(file, column, choice, first, rows, values, source);
  constexpr std::size_t kMostValues = std::size_t{1} << 16;
  const auto elements = narrow<std::size_t>(column.elements);
  const std::size_t step = std::clamp<std::size_t>(kMostValues / elements, 1, rows);
  Buffer<T> vectors(checked_multiply(step, elements, "vectors"));
  for (std::size_t begin = 0; begin < rows; begin += step) {
    const std::size_t count = std::min(step, rows - begin);
    read_values(file, column, choice, first + begin, count, vectors.data(), source);
    for (std::size_t i = 0; i < count; ++i) values[begin + i] = vectors[i * elements + choice.element];
  }
}

/// Reads the columns a block of rows at a time: cfitsio delivers a column, points want rows.
template <class T>
void read_columns(fitsfile* file, std::span<const ElementChoice> chosen, std::span<const FitsColumn> columns,
                  Points& points, const Source& source) {
  const std::span<T> values = points.values<T>();
  const std::size_t dims = points.dims();
  int status = 0;
  long best_rows = 0;
  check_fits(fits_get_rowsize(file, &best_rows, &status), source, "reading the size of a row");
  const std::size_t block = static_cast<std::size_t>(std::max(best_rows, 1L));
  Buffer<T> run(std::min(block, points.size()));
  for (std::size_t first = 0; first < points.size(); first += block) {
    const std::size_t count = std::min(block, points.size() - first);
    for (std::size_t k = 0; k < dims; ++k) {
      read_run(file, columns[chosen[k].column], chosen[k], first, count, run.data(), source);
      for (std::size_t i = 0; i < count; ++i) values[(first + i) * dims + k] = run[i];
    }
  }
}

}  // namespace

std::mutex& fits_mutex() {
  static std::mutex mutex;
  return mutex;
}

Points read_fits(ByteStream& stream, const Source& source) {
  const std::scoped_lock lock(fits_mutex());
  const OpenFits file(stream, source);
  const std::vector<TableEntry> tables = list_tables(file.get(), source);
  if (tables.empty()) throw InputError(source.name + ": the FITS file has no table; points are read from tables only");
  const TableEntry& entry = select_table(tables, source);
  open_table(file.get(), entry, source);
  require_table_bytes(file.get(), file.size(), source);
  const FitsTable table = describe_table(file.get(), source);
  const std::vector<ElementChoice> chosen = select_from(file.get(), table, entry, tables, source);
  bool single = true;
  for (const ElementChoice& choice : chosen) {
    const FitsColumn& column = table.columns[choice.column];
    if (!column.is_number) throw_not_numeric(source, table.available, choice.column, column.type);
    single = single && column.is_plain_float32;
  }
  const Source remaining{
      .name = source.name, .options = source.options, .memory_taken = source.memory_taken + file.memory()};
  Points points = make_points(remaining, table.rows, chosen.size(), single ? Precision::float32 : Precision::float64);
  set_columns(points, chosen);
  if (single) {
    read_columns<float>(file.get(), chosen, table.columns, points, source);
  } else {
    read_columns<double>(file.get(), chosen, table.columns, points, source);
  }
  apply_nan_policy(points, source);
  points.inputs.front().kind = "FITS table " + describe(entry);
  return points;
}

}  // namespace epsflow::io
