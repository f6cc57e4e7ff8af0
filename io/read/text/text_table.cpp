#include <epsflow/io/read/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <string_view>
#include <utility>

namespace epsflow::io {
namespace {

struct SampleRow {
  Record record;
  std::uint64_t line = 0;  ///< line in the file, from 1
  std::string_view text;   ///< the text from the begin of the row on
  [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return record.fields; }
};

/// Returns up to `most` rows from p on, which is line `line`. The last one may end within an open quote.
std::vector<SampleRow> sample_rows(const char* p, const char* end, const Dialect& dialect, std::uint64_t line,
                                   std::size_t most) {
  std::vector<SampleRow> rows;
  while (p != end && rows.size() < most) {
    if (skip_line(p, end, dialect)) {
      ++line;
      continue;
    }
    rows.push_back({split_record(p, end, dialect.delimiter), line, {p, end}});
    p = rows.back().record.next;
    line += rows.back().record.lines;
  }
  return rows;
}

/// How well a delimiter fits some rows. A larger score is better; the members are compared in their order.
struct DelimiterScore {
  double numbers = 0;    ///< share of numbers among the fields
  bool occurs = false;   ///< true if some row contains the delimiter
  bool is_even = false;  ///< true if all rows have the same number of fields

  friend auto operator<=>(const DelimiterScore&, const DelimiterScore&) = default;  // NOLINT(modernize-use-nullptr)
};

DelimiterScore rate(const std::vector<SampleRow>& rows, const Dialect& dialect) {
  double numbers = 0;
  std::size_t fields = 0;
  for (std::size_t i = rows.size() > 1 ? 1 : 0; i < rows.size(); ++i) {  // The first row may be a header.
    const std::vector<std::string>& row = rows[i].fields();
    fields += row.size();
    for (const std::string& field : row) {
      if (kind_of(field, dialect) == FieldKind::text) continue;
      // In a line of one field "1,5", the comma may be the delimiter.
      numbers += row.size() == 1 && has_decimal_comma(trim(field)) ? 0.5 : 1;
    }
  }
  const auto occurs = [](const SampleRow& row) { return row.fields().size() > 1; };
  const auto is_even = [&](const SampleRow& row) { return row.fields().size() == rows[0].fields().size(); };
  return {fields == 0 ? 0 : numbers / static_cast<double>(fields), std::any_of(rows.begin(), rows.end(), occurs),
          std::all_of(rows.begin(), rows.end(), is_even)};
}

constexpr std::array<std::pair<char, const char*>, 5> kDelimiters{{{kBlanks, "separated by blanks"},
                                                                   {',', "comma-separated"},
                                                                   {'|', "separated by bars"},
                                                                   {';', "semicolon-separated"},
                                                                   {'\t', "tab-separated"}}};

/// Returns the delimiter that fits the first rows best; among equals, the last.
char find_delimiter(const char* p, const char* end, Dialect dialect) {
  constexpr std::size_t kRows = 20;
  char best = kBlanks;
  DelimiterScore best_score;
  for (const auto& [candidate, words] : kDelimiters) {
    if (candidate == dialect.decimal) continue;
    dialect.delimiter = candidate;
    const DelimiterScore score = rate(sample_rows(p, end, dialect, 1, kRows), dialect);
    if ((candidate != kBlanks && !score.occurs) || score < best_score) continue;
    best = candidate;
    best_score = score;
  }
  return best;
}

std::string describe_delimiter(char delimiter) {
  for (const auto& [known, words] : kDelimiters) {
    if (known == delimiter) return words;
  }
  return "separated by " + show_text({&delimiter, 1});
}

/// True if the fields are 0, 1, 2, …, as pandas names columns without names, after an optional empty name of the index.
bool are_column_numbers(const std::vector<std::string>& fields) {
  const std::size_t first = fields[0].empty() ? 1 : 0;
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (trim(fields[i]) != std::to_string(i - first)) return false;
  }
  return fields.size() > 1;
}

/// Removes the next word and the blanks before it from the front of a line.
std::string_view take_word(std::string_view& line) noexcept {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r\n"));
  line.remove_prefix(word.size());
  return word;
}

std::string show_fields(const std::vector<std::string>& fields) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(fields.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + show_text(fields[i]);
  }
  return fields.size() > kShown ? text + ", …" : text;
}

/// Finds the table step by step; each step uses the results of the steps before.
class TableFinder {
 public:
  TableFinder(std::span<const char> text, std::uint64_t lines_before, const Source& source)
      : source_(source),
        options_(source.options.text),
        p_(text.data()),
        end_(p_ + text.size()),
        line_(lines_before + 1),
        dialect_{options_.delimiter, options_.decimal, options_.comment} {}

  std::optional<TextTable> find(bool is_whole) {
    const bool delimiter_is_given = options_.delimiter != '\0';
    if (!delimiter_is_given) dialect_.delimiter = kBlanks;
    skip_to_row();
    if (p_ == end_) return std::nullopt;
    refuse_json();
    if (!delimiter_is_given) {
      dialect_.delimiter = find_delimiter(p_, end_, dialect_);
      skip_to_row();  // skips the rule above a table with bars
      if (p_ == end_) return std::nullopt;
    }
    take_sample(is_whole);
    pass_rules(1);
    take_off_bars();
    take_header();
    pass_short_rules();
    if (!delimiter_is_given && dialect_.delimiter == ',') refuse_decimal_commas();
    return make_table(delimiter_is_given);
  }

 private:
  /// Skips to a row and remembers a comment directly before it.
  void skip_to_row() {
    while (p_ != end_) {
      const char* const line = p_;
      if (!skip_line(p_, end_, dialect_)) return;
      const std::string_view text(skip_blanks(line, end_, dialect_.delimiter), end_);
      const bool is_comment = !dialect_.comment.empty() && text.starts_with(dialect_.comment);
      comment_ = is_comment ? text : std::string_view();
      ++line_;
    }
  }

  void refuse_json() const {
    const char* const first = skip_blanks(p_, end_, kBlanks);
    if (options_.header != TextLayout::Header::automatic || first == end_ || (*first != '[' && *first != '{')) return;
    throw source_.error(
        "line {} begins as JSON does, which is not read; write the rows as CSV first, or skip a header that looks so "
        "with ReadOptions::text.skip_rows",
        line_);
  }

  void take_sample(bool is_whole) {
    constexpr std::size_t kRows = 100;  // data rows, besides header, units and rules
    rows_ = sample_rows(p_, end_, dialect_, line_, kRows + 5);
    if (rows_.back().record.open_quote) {
      if (is_whole && rows_.size() <= 2) {
        throw source_.error("line {}: a quote opened in this row is never closed; close or remove it",
                            rows_.back().line);
      }
      if (rows_.size() > 1) rows_.pop_back();
    }
    if (!is_whole && rows_.size() < 2) {
      throw source_.error<ResourceError>(
          "line {}, or the one behind it, is longer than what is taken for reading lines; raise ReadOptions::memory, "
          "or close a quote that is open there",
          line_);
    }
  }

  /// Removes the empty fields that result from bars at both ends of all rows.
  void take_off_bars() {
    fields_ = rows_[data_row_].fields().size();
    if (dialect_.delimiter != '|') return;
    const auto all_rows = [&](auto has_bar) { return std::all_of(rows_.begin(), rows_.end(), has_bar); };
    leading_ = all_rows([](const SampleRow& row) { return row.fields().size() > 1 && row.fields()[0].empty(); });
    trailing_ = all_rows(
        [&](const SampleRow& row) { return row.fields().size() > 1 + leading_ && row.fields().back().empty(); });
    for (SampleRow& row : rows_) {
      if (leading_ > 0) row.record.fields.erase(row.record.fields.begin());
      if (trailing_ > 0) row.record.fields.pop_back();
    }
  }

  /// Skips the header, and units and rules below it.
  void take_header() {
    if (options_.header == TextLayout::Header::no) return;
    if (options_.header == TextLayout::Header::yes || is_header()) {
      names_ = rows_[data_row_].fields();
      description_ = fmt::format("header in line {}", rows_[data_row_].line);
      pass_row();
      pass_rules(0);
      if (!are_units()) return;
      units_row_ = data_row_;
      description_ += fmt::format(", units in line {}", rows_[data_row_].line);
      pass_row();
      pass_rules(0);
    } else if (names_ = names_in_comment(); !names_.empty()) {
      description_ = fmt::format("names from the comment in line {}", rows_[0].line - 1);
    }
  }

  void pass_row() {
    const SampleRow& row = rows_[data_row_++];
    p_ = row.record.next;
    line_ = row.line + row.record.lines;
  }

  /// Skips rules, but leaves at least `left` rows. Rows of marks of missing values stay.
  void pass_rules(std::size_t left) {
    while (options_.header != TextLayout::Header::no && data_row_ + left < rows_.size() && is_rule_row(data_row_)) {
      rules_ += fmt::format(", dashes in line {}", rows_[data_row_].line);
      rules_row_ = data_row_;
      pass_row();
    }
  }

  [[nodiscard]] bool is_rule_row(std::size_t row) const {
    std::string line;
    for (const std::string& field : rows_[row].fields()) line += field + ' ';
    return is_rule(line, dialect_);
  }

  /// Skips rules of tables with bars. After the first data row, three dashes mark a missing value.
  void pass_short_rules() {
    if (dialect_.delimiter != '|') return;
    for (const char* line = p_; p_ != end_ && skip_line(p_, end_, dialect_); line = p_, ++line_) {
      const char* const begin = skip_blanks(line, end_, dialect_.delimiter);
      if (is_rule({begin, find_newline(begin, end_)}, dialect_)) rules_ += fmt::format(", dashes in line {}", line_);
    }
    dialect_.short_rules = false;
  }

  /// True if the first row is a header. Throws InputError if it could be either.
  [[nodiscard]] bool is_header() const {
    const std::vector<std::string>& first = rows_[data_row_].fields();
    constexpr std::string_view kRemedy =
        "set ReadOptions::text.header = Header::yes where they name the columns, or Header::no where they are data";
    bool has_text = false;
    bool has_number = false;
    bool has_number_below_text = false;
    for (std::size_t column = 0; column < first.size(); ++column) {
      const FieldKind kind = kind_at(rows_[data_row_], column);
      has_number = has_number || kind == FieldKind::number;
      if (kind != FieldKind::text) continue;
      has_text = true;
      has_number_below_text = has_number_below_text || find_kind(FieldKind::number, data_row_ + 1, column) != nullptr;
    }
    if (has_number && are_column_numbers(first) && names_in_comment().empty()) {
      throw source_.error(
          "line {} holds the numbers 0 to {}, which may be a point or the names that pandas gives to columns without "
          "names; {}",
          line_, first.back(), kRemedy);
    }
    if (has_number || !has_text) return false;
    if (data_row_ + 1 == rows_.size()) {
      throw source_.error(
          "line {} holds no number but {}, and no row follows it; rows of numbers are needed, unless "
          "ReadOptions::text.header = Header::yes says that there are none",
          line_, show_fields(first));
    }
    if (has_number_below_text) return true;
    throw source_.error(
        "line {} holds {}, and no number follows below its text, so that it may be a header or a row; {}", line_,
        show_fields(first), kRemedy);
  }

  /// True if the row below a header holds units. It must hold text, no number, and only numbers below its text. If a
  /// rule follows, the row may also hold numbers or be empty, unless it has numbers but no text above numbers.
  [[nodiscard]] bool are_units() const {
    const std::size_t below = data_row_ + 1;
    if (below >= rows_.size()) return false;
    const bool has_rule = is_rule_row(below);
    const std::vector<std::string> units = units_in(rows_[data_row_], has_rule ? below : rules_row_);
    if (has_rule && units.size() != names_.size()) return false;
    bool has_number = false;
    bool has_unit = false;
    bool has_other_text = false;
    for (std::size_t column = 0; column < units.size(); ++column) {
      const FieldKind kind = kind_of(units[column], dialect_);
      has_number = has_number || kind == FieldKind::number;
      if (kind != FieldKind::text) continue;
      const bool is_unit = find_kind(FieldKind::number, below, column) != nullptr &&
                           (has_rule || find_kind(FieldKind::text, below, column) == nullptr);
      (is_unit ? has_unit : has_other_text) = true;
    }
    return has_rule ? has_unit || !has_number : has_unit && !has_number && !has_other_text;
  }

  /// Returns the fields of a row of units. If blanks separate the columns, an empty unit leaves no field. If `rule` has
  /// dashes for each column, units are then assigned to columns by their position relative to the dashes.
  [[nodiscard]] std::vector<std::string> units_in(const SampleRow& row, std::optional<std::size_t> rule) const {
    std::vector<std::string> units = row.fields();
    const bool has_positions = rule && dialect_.delimiter == kBlanks && rows_[*rule].fields().size() == names_.size();
    if (units.size() == names_.size() || !has_positions) return units;
    units.assign(names_.size(), "");
    const char* const begin = rows_[*rule].text.data();
    std::string_view strokes = rows_[*rule].text;
    std::string_view words = row.text;
    std::string_view stroke = take_word(strokes);
    std::size_t column = 0;
    for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
      while (column + 1 < units.size() && stroke.data() + stroke.size() - begin <= word.data() - row.text.data()) {
        stroke = take_word(strokes);
        ++column;
      }
      units[column] += (units[column].empty() ? "" : " ") + std::string(word);
    }
    return units;
  }

  /// Returns the words of the comment directly before the first row, if there is one per column and none is a number.
  [[nodiscard]] std::vector<std::string> names_in_comment() const {
    std::string_view line = trim(comment_.substr(0, comment_.find_first_of("\r\n")));
    if (line.empty()) return {};
    while (line.starts_with(dialect_.comment)) line = trim(line.substr(dialect_.comment.size()));
    for (const char delimiter : {dialect_.delimiter, kBlanks}) {
      std::vector<std::string> words = split_record(line.data(), line.data() + line.size(), delimiter).fields;
      const auto is_name = [&](const std::string& word) {
        return !word.empty() && kind_of(word, dialect_) == FieldKind::text && !is_rule(word, dialect_);
      };
      if (words.size() == rows_[data_row_].fields().size() && std::all_of(words.begin(), words.end(), is_name))
        return words;
    }
    return {};
  }

  /// Throws InputError if commas may be decimal commas: "1,05" is not the point (1, 5).
  void refuse_decimal_commas() const {
    const auto are_digits = [](std::string_view text) {
      return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const SampleRow* padded = nullptr;
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

  [[nodiscard]] TextTable make_table(bool delimiter_is_given) const {
    TextTable table;
    table.columns.count = fields_ - leading_ - trailing_;
    table.columns.names = names_;
    table.chosen = select_elements(source_, table.columns);
    if (source_.options.columns.empty()) require_numbers(table);
    table.has_units = units_row_.has_value();
    if (table.has_units) {
      const std::vector<std::string> units = units_in(rows_[*units_row_], rules_row_);
      for (ElementChoice& choice : table.chosen) {
        const bool has_unit =
            choice.column < units.size() && kind_of(units[choice.column], dialect_) == FieldKind::text;
        if (has_unit) choice.unit = trim(units[choice.column]);
      }
    }
    table.first_field = leading_;
    table.shape.dialect = dialect_;
    table.shape.dims = table.chosen.size();
    table.shape.slots.assign(fields_, kUnused);
    if (leading_ > 0) table.shape.slots.front() = kBar;
    if (trailing_ > 0) table.shape.slots.back() = kBar;
    for (std::size_t k = table.chosen.size(); k-- > 0;) table.shape.slots[leading_ + table.chosen[k].column] = k;
    const bool is_one_column = fields_ == 1 && !delimiter_is_given;
    table.kind = fmt::format("text, {}{}, {}", is_one_column ? "one column" : describe_delimiter(dialect_.delimiter),
                             dialect_.decimal == '.' ? "" : fmt::format(", decimal mark '{}'", dialect_.decimal),
                             description_ + rules_);
    table.data = p_;
    table.lines_before = line_ - 1;
    return table;
  }

  /// If the default columns include a column of text, throws InputError that names it before parsing.
  void require_numbers(const TextTable& table) const {
    for (const ElementChoice& choice : table.chosen) {
      const SampleRow* const text = find_kind(FieldKind::text, data_row_, choice.column);
      if (text == nullptr || find_kind(FieldKind::number, data_row_, choice.column) != nullptr) continue;
      throw_not_numeric(source_, table.columns, choice.column,
                        fmt::format("text ({} in line {})", show_text(text->fields()[choice.column]), text->line));
    }
  }

  /// Returns the first row from `row` on with a field of this kind in the column, or null.
  [[nodiscard]] const SampleRow* find_kind(FieldKind kind, std::size_t row, std::size_t column) const {
    for (; row < rows_.size(); ++row) {
      if (kind_at(rows_[row], column) == kind) return &rows_[row];
    }
    return nullptr;
  }

  [[nodiscard]] FieldKind kind_at(const SampleRow& row, std::size_t column) const {
    return column < row.fields().size() ? kind_of(row.fields()[column], dialect_) : FieldKind::nothing;
  }

  const Source& source_;
  const TextLayout& options_;
  const char* p_;  ///< end of the text that has been interpreted
  const char* end_;
  std::uint64_t line_;  ///< line of p_
  Dialect dialect_;
  std::string_view comment_;
  std::vector<SampleRow> rows_;
  std::size_t fields_ = 0;    ///< fields of a row, including the empty ones outside of bars
  std::size_t leading_ = 0;   ///< 1 if rows begin with a bar
  std::size_t trailing_ = 0;  ///< 1 if rows end with a bar
  std::vector<std::string> names_;
  std::string description_ = "no header";
  std::string rules_;         ///< description of the rules
  std::size_t data_row_ = 0;  ///< the first of rows_ that has not been interpreted; in the end the first data row
  std::optional<std::size_t> units_row_ = {};
  std::optional<std::size_t> rules_row_ = {};  ///< the last rule
};

}  // namespace

std::string TextTable::label(std::size_t field) const {
  return columns.label(std::clamp(field, first_field, first_field + columns.count - 1) - first_field);
}

std::optional<TextTable> find_table(std::span<const char> text, bool is_whole, std::uint64_t lines_before,
                                    const Source& source) {
  return TableFinder(text, lines_before, source).find(is_whole);
}

}  // namespace epsflow::io
