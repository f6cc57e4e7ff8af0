#include <epsflow/io/read/text/text_table.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <epsflow/io/read/decimal.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {
namespace {

template <bool kBlankDelimited>
class RowParser {
 public:
  RowParser(const RowShape& shape, NanPolicy on_nan, const char* end) noexcept
      : dialect_(shape.dialect),
        slots_(shape.slots.data()),
        fields_(shape.slots.size()),
        dims_(shape.dims),
        end_(end),
        delimiter_(shape.dialect.delimiter),
        decimal_(shape.dialect.decimal),
        on_nan_(on_nan) {
    const std::string& comment = dialect_.comment;
    any_line_may_be_skipped_ = delimiter_ == '|' || (!comment.empty() && comment.front() > '#');
  }

  ChunkResult parse(const char* p, double* out) {
    ChunkResult result;
    while (p != end_) {
      // A row of numbers begins with a character after '#', a blank or a quote.
      if ((*p <= '#' || any_line_may_be_skipped_) && skip_line(p, end_, dialect_)) {
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
      p = slot < kBar ? parse_field(p, field, out[slot]) : skip_field(p, field, slot == kBar);
      if (fault_ != Fault::none) return p;
      if constexpr (kBlankDelimited) p = skip_blanks(p, end_, delimiter_);
      const bool line_ends = at_line_end(p, end_);
      const bool fields_end = field + 1 == fields_;
      if (line_ends != fields_end) return fail(Fault::ragged, field, p);
      if (fields_end) return behind_line_end(p, end_);
      if constexpr (!kBlankDelimited) ++p;
    }
  }

  const char* parse_field(const char* p, std::size_t field, double& value) {
    p = skip_blanks(p, end_, delimiter_);
    const char* const stop = scan_decimal(p, end_, value, decimal_);
    if (stop != nullptr) {
      if (stop == end_ || *stop == delimiter_ || *stop == '\n') return stop;
      if ((*stop == '\r' && at_line_end(stop, end_)) || (kBlankDelimited && *stop == '\t')) return stop;
    }
    return parse_odd_field(p, field, value);
  }

  /// Parses a field that the fast path cannot: quotes, blanks, signs, nan, long numbers, marks of missing values, text.
  const char* parse_odd_field(const char* p, std::size_t field, double& value) {
    const Field found = scan_field(p, end_, delimiter_, scratch_);
    if (found.open_quote) return fail(Fault::open_quote, field, p);
    row_lines_ += found.newlines;
    const std::string_view text = trim(found.text);
    const std::optional<double> number = number_of(text, decimal_);
    if (number && std::isfinite(*number)) {
      if (is_rounded_integer(text, *number)) return fail(Fault::rounded_integer, field, p);
      value = *number;
      return found.end;
    }
    const bool keep = on_nan_ == NanPolicy::keep;
    const std::optional<double> time = keep && !number ? iso_seconds(text) : std::nullopt;
    if (!number && !time && !marks_nothing(text)) return fail(Fault::not_a_number, field, p);
    if (keep) {
      value = number.value_or(time.value_or(std::numeric_limits<double>::quiet_NaN()));
      return found.end;
    }
    if (on_nan_ == NanPolicy::error) return fail(Fault::not_finite, field, p);
    row_finite_ = false;
    return found.end;
  }

  const char* skip_field(const char* p, std::size_t field, bool must_be_empty) {
    p = skip_blanks(p, end_, delimiter_);
    if (must_be_empty) return at_line_end(p, end_) || *p == delimiter_ ? p : fail(Fault::ragged, field, p);
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

  const char* fail(Fault fault, std::size_t field, const char* p) noexcept {
    fault_ = fault;
    fault_field_ = field;
    return p;
  }

  const Dialect& dialect_;
  const std::size_t* slots_;
  std::size_t fields_;
  std::size_t dims_;
  const char* end_;
  char delimiter_;
  char decimal_;
  NanPolicy on_nan_;
  bool any_line_may_be_skipped_ = false;
  std::string scratch_;
  std::uint64_t row_lines_ = 0;
  bool row_finite_ = true;
  Fault fault_ = Fault::none;
  std::size_t fault_field_ = 0;
};

}  // namespace

ChunkResult parse_rows(const RowShape& shape, NanPolicy on_nan, std::span<const char> lines, double* out) {
  const char* const end = lines.data() + lines.size();
  if (shape.dialect.delimiter == kBlanks) return RowParser<true>(shape, on_nan, end).parse(lines.data(), out);
  return RowParser<false>(shape, on_nan, end).parse(lines.data(), out);
}

}  // namespace epsflow::io
