// Lines and fields of text tables: where they begin and end, and what a field says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::io {

/// The delimiter that stands for runs of blanks and tabs.
inline constexpr char kBlanks = ' ';

/// How the text of a table is written.
struct Dialect {
  char delimiter = ',';
  char decimal = '.';
  std::string comment = "#";  ///< lines that begin with this are none of the table's; empty: there are no such lines
  /// With bars as delimiters: whether three dashes make a rule, as below a header. In the rows they mean that a value is missing.
  bool short_rules = true;
};

/// Whether p is at the end of the text or of a line, which is LF or CRLF.
[[nodiscard]] inline bool at_line_end(const char* p, const char* end) noexcept {
  return p == end || *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] == '\n'));
}

/// The line behind the line end at p.
[[nodiscard]] inline const char* behind_line_end(const char* p, const char* end) noexcept {
  if (p != end && *p == '\r') ++p;
  return p == end ? end : p + 1;
}

/// Blank within a line: never the delimiter itself, but for blanks.
[[nodiscard]] inline bool is_blank(char c, char delimiter) noexcept {
  return c == ' ' || (c == '\t' && delimiter != '\t');
}

[[nodiscard]] inline const char* skip_blanks(const char* p, const char* end, char delimiter) noexcept {
  while (p != end && is_blank(*p, delimiter)) ++p;
  return p;
}

/// The first line feed at or behind p, or end.
[[nodiscard]] const char* find_newline(const char* p, const char* end) noexcept;
[[nodiscard]] std::uint64_t count_newlines(const char* p, const char* end) noexcept;

/// The first delimiter or line feed at or behind p, or end.
[[nodiscard]] const char* find_field_end(const char* p, const char* end, char delimiter) noexcept;

/// Whether a line is a rule and no row: -+|=: and blanks alone, such as "---- ------", "=====" and, with bars as delimiters, "+---+" and
/// "|:--|". Fields of up to three dashes are marks of missing values and make no rule, unless `dialect` says so.
[[nodiscard]] bool is_rule(std::string_view line, const Dialect& dialect) noexcept;

/// Steps over one line when it is no row: blank, a comment, or, with bars as delimiters, a rule. A comment does not begin with what
/// spreadsheets write for a value that is missing or that a formula could not give, such as #N/A and #DIV/0!.
[[nodiscard]] bool skip_line(const char*& p, const char* end, const Dialect& dialect) noexcept;

/// One field as text without blanks around it, and where it ends: at a delimiter, a line end, or the end of the text.
struct Field {
  const char* end = nullptr;
  std::string_view text;
  bool open_quote = false;     ///< a quote that is never closed
  std::uint64_t newlines = 0;  ///< inside the quotes
};

/// Scans the field at p. Quoted text is put together in `scratch`, which `text` then shows.
[[nodiscard]] Field scan_field(const char* p, const char* end, char delimiter, std::string& scratch);

/// A row as texts.
struct Record {
  std::vector<std::string> fields;
  const char* next = nullptr;  ///< the line behind
  std::uint64_t lines = 0;
  bool open_quote = false;
};

[[nodiscard]] Record split_record(const char* p, const char* end, char delimiter);

/// The number that a trimmed field is, nan and infinities included, and with the exponents of Fortran (1D+05).
[[nodiscard]] std::optional<double> number_of(std::string_view text, char decimal);

/// Whether a trimmed field is an integer in digits alone that float64, as `number`, does not hold.
[[nodiscard]] bool is_rounded_integer(std::string_view text, double number);

/// Whether a trimmed field says that there is no value: empty, NA, null, -, #DIV/0!, ….
[[nodiscard]] bool marks_nothing(std::string_view text) noexcept;

/// Whether a trimmed field would be a number if the comma were its decimal mark: 1,5.
[[nodiscard]] bool has_decimal_comma(std::string_view text) noexcept;

enum class FieldKind : std::uint8_t { number, nothing, text };

/// A decimal comma is a number for whoever looks at the table; that the parser cannot read it is said later.
[[nodiscard]] FieldKind kind_of(std::string_view field, const Dialect& dialect);

}  // namespace epsflow::io
