#include <epsflow/io/text_reader.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <future>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/io/decimal.hpp>

namespace epsflow::io {
namespace {

/// The delimiter that stands for runs of blanks and tabs.
constexpr char kBlanks = ' ';
constexpr std::size_t kUnused = std::numeric_limits<std::size_t>::max();
/// Less text than this per thread is not worth a thread.
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;

bool at_line_end(const char* p, const char* end) noexcept { return p == end || *p == '\n'; }

/// Blank within a line: never the delimiter itself.
bool is_blank(char c, char delimiter) noexcept { return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t'); }

std::string_view trim_end(std::string_view text) noexcept {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The first delimiter or line end at or behind p, or end. Eight bytes at a time: a byte of x - 0x01… & ~x & 0x80… is
/// set first where x has its first zero byte (higher ones may be false, and are not looked at).
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

/// Steps over one line when it is blank or a comment.
bool skip_empty_line(const char*& p, const char* end, char delimiter) noexcept {
  const char* q = p;
  while (q != end && is_blank(*q, delimiter)) ++q;
  if (q != end && *q == '#') q = find_newline(q, end);
  if (!at_line_end(q, end)) return false;
  p = q == end ? end : q + 1;
  return true;
}

/// One field as text, and where it ends: at a delimiter, a line end, or the end of the text.
struct Field {
  const char* end = nullptr;
  std::string_view text;
  bool open_quote = false;     ///< a quote that is never closed
  std::uint64_t newlines = 0;  ///< inside the quotes
};

/// Scans the field at p. Quoted text that needs unescaping is put together in `scratch`, which `text` then shows.
Field scan_field(const char* p, const char* end, char delimiter, std::string& scratch) {
  Field field;
  while (p != end && is_blank(*p, delimiter)) ++p;
  const auto find_end = [&](const char* from) {
    if (delimiter != kBlanks) return find_field_end(from, end, delimiter);
    while (!at_line_end(from, end) && !is_blank(*from, delimiter)) ++from;
    return from;
  };
  if (p == end || *p != '"') {
    field.end = find_end(p);
    field.text = trim_end({p, static_cast<std::size_t>(field.end - p)});
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
  scratch.append(trim_end({p, static_cast<std::size_t>(field.end - p)}));
  field.text = scratch;
  return field;
}

/// A row as texts: for the header, for a look at the first rows, and for errors.
struct Record {
  std::vector<std::string> fields;
  const char* next = nullptr;  ///< the line behind
  std::uint64_t lines = 0;
  bool open_quote = false;
};

Record split_record(const char* p, const char* end, char delimiter) {
  Record record;
  std::string scratch;
  for (;;) {
    const Field field = scan_field(p, end, delimiter, scratch);
    record.fields.emplace_back(field.text);
    record.open_quote |= field.open_quote;
    record.lines += field.newlines;
    p = field.end;
    if (delimiter == kBlanks) {
      while (p != end && is_blank(*p, delimiter)) ++p;
    }
    if (at_line_end(p, end)) break;
    if (delimiter != kBlanks) ++p;
  }
  record.next = p == end ? end : p + 1;
  record.lines += 1;
  return record;
}

/// Whether a trimmed field counts as a number when a header is looked for.
bool is_number_or_empty(std::string_view text) noexcept {
  const std::string_view trimmed = trim_end(text);
  return trimmed.empty() || parse_number(trimmed).has_value();
}

/// How often each candidate delimiter occurs in the row at p, quoted text aside; p moves to the next line.
std::array<std::size_t, 3> count_delimiters(const char*& p, const char* end, std::string_view candidates) noexcept {
  std::array<std::size_t, 3> counts{};
  bool quoted = false;
  for (; p != end && (quoted || *p != '\n'); ++p) {
    if (*p == '"') quoted = !quoted;
    if (quoted) continue;
    const std::size_t which = candidates.find(*p);
    if (which != std::string_view::npos) ++counts[which];
  }
  if (p != end) ++p;
  return counts;
}

char detect_delimiter(const char* p, const char* end) noexcept {
  constexpr std::string_view kCandidates = ",\t;";
  const auto first = count_delimiters(p, end, kCandidates);
  while (p != end && skip_empty_line(p, end, kBlanks)) {
  }
  const bool has_second = p != end;
  const auto second = count_delimiters(p, end, kCandidates);
  // A header such as "time (s, UTC);lat" holds delimiters that are none; the next row tells.
  for (std::size_t i = 0; has_second && i < kCandidates.size(); ++i) {
    if (first[i] > 0 && first[i] == second[i]) return kCandidates[i];
  }
  for (std::size_t i = 0; i < kCandidates.size(); ++i) {
    if (first[i] > 0) return kCandidates[i];
  }
  return kBlanks;
}

/// What is known of the table before its rows are read.
struct Layout {
  char delimiter = ',';
  bool has_quotes = false;
  ColumnList columns;
  std::vector<std::size_t> selected;
  std::vector<std::size_t> slots;  ///< [columns.count] coordinate that a field becomes, or kUnused
  const char* data = nullptr;      ///< the line behind the header
  std::uint64_t lines_before = 0;
};

enum class Fault : std::uint8_t { none, ragged, open_quote, not_finite, not_a_number };

/// What became of the rows of one stretch of lines.
struct ChunkResult {
  std::uint64_t rows = 0;  ///< data rows seen, the faulty one not counted
  std::uint64_t kept = 0;
  std::uint64_t lines = 0;  ///< lines before the faulty row
  Fault fault = Fault::none;
  std::size_t fault_field = 0;
  const char* fault_row = nullptr;
  std::vector<std::uint64_t> dropped;  ///< rows, counted from the first of the stretch
};

/// Parses whole lines into rows of `out`, which has room for all of them. Stops at the first fault.
template <bool kBlankDelimited>
class ChunkParser {
 public:
  ChunkParser(const Layout& layout, NanPolicy on_nan, const char* end) noexcept
      : slots_(layout.slots.data()),
        fields_(layout.slots.size()),
        dims_(layout.selected.size()),
        end_(end),
        delimiter_(layout.delimiter),
        drop_(on_nan == NanPolicy::drop) {}

  ChunkResult parse(const char* p, double* out) {
    ChunkResult result;
    while (p != end_) {
      // No row of numbers begins with a character up to '#', except for blanks and quotes.
      if (*p <= '#' && skip_empty_line(p, end_, delimiter_)) {
        ++result.lines;
        continue;
      }
      const char* const row = p;
      row_lines_ = 1;
      row_finite_ = true;
      fault_ = Fault::none;
      p = parse_row(p, out);
      if (fault_ != Fault::none) {
        result.fault = fault_;
        result.fault_field = fault_field_;
        result.fault_row = row;
        return result;
      }
      result.lines += row_lines_;
      if (row_finite_) {
        ++result.kept;
        out += dims_;
      } else {
        result.dropped.push_back(result.rows);
      }
      ++result.rows;
    }
    return result;
  }

 private:
  const char* parse_row(const char* p, double* out) {
    for (std::size_t field = 0;; ++field) {
      const std::size_t slot = slots_[field];
      p = slot == kUnused ? skip_field(p, field) : parse_field(p, field, out[slot]);
      if (fault_ != Fault::none) return p;
      if constexpr (kBlankDelimited) p = skip_blanks(p);
      const bool line_ends = at_line_end(p, end_);
      const bool fields_end = field + 1 == fields_;
      if (line_ends != fields_end) return fail(Fault::ragged, field, p);
      if (fields_end) return p == end_ ? p : p + 1;
      if constexpr (!kBlankDelimited) ++p;
    }
  }

  const char* parse_field(const char* p, std::size_t field, double& value) {
    p = skip_blanks(p);
    const char* const stop = scan_decimal(p, end_, value);
    if (stop != nullptr) {
      if (stop == end_ || *stop == delimiter_ || *stop == '\n') return stop;
      if (*stop == '\r' && stop + 1 != end_ && stop[1] == '\n') return stop + 1;
    }
    return parse_odd_field(p, field, value);
  }

  /// Everything that the fast path leaves: quotes, blanks, signs, nan, long numbers, text.
  const char* parse_odd_field(const char* p, std::size_t field, double& value) {
    const Field found = scan_field(p, end_, delimiter_, scratch_);
    if (found.open_quote) return fail(Fault::open_quote, field, p);
    row_lines_ += found.newlines;
    std::string_view text = trim_end(found.text);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    const std::optional<double> number = text.empty() ? std::numeric_limits<double>::quiet_NaN() : parse_number(text);
    if (number && std::isfinite(*number)) {
      value = *number;
      return found.end;
    }
    row_finite_ = false;
    if (drop_) return found.end;
    return fail(number ? Fault::not_finite : Fault::not_a_number, field, p);
  }

  const char* skip_field(const char* p, std::size_t field) {
    p = skip_blanks(p);
    if (p != end_ && *p == '"') {
      const Field found = scan_field(p, end_, delimiter_, scratch_);
      if (found.open_quote) return fail(Fault::open_quote, field, p);
      row_lines_ += found.newlines;
      return found.end;
    }
    if constexpr (kBlankDelimited) {
      while (!at_line_end(p, end_) && !is_blank(*p, delimiter_)) ++p;
      return p;
    }
    return find_field_end(p, end_, delimiter_);
  }

  const char* skip_blanks(const char* p) const noexcept {
    while (p != end_ && is_blank(*p, delimiter_)) ++p;
    return p;
  }

  const char* fail(Fault fault, std::size_t field, const char* p) noexcept {
    fault_ = fault;
    fault_field_ = field;
    return p;
  }

  const std::size_t* slots_;
  std::size_t fields_;
  std::size_t dims_;
  const char* end_;
  char delimiter_;
  bool drop_;
  std::string scratch_;
  std::uint64_t row_lines_ = 0;
  bool row_finite_ = true;
  Fault fault_ = Fault::none;
  std::size_t fault_field_ = 0;
};

ChunkResult parse_chunk(const Layout& layout, NanPolicy on_nan, std::span<const char> chunk, double* out) {
  const char* const end = chunk.data() + chunk.size();
  if (layout.delimiter == kBlanks) return ChunkParser<true>(layout, on_nan, end).parse(chunk.data(), out);
  return ChunkParser<false>(layout, on_nan, end).parse(chunk.data(), out);
}

/// Exactly how many rows the parser will see, for the case that the bound exceeds the memory budget.
std::uint64_t count_rows(const Layout& layout, std::span<const char> chunk) {
  const char* p = chunk.data();
  const char* const end = p + chunk.size();
  std::uint64_t rows = 0;
  while (p != end) {
    if (skip_empty_line(p, end, layout.delimiter)) continue;
    ++rows;
    if (layout.has_quotes) {
      p = split_record(p, end, layout.delimiter).next;
    } else {
      p = find_newline(p, end);
      if (p != end) ++p;
    }
  }
  return rows;
}

/// Calls f(i) for i in [0, count), each on a thread of its own where there is more than one.
template <class F>
void for_each_parallel(std::size_t count, F f) {
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < count; ++i) {
    others.push_back(std::async(std::launch::async | std::launch::deferred, f, i));
  }
  if (count > 0) f(std::size_t{0});
  for (std::future<void>& other : others) other.get();
}

std::vector<std::span<const char>> split_at_lines(std::span<const char> text, std::size_t parts) {
  std::vector<std::span<const char>> chunks;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (std::size_t i = 0; i < parts && p != end; ++i) {
    const char* stop = i + 1 == parts ? end : std::max(p, text.data() + text.size() / parts * (i + 1));
    stop = find_newline(stop, end);
    if (stop != end) ++stop;
    chunks.emplace_back(p, stop);
    p = stop;
  }
  return chunks;
}

[[noreturn]] void throw_fault(const Source& source, const Layout& layout, const ChunkResult& result,
                              std::span<const char> text, std::uint64_t lines_before, std::uint64_t rows_before) {
  const Record record = split_record(result.fault_row, text.data() + text.size(), layout.delimiter);
  const std::string where =
      fmt::format("{}: line {} (row {})", source.name, lines_before + result.lines + 1, rows_before + result.rows);
  const std::string column = layout.columns.label(result.fault_field);
  const std::string value = result.fault_field < record.fields.size() ? record.fields[result.fault_field] : "";
  switch (result.fault) {
    case Fault::open_quote:
      throw InputError(where + ": a quote opened in this row is never closed; close or remove it");
    case Fault::ragged:
      throw InputError(
          fmt::format("{} has {} fields, but {} are expected as in the first row; correct the line, or put "
                      "fields that hold the delimiter in quotes",
                      where, record.fields.size(), layout.columns.count));
    case Fault::not_finite:
      throw InputError(
          fmt::format("{}, column {} is {}; DBSCAN needs finite coordinates: drop such rows with --on-nan drop", where,
                      column, trim_end(value).empty() ? "empty" : show_text(value)));
    default:
      throw InputError(fmt::format(
          "{}, column {} is {}, not a number; choose the coordinates with --columns from: {}; or drop such rows with "
          "--on-nan drop",
          where, column, show_text(value), layout.columns.describe()));
  }
}

/// With no columns asked for, a column of text would fail late, or under NanPolicy::drop lose every row: look ahead.
void require_numeric_columns(const Source& source, const Layout& layout, const char* end) {
  constexpr std::size_t kRows = 100;
  std::vector<bool> has_text(layout.columns.count, false);
  std::vector<bool> has_number(layout.columns.count, false);
  const char* p = layout.data;
  for (std::size_t rows = 0; rows < kRows && p != end;) {
    if (skip_empty_line(p, end, layout.delimiter)) continue;
    const Record record = split_record(p, end, layout.delimiter);
    for (std::size_t i = 0; i < std::min(record.fields.size(), layout.columns.count); ++i) {
      (is_number_or_empty(record.fields[i]) ? has_number : has_text)[i] = true;
    }
    p = record.next;
    ++rows;
  }
  for (std::size_t i = 0; i < layout.columns.count; ++i) {
    if (has_text[i] && !has_number[i]) throw_not_numeric(source, layout.columns, i, "text");
  }
}

Layout find_layout(std::span<const char> text, const Source& source) {
  Layout layout;
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end && skip_empty_line(p, end, kBlanks)) ++layout.lines_before;
  if (p == end) {
    throw InputError(source.name +
                     ": empty: there is nothing but blank lines and comments; rows of numbers are needed");
  }
  layout.has_quotes = std::memchr(p, '"', static_cast<std::size_t>(end - p)) != nullptr;
  layout.delimiter = detect_delimiter(p, end);
  layout.data = p;
  Record first = split_record(p, end, layout.delimiter);
  if (first.open_quote) {
    throw InputError(fmt::format("{}: line {}: a quote opened in this row is never closed; close or remove it",
                                 source.name, layout.lines_before + 1));
  }
  layout.columns.count = first.fields.size();
  if (!std::all_of(first.fields.begin(), first.fields.end(), is_number_or_empty)) {
    layout.columns.names = std::move(first.fields);
    layout.data = first.next;
    layout.lines_before += first.lines;
  }
  layout.selected = select_columns(source, layout.columns);
  layout.slots.assign(layout.columns.count, kUnused);
  for (std::size_t k = 0; k < layout.selected.size(); ++k) layout.slots[layout.selected[k]] = k;
  if (source.options.columns.empty()) require_numeric_columns(source, layout, end);
  return layout;
}

std::span<const char> without_byte_order_mark(std::span<const char> text, const Source& source) {
  const std::string_view view(text.data(), std::min<std::size_t>(text.size(), 3));
  if (view.starts_with("\xEF\xBB\xBF")) return text.subspan(3);
  if (view.starts_with("\xFF\xFE") || view.starts_with("\xFE\xFF")) {
    throw InputError(source.name + ": the text is UTF-16; convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does");
  }
  return text;
}

}  // namespace

Points read_text(std::span<const char> bytes, const Source& source) {
  if (bytes.empty()) throw InputError(source.name + ": empty: the file has no bytes; rows of numbers are needed");
  const std::span<const char> text = without_byte_order_mark(bytes, source);
  const Layout layout = find_layout(text, source);
  const std::span<const char> data(layout.data, text.data() + text.size());
  const std::size_t dims = layout.selected.size();

  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t parts = layout.has_quotes ? 1 : std::clamp<std::size_t>(data.size() / kChunkBytes, 1, cores);
  const std::vector<std::span<const char>> chunks = split_at_lines(data, parts);

  // Room for every line of every chunk: a bound on its rows, exact without comments and blank lines. What stays unused
  // is never touched. A row takes at least a byte per field, all but a faulty one, which ends its chunk.
  std::vector<std::uint64_t> newlines(chunks.size());
  std::vector<std::uint64_t> room(chunks.size());
  for_each_parallel(chunks.size(), [&](std::size_t i) {
    newlines[i] = count_newlines(chunks[i].data(), chunks[i].data() + chunks[i].size());
    room[i] = std::min<std::uint64_t>(newlines[i] + 1, chunks[i].size() / layout.columns.count + 1);
  });
  const auto total = [&] {
    std::uint64_t sum = 0;
    for (const std::uint64_t rows : room) sum += rows;
    return sum;
  };
  if (total() > kMaxPoints || !fits_memory(source, total(), dims, Precision::float64)) {
    for_each_parallel(chunks.size(), [&](std::size_t i) { room[i] = count_rows(layout, chunks[i]); });
  }

  Points points = make_points(source, total(), dims, Precision::float64);
  points.column_names = selected_names(layout.columns, layout.selected);
  points.column_numbers = layout.selected;
  points.inputs = {{source.name, {}, 0, {}}};
  double* const values = points.values<double>().data();
  std::vector<double*> begin(chunks.size());
  std::uint64_t rows_before = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    begin[i] = values + rows_before * dims;
    rows_before += room[i];
  }
  std::vector<ChunkResult> results(chunks.size());
  for_each_parallel(chunks.size(), [&](std::size_t i) {
    results[i] = parse_chunk(layout, source.options.on_nan, chunks[i], begin[i]);
  });

  std::uint64_t lines = layout.lines_before;
  std::uint64_t rows = 0;
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (results[i].fault != Fault::none) throw_fault(source, layout, results[i], text, lines, rows);
    double* const to = values + kept * dims;
    if (to != begin[i]) std::memmove(to, begin[i], results[i].kept * dims * sizeof(double));
    lines += newlines[i];
    for (const std::uint64_t row : results[i].dropped) points.inputs.front().dropped.push_back(rows + row);
    rows += results[i].rows;
    kept += results[i].kept;
  }
  points.truncate(narrow<std::size_t>(kept));
  points.inputs.front().rows = rows;
  return points;
}

}  // namespace epsflow::io
