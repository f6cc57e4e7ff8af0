// Writes rows of CSV, field by field.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace epsflow::io {

/// Writes in blocks to a Sink, which has write(std::string_view). Quotes a field that contains the delimiter, a quote
/// or a line end, or that would make a row begin like a comment.
template <class Sink>
class CsvWriter {
 public:
  explicit CsvWriter(Sink& sink, char delimiter = ',') : sink_(sink), delimiter_(delimiter) {}

  /// Writes a field of text. `quoted`: in quotes even if it needs none.
  void text(std::string_view field, bool quoted = false) {
    const bool is_first = !in_row_;
    begin_field();
    if (!quoted && !needs_quotes(field, is_first)) {
      text_.append(field);
      return;
    }
    text_.push_back('"');
    for (const char c : field) {
      if (c == '"') text_.push_back('"');
      text_.push_back(c);
    }
    text_.push_back('"');
  }

  /// Writes a number; a floating-point one with the fewest digits that are read back as the same number.
  template <class T>
  void number(T value) {
    begin_field();
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }

  /// Writes a text or a number.
  template <class T>
  void value(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      number(value);
    } else {
      text(value);
    }
  }

  /// Writes an empty field.
  void nothing() { begin_field(); }

  void end_row() {
    text_.push_back('\n');
    in_row_ = false;
    if (text_.size() >= kBlockBytes) flush();
  }

  /// Writes the rest of the text. Call it after the last row.
  void flush() {
    sink_.write(std::string_view(text_.data(), text_.size()));
    text_.clear();
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

  void begin_field() {
    if (in_row_) text_.push_back(delimiter_);
    in_row_ = true;
  }

  [[nodiscard]] bool needs_quotes(std::string_view field, bool is_first) const noexcept {
    const std::size_t begin = field.find_first_not_of(" \t");
    if (is_first && begin != std::string_view::npos && field[begin] == '#') return true;
    return std::any_of(field.begin(), field.end(),
                       [&](char c) { return c == delimiter_ || c == '"' || c == '\n' || c == '\r'; });
  }

  Sink& sink_;
  char delimiter_;
  bool in_row_ = false;
  fmt::memory_buffer text_;
};

}  // namespace epsflow::io
