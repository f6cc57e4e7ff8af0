#include <epsflow/io/read/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace epsflow::io {
namespace {

using Header = TextLayout::Header;

/// Rows that are looked at behind the header.
constexpr std::size_t kSampleRows = 100;
/// Rows that the delimiter is found from.
constexpr std::size_t kDelimiterRows = 20;

enum class Cell : std::uint8_t { number, nothing, text };

// A decimal comma is a number for whoever looks at the table; that the parser cannot read it is said later.
Cell classify(std::string_view field, const Dialect& dialect) {
  const std::string_view text = trim(field);
  if (marks_nothing(text)) return Cell::nothing;
  if (number_of(text, dialect.decimal)) return Cell::number;
  return dialect.delimiter != ',' && has_decimal_comma(text) ? Cell::number : Cell::text;
}

struct Row {
  Record record;
  std::uint64_t line = 0;  ///< of the file, from 1
  [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return record.fields; }
  [[nodiscard]] std::uint64_t lines_up_to_here() const noexcept { return line - 1 + record.lines; }
};

/// Up to `most` rows from p on, which is line `line`. Of the last one a quote may still be open.
std::vector<Row> sample_rows(const char* p, const char* end, const Dialect& dialect, std::uint64_t line,
                             std::size_t most) {
  std::vector<Row> rows;
  while (p != end && rows.size() < most) {
    if (skip_line(p, end, dialect)) {
      ++line;
      continue;
    }
    Record record = split_record(p, end, dialect.delimiter);
    p = record.next;
    rows.push_back({std::move(record), line});
    line = rows.back().lines_up_to_here() + 1;
  }
  return rows;
}

/// How well a delimiter explains the rows, the better the larger: the share of numbers, whether it occurs, whether all
/// rows have as many fields.
using Score = std::tuple<double, bool, bool>;

Score rate(const std::vector<Row>& rows, const Dialect& dialect) {
  const std::size_t first = rows.size() > 1 ? 1 : 0;  // what a header holds says nothing
  double numbers = 0;
  std::size_t fields = 0;
  bool is_even = true;
  bool has_several = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string>& row = rows[i].fields();
    is_even = is_even && row.size() == rows[0].fields().size();
    has_several = has_several || row.size() > 1;
    if (i < first) continue;
    fields += row.size();
    for (const std::string& field : row) {
      if (classify(field, dialect) == Cell::text) continue;
      // Of a line that is one field "1,5" the comma is as likely to be the delimiter.
      numbers += row.size() == 1 && has_decimal_comma(trim(field)) ? 0.5 : 1;
    }
  }
  return {fields == 0 ? 0 : numbers / static_cast<double>(fields), has_several, is_even};
}

char find_delimiter(const char* p, const char* end, Dialect dialect) {
  dialect.delimiter = kBlanks;
  char best = kBlanks;
  Score best_score = rate(sample_rows(p, end, dialect, 1, kDelimiterRows), dialect);
  for (const char candidate : {',', '|', ';', '\t'}) {
    if (candidate == dialect.decimal) continue;
    dialect.delimiter = candidate;
    const Score score = rate(sample_rows(p, end, dialect, 1, kDelimiterRows), dialect);
    if (!std::get<1>(score) || score < best_score) continue;
    best = candidate;
    best_score = score;
  }
  return best;
}

std::string delimiter_words(char delimiter) {
  constexpr std::array<std::pair<char, const char*>, 5> kWords{{{',', "comma-separated"},
                                                                {'\t', "tab-separated"},
                                                                {';', "semicolon-separated"},
                                                                {'|', "separated by bars"},
                                                                {kBlanks, "separated by blanks"}}};
  for (const auto& [known, words] : kWords) {
    if (known == delimiter) return words;
  }
  return "separated by " + show_text({&delimiter, 1});
}

/// The words of a comment line as column names, or nothing when they are not `count` words without a number.
std::vector<std::string> names_in_comment(std::string_view line, const Dialect& dialect, std::size_t count) {
  line = trim(line.substr(0, line.find_first_of("\r\n")));
  while (line.starts_with(dialect.comment)) line = trim(line.substr(dialect.comment.size()));
  for (const char delimiter : {dialect.delimiter, kBlanks}) {
    std::vector<std::string> words = split_record(line.data(), line.data() + line.size(), delimiter).fields;
    const bool fits = words.size() == count && std::all_of(words.begin(), words.end(), [&](const std::string& word) {
                        return !word.empty() && classify(word, dialect) == Cell::text;
                      });
    if (fits) return words;
  }
  return {};
}

/// Whether the fields count 0, 1, 2, … as pandas names columns that have no names, with its empty name of the index
/// before them.
bool are_column_numbers(const std::vector<std::string>& fields) {
  const std::size_t first = fields[0].empty() ? 1 : 0;
  if (fields.size() < 2) return false;
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (trim(fields[i]) != std::to_string(i - first)) return false;
  }
  return true;
}

class TableFinder {
 public:
  TableFinder(std::span<const char> text, std::uint64_t lines_before, const Source& source)
      : source_(source),
        options_(source.options.text),
        p_(text.data()),
        end_(p_ + text.size()),
        line_(lines_before + 1) {
    dialect_.comment = options_.comment;
    dialect_.decimal = options_.decimal;
  }

  std::optional<TextTable> find(bool is_whole) {
    if (!find_first_row()) return std::nullopt;
    rows_ = sample_rows(p_, end_, dialect_, line_, kSampleRows + 2);
    if (rows_.back().record.open_quote) {
      if (is_whole && rows_.size() <= 2) throw_open_quote(rows_.back().line);
      if (rows_.size() > 1) rows_.pop_back();
    }
    if (!is_whole && rows_.size() < 2) {
      throw source_.error<ResourceError>(
          "line {}, or the one behind it, is longer than what is taken for reading lines; raise ReadOptions::memory, "
          "or close a quote that is open there",
          line_);
    }
    strip_bars();
    find_names();
    if (delimiter_was_found() && dialect_.delimiter == ',') refuse_decimal_commas();
    return make_table();
  }

 private:
  [[nodiscard]] bool delimiter_was_found() const noexcept { return options_.delimiter == '\0'; }
  [[nodiscard]] Cell classify(const std::string& field) const { return io::classify(field, dialect_); }

  [[noreturn]] void throw_open_quote(std::uint64_t line) const {
    throw source_.error("line {}: a quote opened in this row is never closed; close or remove it", line);
  }

  /// Moves to the first row with the dialect that fits it; remembers a comment directly before it.
  bool find_first_row() {
    dialect_.delimiter = delimiter_was_found() ? kBlanks : options_.delimiter;
    skip_lines();
    if (p_ == end_) return false;
    const char* const first = skip_blanks(p_, end_, kBlanks);
    if (options_.header == Header::automatic && first != end_ && (*first == '[' || *first == '{')) {
      throw source_.error(
          "line {} begins as JSON does, which is not read; write the rows as CSV first, or skip a header that looks so "
          "with ReadOptions::text.skip_rows",
          line_);
    }
    if (!delimiter_was_found()) return true;
    dialect_.delimiter = find_delimiter(p_, end_, dialect_);
    skip_lines();  // the rule above a table with bars
    return p_ != end_;
  }

  void skip_lines() {
    while (p_ != end_) {
      const char* const line = p_;
      if (!skip_line(p_, end_, dialect_)) return;
      const char* const text = skip_blanks(line, end_, dialect_.delimiter);
      const std::string_view view(text, static_cast<std::size_t>(end_ - text));
      const bool is_comment = !dialect_.comment.empty() && view.starts_with(dialect_.comment);
      comment_ = is_comment ? view : std::string_view();
      ++line_;
    }
  }

  void strip_bars() {
    fields_ = rows_[0].fields().size();
    if (dialect_.delimiter != '|') return;
    const auto all_rows = [&](auto is_bar) { return std::all_of(rows_.begin(), rows_.end(), is_bar); };
    const bool leading = all_rows([](const Row& row) { return row.fields().size() > 1 && row.fields()[0].empty(); });
    const bool trailing = all_rows(
        [&](const Row& row) { return row.fields().size() > (leading ? 2 : 1) && row.fields().back().empty(); });
    for (Row& row : rows_) {
      if (leading) row.record.fields.erase(row.record.fields.begin());
      if (trailing) row.record.fields.pop_back();
    }
    first_field_ = leading ? 1 : 0;
    last_is_bar_ = trailing;
  }

  void find_names() {
    const std::vector<std::string>& first = rows_[0].fields();
    if (options_.header == Header::no) return;
    if (options_.header == Header::yes || is_header(first)) {
      names_ = first;
      description_ = fmt::format("header in line {}", rows_[0].line);
      data_row_ = 1;
      if (!are_units(1)) return;
      description_ += fmt::format(", units in line {}", rows_[1].line);
      data_row_ = 2;
      return;
    }
    names_ = comment_names();
    if (!names_.empty()) description_ = fmt::format("names from the comment in line {}", rows_[0].line - 1);
  }

  [[nodiscard]] std::vector<std::string> comment_names() const {
    if (comment_.empty()) return {};
    return names_in_comment(comment_, dialect_, rows_[0].fields().size());
  }

  /// Throws where it could be either.
  bool is_header(const std::vector<std::string>& first) const {
    const auto holds = [&](Cell kind) {
      return std::any_of(first.begin(), first.end(), [&](const std::string& f) { return classify(f) == kind; });
    };
    constexpr std::string_view kRemedy =
        "set ReadOptions::text.header = Header::yes where they name the columns, or Header::no where they are data";
    if (holds(Cell::number)) {
      if (are_column_numbers(first) && comment_names().empty()) {
        throw source_.error(
            "line {} holds the numbers 0 to {}, which may be a point or the names that pandas gives to columns without "
            "names; {}",
            rows_[0].line, first.back(), kRemedy);
      }
      return false;
    }
    if (!holds(Cell::text)) return false;
    if (rows_.size() == 1) {
      throw source_.error(
          "line {} holds no number but {}, and no row follows it; rows of numbers are needed, unless "
          "ReadOptions::text.header = Header::yes says that there are none",
          rows_[0].line, show_fields(first));
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (classify(first[i]) == Cell::text && count_below(0, i, Cell::number) > 0) return true;
    }
    throw source_.error(
        "line {} holds {}, and no number follows below its text, so that it may be a header or a row; {}",
        rows_[0].line, show_fields(first), kRemedy);
  }

  /// Whether a row behind the header names units: text, no number, and numbers alone below its text.
  [[nodiscard]] bool are_units(std::size_t row) const {
    if (rows_.size() < row + 2) return false;
    const std::vector<std::string>& fields = rows_[row].fields();
    bool has_text = false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Cell cell = classify(fields[i]);
      if (cell == Cell::number) return false;
      if (cell == Cell::nothing) continue;
      has_text = true;
      if (count_below(row, i, Cell::number) == 0 || count_below(row, i, Cell::text) > 0) return false;
    }
    return has_text;
  }

  [[nodiscard]] std::ptrdiff_t count_below(std::size_t row, std::size_t column, Cell kind) const {
    return std::count_if(rows_.begin() + static_cast<std::ptrdiff_t>(row) + 1, rows_.end(), [&](const Row& below) {
      return column < below.fields().size() && classify(below.fields()[column]) == kind;
    });
  }

  [[nodiscard]] static std::string show_fields(const std::vector<std::string>& fields) {
    constexpr std::size_t kShown = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(fields.size(), kShown); ++i) {
      text += (i == 0 ? "" : ", ") + show_text(fields[i]);
    }
    return fields.size() > kShown ? text + ", …" : text;
  }

  /// "1,05" is no point (1, 5).
  void refuse_decimal_commas() const {
    const auto are_digits = [](std::string_view text) {
      return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const Row* padded = nullptr;
    for (std::size_t i = data_row_; i < rows_.size(); ++i) {
      const std::vector<std::string>& fields = rows_[i].fields();
      if (fields.size() != 2 || fields[0].empty()) return;
      const std::string_view whole = fields[0];
      if (!are_digits(whole.front() == '-' ? whole.substr(1) : whole) || !are_digits(fields[1])) return;
      if (padded == nullptr && fields[1].size() > 1 && fields[1].front() == '0') padded = &rows_[i];
    }
    if (padded == nullptr) return;
    throw source_.error(
        "line {} is {},{}: a number with a decimal comma or two columns? Set ReadOptions::text.decimal = ',' or "
        "ReadOptions::text.delimiter = ','",
        padded->line, padded->fields()[0], padded->fields()[1]);
  }

  TextTable make_table() {
    TextTable table;
    table.columns.count = fields_ - first_field_ - (last_is_bar_ ? 1 : 0);
    table.columns.names = std::move(names_);
    table.selected = select_columns(source_, table.columns);
    table.units = units_of(table.selected);
    table.first_field = first_field_;
    table.shape.dialect = dialect_;
    table.shape.dims = table.selected.size();
    table.shape.slots.assign(fields_, kUnused);
    if (first_field_ > 0) table.shape.slots.front() = kBar;
    if (last_is_bar_) table.shape.slots.back() = kBar;
    for (std::size_t k = table.selected.size(); k-- > 0;) table.shape.slots[first_field_ + table.selected[k]] = k;
    if (source_.options.columns.empty()) require_numbers(table);
    const bool is_one_column = fields_ == 1 && delimiter_was_found();
    table.kind =
        fmt::format("text, {}{}, {}", is_one_column ? "one column" : delimiter_words(dialect_.delimiter),
                    dialect_.decimal == '.' ? "" : fmt::format(", decimal mark '{}'", dialect_.decimal), description_);
    const Row& before = rows_[data_row_ == 0 ? 0 : data_row_ - 1];
    table.data = data_row_ == 0 ? p_ : before.record.next;
    table.lines_before = data_row_ == 0 ? before.line - 1 : before.lines_up_to_here();
    return table;
  }

  [[nodiscard]] std::vector<std::string> units_of(const std::vector<std::size_t>& columns) const {
    std::vector<std::string> units;
    if (data_row_ < 2) return units;
    const std::vector<std::string>& fields = rows_[data_row_ - 1].fields();
    for (const std::size_t column : columns) {
      const bool is_said = column < fields.size() && classify(fields[column]) == Cell::text;
      units.emplace_back(is_said ? trim(fields[column]) : std::string_view());
    }
    return units;
  }

  /// With no columns asked for, a column of text is named before anything is parsed.
  void require_numbers(const TextTable& table) const {
    for (const std::size_t i : table.selected) {
      const Row* text = nullptr;
      bool has_number = false;
      for (std::size_t row = data_row_; row < rows_.size() && !has_number; ++row) {
        if (i >= rows_[row].fields().size()) continue;
        const Cell cell = classify(rows_[row].fields()[i]);
        has_number = cell == Cell::number;
        if (cell == Cell::text && text == nullptr) text = &rows_[row];
      }
      if (text == nullptr || has_number) continue;
      throw_not_numeric(source_, table.columns, i,
                        fmt::format("text ({} in line {})", show_text(text->fields()[i]), text->line));
    }
  }

  const Source& source_;
  const TextLayout& options_;
  const char* p_;
  const char* end_;
  std::uint64_t line_;
  Dialect dialect_;
  std::string_view comment_;
  std::vector<Row> rows_;
  std::size_t fields_ = 0;
  std::size_t first_field_ = 0;
  bool last_is_bar_ = false;
  std::vector<std::string> names_;
  std::string description_ = "no header";
  std::size_t data_row_ = 0;
};

}  // namespace

std::string TextTable::label(std::size_t field) const {
  return columns.label(std::clamp(field, first_field, first_field + columns.count - 1) - first_field);
}

void check_text_options(const TextLayout& options) {
  const auto is_taken = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' ||
           c == '"' || c == '\n' || c == '\r';
  };
  if (is_taken(options.delimiter)) {
    throw UsageError(
        fmt::format("ReadOptions::text.delimiter is {}, which numbers, quotes or line ends are made of; "
                    "choose another character",
                    show_text({&options.delimiter, 1})));
  }
  if (is_taken(options.decimal) || options.decimal == '\0' || is_blank(options.decimal, kBlanks)) {
    throw UsageError(fmt::format("ReadOptions::text.decimal is {}, which cannot part a fraction; choose '.' or ','",
                                 show_text({&options.decimal, 1})));
  }
  if (options.delimiter == options.decimal) {
    throw UsageError(
        fmt::format("ReadOptions::text.delimiter and ReadOptions::text.decimal are both {}; choose "
                    "different characters",
                    show_text({&options.decimal, 1})));
  }
}

std::optional<TextTable> find_table(std::span<const char> text, bool is_whole, std::uint64_t lines_before,
                                    const Source& source) {
  return TableFinder(text, lines_before, source).find(is_whole);
}

}  // namespace epsflow::io
