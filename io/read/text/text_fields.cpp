#include <epsflow/io/read/text/text_fields.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <epsflow/io/read/decimal.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {
namespace {

/// Returns a field's text without the line end and the blanks at its end.
std::string_view trim_end(const char* begin, const char* stop, const char* end) noexcept {
  if (stop != begin && stop[-1] == '\r' && at_line_end(stop, end)) --stop;
  while (stop != begin && (stop[-1] == ' ' || stop[-1] == '\t')) --stop;
  return {begin, static_cast<std::size_t>(stop - begin)};
}

/// The texts that spreadsheets write for a failed formula, in English, German, French, Italian, Portuguese and Spanish.
constexpr std::array<std::string_view, 36> kSheetErrors{
    "#DIV/0!", "#VALUE!", "#REF!",     "#NAME?",    "#NUM!",    "#NULL!",   "#N/A",      "#N/A N/A",      "#SPILL!",
    "#CALC!",  "#FIELD!", "#BLOCKED!", "#CONNECT!", "#BUSY!",   "#ERROR!",  "#UNKNOWN!", "#GETTING_DATA", "#NV",
    "#WERT!",  "#BEZUG!", "#ZAHL!",    "#VALEUR!",  "#NOM?",    "#NOMBRE!", "#NUL!",     "#N/D",          "#VALORE!",
    "#RIF!",   "#NOME?",  "#VALOR!",   "#¡VALOR!",  "#¡DIV/0!", "#¡NUM!",   "#¡REF!",    "#¿NOMBRE?",     "#¡NULO!"};

bool is_sheet_error(std::string_view text) noexcept {
  return text.starts_with('#') && std::find(kSheetErrors.begin(), kSheetErrors.end(), text) != kSheetErrors.end();
}

/// True if a line begins with such a field, or with one of the longer texts of data services. Works before the
/// delimiter is detected.
bool begins_with_sheet_error(std::string_view line, char delimiter) noexcept {
  const auto ends_field = [&](char c) {
    return c == delimiter || std::string_view(" \t,;|\r\n").find(c) != std::string_view::npos;
  };
  const auto end = std::find_if(line.begin(), line.end(), ends_field);
  return line.starts_with("#N/A") || is_sheet_error(line.substr(0, static_cast<std::size_t>(end - line.begin())));
}

/// Removes parsed parts from the front of a text.
class IsoScanner {
 public:
  explicit IsoScanner(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] bool done() const noexcept { return text_.empty(); }
  [[nodiscard]] char front() const noexcept { return text_.empty() ? '\0' : text_.front(); }

  bool take(char c) noexcept {
    if (front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  /// Takes a number of exactly `digits` digits, at most `most`.
  bool take(std::size_t digits, int most, int& number) noexcept {
    if (text_.size() < digits || !std::all_of(text_.begin(), text_.begin() + digits, is_digit)) return false;
    std::from_chars(text_.data(), text_.data() + digits, number);
    text_.remove_prefix(digits);
    return number <= most;
  }

  /// Takes the digits after a decimal point.
  bool take_fraction(double& fraction) noexcept {
    const std::size_t end = text_.find_first_not_of("0123456789");
    const std::string_view digits = text_.substr(0, end);
    if (digits.empty()) return false;
    double unit = 1;
    for (const char c : digits) fraction += (unit /= 10) * (c - '0');
    text_.remove_prefix(digits.size());
    return true;
  }

 private:
  std::string_view text_;
};

}  // namespace

bool is_rule(std::string_view line, const Dialect& dialect) noexcept {
  const auto has = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  const bool has_stroke =
      has("----") || has("==") ||
      (dialect.delimiter == '|' && (has("+") || has(":-") || has("-:") || (dialect.short_rules && has("---"))));
  return has_stroke && line.find_first_not_of("-+|=: \t\r") == std::string_view::npos;
}

const char* find_newline(const char* p, const char* end) noexcept {
  const void* found = p == end ? nullptr : std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return found == nullptr ? end : static_cast<const char*>(found);
}

std::uint64_t count_newlines(const char* p, const char* end) noexcept {
  constexpr std::ptrdiff_t kBlock = 128;
  std::uint64_t count = 0;
  for (; end - p >= kBlock; p += kBlock) {
    std::uint8_t in_block = 0;
    for (std::ptrdiff_t i = 0; i < kBlock; ++i) in_block = static_cast<std::uint8_t>(in_block + (p[i] == '\n'));
    count += in_block;
  }
  return count + static_cast<std::uint64_t>(std::count(p, end, '\n'));
}

// Scans eight bytes at a time. The lowest bit of x - 0x01… & ~x & 0x80… is at the first zero byte of x; higher bits may
// be wrong.
const char* find_field_end(const char* p, const char* end, char delimiter) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
    const std::uint64_t delimiters = kOnes * static_cast<unsigned char>(delimiter);
    constexpr std::uint64_t kNewlines = kOnes * '\n';
    for (; end - p >= 8; p += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, p, sizeof word);
      const std::uint64_t a = word ^ delimiters;
      const std::uint64_t b = word ^ kNewlines;
      const std::uint64_t hits = (((a - kOnes) & ~a) | ((b - kOnes) & ~b)) & (kOnes << 7);
      if (hits != 0) return p + std::countr_zero(hits) / 8;
    }
  }
  while (p != end && *p != delimiter && *p != '\n') ++p;
  return p;
}

bool skip_line(const char*& p, const char* end, const Dialect& dialect) noexcept {
  const char* q = skip_blanks(p, end, dialect.delimiter);
  if (at_line_end(q, end)) {
    p = behind_line_end(q, end);
    return true;
  }
  const std::string_view rest(q, static_cast<std::size_t>(end - q));
  const bool is_comment = !dialect.comment.empty() && rest.starts_with(dialect.comment) &&
                          !begins_with_sheet_error(rest, dialect.delimiter);
  const char* const line_end = is_comment || dialect.delimiter == '|' ? find_newline(q, end) : q;
  if (!is_comment && (dialect.delimiter != '|' || !is_rule({q, line_end}, dialect))) return false;
  p = line_end == end ? end : line_end + 1;
  return true;
}

Field scan_field(const char* p, const char* end, char delimiter, std::string& scratch) {
  Field field;
  p = skip_blanks(p, end, delimiter);
  const auto find_end = [&](const char* from) {
    if (delimiter != kBlanks) return find_field_end(from, end, delimiter);
    while (!at_line_end(from, end) && !is_blank(*from, delimiter)) ++from;
    return from;
  };
  if (p == end || *p != '"') {
    field.end = find_end(p);
    field.text = trim_end(p, field.end, end);
    return field;
  }
  scratch.clear();
  for (++p;; ++p) {
    const void* quote = p == end ? nullptr : std::memchr(p, '"', static_cast<std::size_t>(end - p));
    if (quote == nullptr) {
      field.open_quote = true;
      field.end = end;
      return field;
    }
    const char* const stop = static_cast<const char*>(quote);
    scratch.append(p, stop);
    field.newlines += count_newlines(p, stop);
    p = stop + 1;
    if (p == end || *p != '"') break;
    scratch += '"';
  }
  field.end = find_end(p);
  scratch.append(trim_end(p, field.end, end));
  field.text = scratch;
  return field;
}

Record split_record(const char* p, const char* end, char delimiter) {
  Record record;
  std::string scratch;
  for (;;) {
    const Field field = scan_field(p, end, delimiter, scratch);
    record.fields.emplace_back(field.text);
    record.open_quote |= field.open_quote;
    record.lines += field.newlines;
    p = field.end;
    if (delimiter == kBlanks) p = skip_blanks(p, end, delimiter);
    if (at_line_end(p, end)) break;
    if (delimiter != kBlanks) ++p;
  }
  record.next = behind_line_end(p, end);
  record.lines += 1;
  return record;
}

std::optional<double> number_of(std::string_view text, char decimal) {
  if (decimal == '.') {
    if (const std::optional<double> number = parse_number(text)) return number;
  }
  std::string plain(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    char& c = plain[i];
    if (c == '.' && decimal != '.') return std::nullopt;
    if (c == decimal) c = '.';
    if ((c == 'd' || c == 'D') && i > 0 && (is_digit(plain[i - 1]) || plain[i - 1] == '.')) c = 'e';
  }
  return parse_number(plain);
}

bool is_rounded_integer(std::string_view text, double number) {
  if (!may_be_rounded(number)) return false;
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  if (!std::all_of(text.begin(), text.end(), is_digit)) return false;
  text.remove_prefix(text.find_first_not_of('0'));
  return text != fmt::format("{:.0f}", std::abs(number));
}

bool marks_nothing(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 14> kMarks{"",     "NA",   "N/A",  "n/a", "<NA>", "NaN", "nan",
                                                    "null", "NULL", "None", "-",   "--",   "---", "?"};
  return std::find(kMarks.begin(), kMarks.end(), text) != kMarks.end() || is_sheet_error(text);
}

bool has_decimal_comma(std::string_view text) noexcept {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  if (comma == 0 || comma == std::string_view::npos || comma + 1 == text.size()) return false;
  return std::all_of(text.begin(), text.end(), [&](const char& c) { return is_digit(c) || &c == &text[comma]; });
}

FieldKind kind_of(std::string_view field, const Dialect& dialect) {
  const std::string_view text = trim(field);
  if (marks_nothing(text)) return FieldKind::nothing;
  if (number_of(text, dialect.decimal)) return FieldKind::number;
  return dialect.delimiter != ',' && has_decimal_comma(text) ? FieldKind::number : FieldKind::text;
}

std::optional<double> iso_seconds(std::string_view text) noexcept {
  IsoScanner scan(text);
  int year = 0, month = 0, day = 0;
  if (!scan.take(4, 9999, year) || !scan.take('-') || !scan.take(2, 12, month) || !scan.take('-') ||
      !scan.take(2, 31, day)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const double midnight = 86400.0 * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (scan.done()) return midnight;
  int hour = 0, minute = 0, second = 0;
  double fraction = 0;
  if ((!scan.take('T') && !scan.take(' ')) || !scan.take(2, 24, hour) || !scan.take(':') || !scan.take(2, 59, minute)) {
    return std::nullopt;
  }
  if (scan.take(':')) {
    if (!scan.take(2, 60, second)) return std::nullopt;
    if ((scan.take('.') || scan.take(',')) && !scan.take_fraction(fraction)) return std::nullopt;
  }
  int offset = 0;
  if (!scan.take('Z') && !scan.done()) {
    const bool west = scan.front() == '-';
    int hours = 0, minutes = 0;
    if ((!scan.take('+') && !scan.take('-')) || !scan.take(2, 23, hours)) return std::nullopt;
    scan.take(':');
    if (!scan.done() && !scan.take(2, 59, minutes)) return std::nullopt;
    offset = (west ? -60 : 60) * (60 * hours + minutes);
  }
  if (!scan.done()) return std::nullopt;
  if (hour == 24 && (minute > 0 || second > 0 || fraction > 0)) return std::nullopt;
  return midnight + 3600.0 * hour + 60.0 * minute + second + fraction - offset;
}

}  // namespace epsflow::io
