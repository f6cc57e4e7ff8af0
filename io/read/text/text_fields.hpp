// Lines and fields of text tables: their ends and their meaning.
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
  std::string comment = "#";  ///< lines that begin with this are comments, except as in skip_line(); empty: none are
  /// With bars as delimiters: true if a line of fields of three dashes is a rule, as below a header; false if three
  /// dashes mark a missing value, as the reader sets it for the rows after the header.
  bool short_rules = true;
};

/// True if p is at the end of the text or of a line: LF, CRLF, or CR at the end of the text.
[[nodiscard]] inline bool at_line_end(const char* p, const char* end) noexcept {
  return p == end || *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] == '\n'));
}

/// Returns the begin of the line after the line end at p; end if it was the last.
[[nodiscard]] inline const char* behind_line_end(const char* p, const char* end) noexcept {
  if (p != end && *p == '\r') ++p;
  return p == end ? end : p + 1;
}

/// True for a blank within a line. A tab is not a blank if it is the delimiter.
[[nodiscard]] inline bool is_blank(char c, char delimiter) noexcept {
  return c == ' ' || (c == '\t' && delimiter != '\t');
}

[[nodiscard]] inline const char* skip_blanks(const char* p, const char* end, char delimiter) noexcept {
  while (p != end && is_blank(*p, delimiter)) ++p;
  return p;
}

/// Returns the first line feed at or after p, or end.
[[nodiscard]] const char* find_newline(const char* p, const char* end) noexcept;
[[nodiscard]] std::uint64_t count_newlines(const char* p, const char* end) noexcept;

/// Returns the first line feed or `delimiter`, taken as this one character, at or after p, or end.
[[nodiscard]] const char* find_field_end(const char* p, const char* end, char delimiter) noexcept;

/// True if a line is a rule, not a row: it consists of -+|=: and blanks, and contains "----" or "=="; with bars as
/// delimiters also if it contains "+", ":-", "-:" or, with dialect.short_rules, "---".
[[nodiscard]] bool is_rule(std::string_view line, const Dialect& dialect) noexcept;

/// Skips the line at p if it is not a row: blank, a comment, or, with bars as delimiters, a rule. (With other
/// delimiters the reader skips rules itself, and only above the first row and below the header and its units.) Returns
/// true if it skipped the line; else p is unchanged. Spreadsheets' marks for a missing value or a failed formula, such
/// as #N/A and #DIV/0!, do not begin a comment.
[[nodiscard]] bool skip_line(const char*& p, const char* end, const Dialect& dialect) noexcept;

/// One field as text, and its end: at a delimiter, a line end, or the end of the text. The text has no blanks around
/// it, except those within quotes.
struct Field {
  const char* end = nullptr;
  std::string_view text;
  bool open_quote = false;     ///< a quote that is never closed
  std::uint64_t newlines = 0;  ///< line ends inside the quotes
};

/// Scans the field at p. Quoted text is assembled in `scratch`, to which `text` then points. If a quote is never
/// closed, `text` is empty.
[[nodiscard]] Field scan_field(const char* p, const char* end, char delimiter, std::string& scratch);

/// The fields of one row.
struct Record {
  std::vector<std::string> fields;
  const char* next = nullptr;  ///< the line after the row
  std::uint64_t lines = 0;     ///< the lines that the row takes: several if quoted fields contain line ends
  bool open_quote = false;     ///< a field has a quote that is never closed
};

/// Splits the row that begins at p.
[[nodiscard]] Record split_record(const char* p, const char* end, char delimiter);

/// Returns the number in a trimmed field; nullopt for other text. Accepts nan, infinities and Fortran's exponents
/// (1D+05). decimal: the decimal mark; with another mark than a point, text with a point is not a number.
[[nodiscard]] std::optional<double> number_of(std::string_view text, char decimal);

/// True if a trimmed field is an integer in digits that float64 cannot represent. number: its rounded value.
[[nodiscard]] bool is_rounded_integer(std::string_view text, double number);

/// True if a trimmed field marks a missing value: if it is empty, NA, N/A, <NA>, NaN, null, None, one to three dashes,
/// ?, or an error of a spreadsheet such as #DIV/0!.
[[nodiscard]] bool marks_nothing(std::string_view text) noexcept;

/// True if a trimmed field would be a number with a decimal comma: 1,5.
[[nodiscard]] bool has_decimal_comma(std::string_view text) noexcept;

enum class FieldKind : std::uint8_t { number, nothing, text };

/// Classifies a field, trimmed or not. `nan` is nothing. With another delimiter than a comma, 1,5 is a number even if
/// dialect.decimal is a point; the parser refuses it later.
[[nodiscard]] FieldKind kind_of(std::string_view field, const Dialect& dialect);

/// Returns the seconds since 1970-01-01T00:00:00Z of an ISO 8601 time: a date (2015-03-17), or a date and a time after
/// T or a blank, to the minute, the second or a fraction of it, with Z, an offset (+01:00, +0100 or +01) or neither,
/// which means UTC. Returns nothing for any other text, blanks around a time included.
[[nodiscard]] std::optional<double> iso_seconds(std::string_view text) noexcept;

}  // namespace epsflow::io
