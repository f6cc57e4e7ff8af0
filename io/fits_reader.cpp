#include <epsflow/io/fits_reader.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fitsio.h>
#include <fmt/format.h>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>

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
void check(int status, const Source& source, std::string_view doing) {
  if (status == 0) return;
  throw InputError(fmt::format("{}: {} failed: {}; the file may be truncated or damaged, fetch it again", source.name,
                               doing, describe_status(status)));
}

struct CloseFits {
  void operator()(fitsfile* file) const noexcept {
    int status = 0;
    fits_close_file(file, &status);
    if (status != 0) fits_clear_errmsg();
  }
};
using FitsFile = std::unique_ptr<fitsfile, CloseFits>;

/// A FITS file in memory. cfitsio keeps the addresses of both members, so that it must not move.
class MemoryFile {
 public:
  // cfitsio's own way to files would read brackets in a name as its filter language and pass over truncated gzip data.
  MemoryFile(std::span<const char> bytes, const Source& source)
      : address_(const_cast<char*>(bytes.data())), size_(bytes.size()) {
    fitsfile* opened = nullptr;
    int status = 0;
    fits_open_memfile(&opened, "memory", READONLY, &address_, &size_, 0, nullptr, &status);
    file_.reset(opened);
    check(status, source, "opening the FITS file");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] fitsfile* get() const noexcept { return file_.get(); }

 private:
  void* address_;
  std::size_t size_;
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
  check(fits_get_num_hdus(file, &count, &status), source, "counting the extensions");
  for (int hdu = 1; hdu <= count; ++hdu) {
    int type = 0;
    check(fits_movabs_hdu(file, hdu, &type, &status), source, fmt::format("opening extension {}", hdu - 1));
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

/// Moves to the table that is asked for.
void select_table(fitsfile* file, const Source& source) {
  const std::vector<TableEntry> tables = list_tables(file, source);
  if (tables.empty()) throw InputError(source.name + ": the FITS file has no table; points are read from tables only");
  const std::string& wanted = source.options.table;
  int number = -1;
  const char* const end = wanted.data() + wanted.size();
  const auto [stop, code] = std::from_chars(wanted.data(), end, number);
  if (code != std::errc{} || stop != end) number = -1;
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const TableEntry& table) {
    return wanted.empty() || table.extension == number || same_name(table.name, wanted);
  });
  if (found == tables.end()) {
    std::string list;
    for (const TableEntry& table : tables) {
      list += fmt::format("{}{}{}", list.empty() ? "" : ", ", table.extension,
                          table.name.empty() ? "" : fmt::format(" ({})", table.name));
    }
    throw InputError(
        fmt::format("{}: there is no table {}; --table may choose from: {}", source.name, show_text(wanted), list));
  }
  int status = 0;
  check(fits_movabs_hdu(file, found->extension + 1, nullptr, &status), source, "opening the table");
}

struct FitsColumn {
  std::string name;
  std::string type;  ///< TFORM, for errors
  bool is_scalar_number = false;
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
  check(status, source, fmt::format("reading the description of column {}", number - 1));
  constexpr std::array kIntegers{TBYTE, TSBYTE, TSHORT, TUSHORT, TINT, TUINT, TLONG, TULONG, TLONGLONG, TULONGLONG};
  FitsColumn column{.name = name.data(), .type = fmt::format("values of type {}", show_text(form.data()))};
  const bool is_integer = std::find(kIntegers.begin(), kIntegers.end(), type) != kIntegers.end();
  column.has_marked_nulls = is_integer || is_ascii;
  column.is_scalar_number = repeat == 1 && (is_integer || type == TFLOAT || type == TDOUBLE);
  // The decimal digits of an ASCII table may be more than float32 holds.
  column.is_plain_float32 = !is_ascii && type == TFLOAT && scale == 1 && zero == 0;
  return column;
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
  check(status, source, "reading the size of the table");
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

/// Reads the columns a block of rows at a time: cfitsio delivers a column, points want rows.
template <class T>
void read_columns(fitsfile* file, std::span<const std::size_t> selected, std::span<const FitsColumn> columns,
                  Points& points, const Source& source) {
  constexpr int kType = std::is_same_v<T, float> ? TFLOAT : TDOUBLE;
  const std::span<T> values = points.values<T>();
  const std::size_t dims = points.dims();
  int status = 0;
  int any_null = 0;  // cfitsio writes it without asking whether it is there
  long best_rows = 0;
  check(fits_get_rowsize(file, &best_rows, &status), source, "reading the size of a row");
  const std::size_t block = static_cast<std::size_t>(std::max(best_rows, 1L));
  Buffer<T> run(std::min(block, points.size()));
  for (std::size_t first = 0; first < points.size(); first += block) {
    const std::size_t count = std::min(block, points.size() - first);
    for (std::size_t k = 0; k < dims; ++k) {
      // A null of 0 means no check. cfitsio's check of binary floats would turn denormals into 0.
      T null = columns[selected[k]].has_marked_nulls ? std::numeric_limits<T>::quiet_NaN() : T{0};
      fits_read_col(file, kType, narrow<int>(selected[k] + 1), narrow<LONGLONG>(first + 1), 1, narrow<LONGLONG>(count),
                    &null, run.data(), &any_null, &status);
      if (status != 0) {
        check(status, source,
              fmt::format("reading column {} from row {} on", show_text(columns[selected[k]].name), first));
      }
      for (std::size_t i = 0; i < count; ++i) values[(first + i) * dims + k] = run[i];
    }
  }
}

}  // namespace

std::mutex& fits_mutex() {
  static std::mutex mutex;
  return mutex;
}

Points read_fits(std::span<const char> bytes, const Source& source) {
  const std::scoped_lock lock(fits_mutex());
  const MemoryFile file(bytes, source);
  select_table(file.get(), source);
  require_table_bytes(file.get(), bytes.size(), source);

  int status = 0;
  int type = 0;
  int count = 0;
  LONGLONG rows = 0;
  fits_get_hdu_type(file.get(), &type, &status);
  fits_get_num_cols(file.get(), &count, &status);
  fits_get_num_rowsll(file.get(), &rows, &status);
  check(status, source, "reading the size of the table");
  std::vector<FitsColumn> columns;
  ColumnList available{.count = narrow<std::size_t>(count), .names = {}, .ignore_case = true};
  for (int i = 1; i <= count; ++i) {
    columns.push_back(describe_column(file.get(), i, type == ASCII_TBL, source));
    available.names.push_back(columns.back().name);
  }
  const std::vector<std::size_t> selected = select_columns(source, available);
  bool single = true;
  for (const std::size_t i : selected) {
    if (!columns[i].is_scalar_number) throw_not_numeric(source, available, i, columns[i].type);
    single = single && columns[i].is_plain_float32;
  }
  Points points = make_points(source, narrow<std::uint64_t>(rows), selected.size(),
                              single ? Precision::float32 : Precision::float64);
  points.column_names = selected_names(available, selected);
  points.column_numbers = selected;
  if (single) {
    read_columns<float>(file.get(), selected, columns, points, source);
  } else {
    read_columns<double>(file.get(), selected, columns, points, source);
  }
  apply_nan_policy(points, source);
  return points;
}

}  // namespace epsflow::io
