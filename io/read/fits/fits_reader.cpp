#include <epsflow/io/read/readers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fitsio.h>
#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/io/read/decimal.hpp>
#include <epsflow/io/read/element_columns.hpp>
#include <epsflow/io/read/fits/fits_file.hpp>

namespace epsflow::io {
namespace {

struct FitsColumn {
  std::string name;
  std::string unit;        ///< TUNIT
  std::string type;        ///< TFORM, for errors
  bool is_number = false;  ///< true for truth values, too
  bool is_logical = false;
  std::uint64_t elements = 1;  ///< values per row, if it is numeric
  bool is_plain_float32 = false;
  bool is_integer = false;
  int wide_type = 0;                          ///< TLONGLONG or TULONGLONG for unscaled integers of 64 bits
  double scale = 1;                           ///< TSCAL
  double zero = 0;                            ///< TZERO
  LONGLONG text_begin = 0;                    ///< first byte in a row, from 1, of the field of an ASCII table; else 0
  LONGLONG text_width = 0;                    ///< bytes of the field
  int implicit_decimals = 0;                  ///< decimals of a number that is written without a point
  std::optional<std::string> null_text = {};  ///< TNULL of an ASCII table, without blanks at its ends
};

FitsColumn describe_column(fitsfile* file, int number, bool is_ascii, const Source& source) {
  int status = 0;
  std::array<char, FLEN_VALUE> name{};
  std::array<char, FLEN_VALUE> unit{};
  std::array<char, FLEN_VALUE> form{};
  double scale = 1;
  double zero = 0;
  long begin = 0;
  if (is_ascii) {
    fits_get_acolparms(file, number, name.data(), &begin, unit.data(), nullptr, &scale, &zero, nullptr, nullptr,
                       &status);
  } else {
    fits_get_bcolparms(file, number, name.data(), unit.data(), nullptr, nullptr, &scale, &zero, nullptr, nullptr,
                       &status);
  }
  fits_read_key(file, TSTRING, fmt::format("TFORM{}", number).c_str(), form.data(), nullptr, &status);
  int type = 0;
  LONGLONG repeat = 0;
  LONGLONG width = 0;
  fits_get_coltypell(file, number, &type, &repeat, &width, &status);
  check_fits(status, source, fmt::format("reading the description of column {}", number - 1));
  constexpr std::array kIntegers{TBYTE, TSBYTE, TSHORT, TUSHORT, TINT, TUINT, TLONG, TULONG, TLONGLONG, TULONGLONG};
  FitsColumn column{.name = name.data(),
                    .unit = std::string(trim(unit.data())),
                    .type = fmt::format("values of type {}", show_text(form.data())),
                    .scale = scale,
                    .zero = zero};
  column.is_integer = std::find(kIntegers.begin(), kIntegers.end(), type) != kIntegers.end();
  column.is_logical = type == TLOGICAL;
  column.is_number = column.is_integer || column.is_logical || type == TFLOAT || type == TDOUBLE;
  if (column.is_number) column.elements = narrow<std::uint64_t>(repeat, "values per row");
  // The decimal digits of an ASCII table may exceed the precision of float32.
  column.is_plain_float32 = !is_ascii && type == TFLOAT && scale == 1 && zero == 0;
  constexpr double kUnsignedZero = 9223372036854775808.0;  // the standard's way to write unsigned integers
  if (!is_ascii && type == TLONGLONG && scale == 1) {
    column.wide_type = zero == 0 ? TLONGLONG : zero == kUnsignedZero ? TULONGLONG : 0;
  }
  if (is_ascii) {
    column.text_begin = begin;
    column.text_width = width;
    if (const auto text = read_fits_text(file, fmt::format("TNULL{}", number))) column.null_text = trim(*text);
    fits_ascii_tform(form.data(), nullptr, nullptr, &column.implicit_decimals, &status);
    check_fits(status, source, fmt::format("reading the format of column {}", number - 1));
  }
  return column;
}

/// The open table.
struct FitsTable {
  std::uint64_t rows = 0;
  std::vector<FitsColumn> columns;
  ColumnList available{.count = 0, .names = {}, .ignore_case = true};
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
  }
  return table;
}

std::vector<ElementChoice> select_in(const FitsTable& table, const Source& source) {
  return select_elements(source, table.available, [&](std::size_t column) { return table.columns[column].elements; });
}

/// Returns the chosen columns of the open table. If they exist in another table, the error names it.
std::vector<ElementChoice> select_from(fitsfile* file, const FitsTable& table, const FitsTableEntry& opened,
                                       std::span<const FitsTableEntry> tables, const Source& source) {
  try {
    return select_in(table, source);
  } catch (const InputError&) {
    for (const FitsTableEntry& other : tables) {
      if (source.options.columns.empty() || other.extension == opened.extension) continue;
      open_table(file, other, source);
      const FitsTable described = describe_table(file, source);
      try {
        (void)select_in(described, source);
      } catch (const InputError&) {
        continue;
      }
      throw source.error(
          "table {} has not all of the columns asked for, but table {} has; choose it with ReadOptions::table = {}",
          describe(opened), describe(other), show_text(std::to_string(other.extension)));
    }
    throw;
  }
}

/// Reads `count` truth values, row by row, as 0 and 1; undefined ones as NaN.
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
      throw source.error(
          "column {} holds {} at or behind row {}, which is neither T nor F; fetch or write the file again",
          show_text(choice.name), show_text({&bytes[i], 1}), first);
    }
    values[i] = undefined[i] != 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(bytes[i]);
  }
}

/// Throws InputError for a 64-bit integer that float64 rounds. `values` belong to whole rows from `first` on.
template <class T>
void require_exact(fitsfile* file, const FitsColumn& column, const ElementChoice& choice, std::size_t first,
                   std::span<const T> values, const Source& source) {
  const auto elements = narrow<std::size_t>(column.elements);
  for (std::size_t i = choice.element; i < values.size(); i += elements) {
    if (!may_be_rounded(values[i])) continue;
    const std::size_t row = first + i / elements;
    const auto require = [&](auto value) {
      int any_null = 0;
      int status = 0;
      fits_read_col(file, column.wide_type, narrow<int>(choice.column + 1), narrow<LONGLONG>(row + 1),
                    narrow<LONGLONG>(choice.element + 1), 1, nullptr, &value, &any_null, &status);
      if (status == 0 && is_exact(value)) return;
      throw_rounded(source, fmt::format("row {}", row), show_text(choice.name), std::to_string(value));
    };
    column.wide_type == TLONGLONG ? require(std::int64_t{0}) : require(std::uint64_t{0});
  }
}

/// Returns the digits of an integer in any spelling of an ASCII table, such as 9007199254740994.0 and
/// 9.007199254740994D15. Empty for a number with a fraction, for one beyond float64, and for other text.
std::string integer_digits(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t letter = std::min(text.find_first_of("ED"), text.size());
  std::string digits(text.substr(0, letter));
  std::string_view exponent = text.substr(std::min(letter + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const std::optional<int> power = letter < text.size() ? number_in<int>(exponent) : 0;
  if (!power) return {};
  std::int64_t zeros = *power;
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    zeros -= static_cast<std::int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  digits.erase(0, digits.find_first_not_of('0'));
  for (; zeros < 0 && digits.ends_with('0'); ++zeros) digits.pop_back();
  if (zeros < 0 || zeros > std::numeric_limits<double>::max_exponent10) return {};
  if (digits.find_first_not_of("0123456789") != std::string::npos) return {};
  return digits.append(static_cast<std::size_t>(zeros), '0');
}

/// Returns the number in a field of an ASCII table, which may have blanks anywhere, and exponents after D or after a
/// sign alone. A blank field is 0. Source: FITS Standard 4.0, section 7.2.5.
std::optional<double> number_in_field(std::string text, int implicit_decimals) {
  std::erase(text, ' ');
  if (text.empty()) return 0;
  const std::size_t at = std::min(text.find_first_of("EeDd+-", 1), text.size());
  std::string_view exponent = std::string_view(text).substr(at);
  if (!exponent.empty() && exponent.front() > '9') exponent.remove_prefix(1);  // the letter
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const std::optional<int> power = exponent.empty() ? 0 : number_in<int>(exponent);
  if (!power) return std::nullopt;
  const bool has_point = text.find('.') < at;
  const std::int64_t shift = std::int64_t{*power} - (has_point || !is_digit(text[at - 1]) ? 0 : implicit_decimals);
  text.resize(at);
  return parse_number(shift == 0 ? text : fmt::format("{}e{}", text, shift));
}

/// Reads all values of a column of an ASCII table. cfitsio is not used because it takes a field that only begins with
/// TNULL for a null, misses a null at the end of its field, and rounds.
template <class T>
void read_texts(fitsfile* file, const FitsColumn& column, const ElementChoice& choice, std::size_t first,
                std::span<T> values, const Source& source) {
  const bool is_scaled = column.scale != 1 || column.zero != 0;
  std::string field(narrow<std::size_t>(column.text_width), ' ');
  for (std::size_t i = 0; i < values.size(); ++i) {
    int status = 0;
    fits_read_tblbytes(file, narrow<LONGLONG>(first + i + 1), column.text_begin, column.text_width,
                       reinterpret_cast<unsigned char*>(field.data()), &status);
    if (status != 0) check_fits(status, source, fmt::format("reading {} in row {}", show_text(choice.name), first + i));
    const std::string_view text = trim(std::string_view(field).substr(0, field.find('\0')));
    if (column.null_text == text) {
      values[i] = std::numeric_limits<T>::quiet_NaN();
      continue;
    }
    const std::optional<double> number = number_in_field(std::string(text), column.implicit_decimals);
    if (!number) {
      throw source.error(
          "row {}, column {} is {}, not a number; if it stands for a missing value, TNULL{} in the header has to say "
          "so, else correct it or choose other columns with ReadOptions::columns",
          first + i, show_text(choice.name), show_text(text), choice.column + 1);
    }
    if (column.is_integer && !is_scaled && may_be_rounded(*number) &&
        fmt::format("{:.0f}", std::abs(*number)) != integer_digits(text)) {
      throw_rounded(source, fmt::format("row {}", first + i), show_text(choice.name), std::string(text));
    }
    values[i] = static_cast<T>(is_scaled ? *number * column.scale + column.zero : *number);
  }
}

/// A column of an open table, and its element to read.
struct OpenColumn {
  fitsfile* file;
  const FitsColumn& column;
  const ElementChoice& choice;
  const Source& source;
};

/// Reads all values of `rows` rows of a column.
template <class T>
void read_values(const OpenColumn& open, std::size_t first, std::size_t rows, T* values) {
  const auto& [file, column, choice, source] = open;
  constexpr int kType = std::is_same_v<T, float> ? TFLOAT : TDOUBLE;
  const std::size_t count = rows * narrow<std::size_t>(column.elements);
  if (column.is_logical) return read_logical(file, choice, first, count, values, source);
  if (column.text_begin > 0) return read_texts(file, column, choice, first, std::span(values, count), source);
  // The null of a binary float is NaN. A null of 0 means no check; for floats, a check would zero denormals.
  T null = column.is_integer ? std::numeric_limits<T>::quiet_NaN() : T{0};
  int status = 0;
  int any_null = 0;  // cfitsio requires it
  fits_read_col(file, kType, narrow<int>(choice.column + 1), narrow<LONGLONG>(first + 1), 1, narrow<LONGLONG>(count),
                &null, values, &any_null, &status);
  if (status != 0) check_fits(status, source, fmt::format("reading {} from row {} on", show_text(choice.name), first));
  if (column.wide_type != 0) require_exact(file, column, choice, first, std::span<const T>(values, count), source);
}

/// Reads the chosen element of `rows` rows of a column.
template <class T>
void read_run(const OpenColumn& open, std::size_t first, std::size_t rows, T* values) {
  if (open.column.elements == 1) return read_values(open, first, rows, values);
  constexpr std::size_t kMostValues = std::size_t{1} << 16;
  const auto elements = narrow<std::size_t>(open.column.elements);
  const std::size_t step = std::clamp<std::size_t>(kMostValues / elements, 1, rows);
  Buffer<T> vectors(checked_multiply(step, elements, "vectors"));
  for (std::size_t begin = 0; begin < rows; begin += step) {
    const std::size_t count = std::min(step, rows - begin);
    read_values(open, first + begin, count, vectors.data());
    for (std::size_t i = 0; i < count; ++i) values[begin + i] = vectors[i * elements + open.choice.element];
  }
}

/// Reads the columns in blocks of rows, of the size that cfitsio buffers.
template <class T>
void read_columns(fitsfile* file, std::span<const ElementChoice> chosen, const FitsTable& table, ValueSink& points,
                  const Source& source) {
  int status = 0;
  long best_rows = 0;
  check_fits(fits_get_rowsize(file, &best_rows, &status), source, "reading the size of a row");
  const auto block = static_cast<std::uint64_t>(std::max(best_rows, 1L));
  const RowRange rows = share_of(source.options, table.rows);
  Buffer<T> run(std::min(block, rows.count));
  for (std::uint64_t first = rows.first; first < rows.end(); first += block) {
    const std::size_t count = std::min(block, rows.end() - first);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      read_run({file, table.columns[chosen[k].column], chosen[k], source}, first, count, run.data());
      points.put_coordinate(first, k, std::span<const T>(run.data(), count));
    }
  }
}

void parse_fits(const LibraryFile& bytes, const Source& source, ValueSink& points) {
  const std::scoped_lock lock(fits_mutex());
  // The library reads whole blocks, but some programs do not pad the last one.
  if (bytes.memory_taken > 0) {
    std::filesystem::resize_file(bytes.path, (bytes.size + kFitsBlock - 1) / kFitsBlock * kFitsBlock);
  }
  FitsFile file(bytes, source);
  const std::vector<FitsTableEntry> tables = list_tables(file.get(), source);
  const FitsTableEntry& entry = select_table(tables, source);
  open_table(file.get(), entry, source);
  require_table_bytes(file.get(), file.size(), source);
  file.require_end_of_table();
  const FitsTable table = describe_table(file.get(), source);
  std::vector<ElementChoice> chosen = select_from(file.get(), table, entry, tables, source);
  for (ElementChoice& choice : chosen) {
    const FitsColumn& column = table.columns[choice.column];
    if (!column.is_number) throw_not_numeric(source, table.available, choice.column, column.type);
    choice.is_float32 = column.is_plain_float32;
    choice.unit = column.unit;
  }
  const Precision precision = precision_of(chosen);
  points.begin({.rows = table.rows,
                .columns = chosen,
                .kind = "FITS table " + describe(entry),
                .memory_taken = bytes.memory_taken});
  with_type(precision, [&](auto zero) { read_columns<decltype(zero)>(file.get(), chosen, table, points, source); });
}

}  // namespace

Reader fits_reader() {
  return {.parse = parse_fits, .library = "cfitsio", .version = [] {
            return fmt::format("cfitsio {}.{}.{}", CFITSIO_MAJOR, CFITSIO_MINOR, CFITSIO_MICRO);
          }};
}

}  // namespace epsflow::io
