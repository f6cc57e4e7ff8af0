// Code that all readers share: the source and its name in errors, the choice of columns, the memory check.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// One file, or bytes that stand for one, and how to read it.
struct Source {
  std::string name;  ///< the name in errors
  const ReadOptions& options;
  /// Bytes of options.memory that earlier files of the same data set hold, and a copy of this file in memory.
  std::uint64_t memory_taken = 0;

  /// Returns an error that begins with the name of the source.
  template <class E = InputError, class... Args>
  [[nodiscard]] E error(fmt::format_string<Args...> text, Args&&... args) const {
    return E(name + ": " + fmt::format(text, std::forward<Args>(args)...));
  }
  /// Returns the same source with `bytes` more of the memory taken.
  [[nodiscard]] Source with_taken(std::uint64_t bytes) const {
    return {.name = name, .options = options, .memory_taken = memory_taken + bytes};
  }
};

/// Calls f with a zero of the type of coordinates of this precision.
template <class F>
decltype(auto) with_type(Precision precision, F f) {
  return precision == Precision::float32 ? f(float{}) : f(double{});
}

/// The columns of a file that may be chosen.
struct ColumnList {
  std::size_t count = 0;  ///< number of columns that may be chosen by number
  /// `count` names, or empty if the file has none. Further names may follow; their columns are chosen by name alone.
  std::vector<std::string> names;
  bool ignore_case = false;  ///< true for FITS, which names columns without regard to case

  /// Returns the column as errors name it: 'lat' or 3.
  [[nodiscard]] std::string label(std::size_t column) const;
  /// Returns text for errors: "a, b, c", or "0 to 2" without names; at most 40 names.
  [[nodiscard]] std::string describe() const;
};

inline constexpr std::string_view kColumnsOption = "ReadOptions::columns";
inline constexpr std::string_view kWeightOption = "ReadOptions::weight";

/// Throws UsageError for a column that source.options name twice; `column` is its text in the error: "column 3".
[[noreturn]] void throw_named_twice(const Source& source, std::string_view column);

/// Return text for errors: "coordinates" or "coordinates and weights", and how to choose other columns.
[[nodiscard]] std::string_view kinds_of_values(const Source& source) noexcept;
[[nodiscard]] std::string_view how_to_choose(const Source& source) noexcept;

/// Throws InputError for a selected column that does not hold plain numbers; `type` names its type.
[[noreturn]] void throw_not_numeric(const Source& source, const ColumnList& available, std::size_t column,
                                    std::string_view type);

/// 2^53: float64 holds every integer up to it, and only some beyond. A value below it needs no further check.
inline constexpr double kMostExact = 9007199254740992.0;

[[nodiscard]] inline bool may_be_rounded(double value) noexcept { return std::abs(value) >= kMostExact; }

/// True if float64 holds the integer exactly.
template <class Integer>
[[nodiscard]] bool is_exact(Integer value) noexcept {
  static_assert(std::is_integral_v<Integer>);
  const auto nearest = static_cast<double>(value);
  // From 2^digits on, a cast back would be undefined.
  const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return nearest < end && static_cast<Integer>(nearest) == value;
}

/// Throws InputError for an integer that float64 would round; `where` names its row, `column` its column.
[[noreturn]] void throw_rounded(const Source& source, const std::string& where, const std::string& column,
                                const std::string& value);

/// Returns options.memory less memory_taken, but not less than 0.
[[nodiscard]] std::uint64_t memory_left(const Source& source) noexcept;

/// Throws ResourceError: the points exceed the memory budget. `points`: "2 points". `columns` includes the weights.
[[noreturn]] void throw_over_memory(const Source& source, std::string_view points, std::uint64_t columns,
                                    std::uint64_t bytes);

/// Throws InputError for no coordinates, more than kMaxDims columns or more than kMaxPoints rows, ResourceError if n
/// rows of `row_bytes` bytes exceed memory_left(). `columns` includes the weights.
void require_points_fit(const Source& source, std::uint64_t n, std::uint64_t columns, std::uint64_t row_bytes);

/// Consecutive rows of a file.
struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  [[nodiscard]] std::uint64_t end() const noexcept { return first + count; }
};

/// Returns the rows that options.share selects from a file with n rows.
[[nodiscard]] RowRange share_of(const ReadOptions& options, std::uint64_t n) noexcept;

/// Allocates points for the rows that source.options.share selects from n rows. Sets `name`, `first` and `after` of
/// their InputRows. The weight column counts as a coordinate until finish_points(). Throws as require_points_fit().
[[nodiscard]] FilePoints make_points(const Source& source, std::uint64_t n, std::uint64_t columns, Precision precision);

/// Returns text from a file as errors show it: in quotes, cut after about 60 bytes between characters, and with control
/// characters and invalid UTF-8 escaped, so that neither reaches a terminal.
[[nodiscard]] std::string show_text(std::string_view text);
/// As show_text(), without the quotes.
[[nodiscard]] std::string show_name(std::string_view text);

/// Returns text for errors: "a, b, c", the result of `show` for each item. Further items are only counted after the
/// first 40.
template <class Items, class Show>
std::string list_of(const Items& items, Show show) {
  constexpr std::size_t kShown = 40;
  std::string list;
  for (const auto& item : std::span(items).first(std::min(items.size(), kShown))) {
    list += (list.empty() ? "" : ", ") + show(item);
  }
  return items.size() > kShown ? fmt::format("{} and {} more", list, items.size() - kShown) : list;
}

/// Returns the text with A to Z in lower case, whatever the locale.
[[nodiscard]] std::string to_lower(std::string_view text);

/// Removes blanks and tabs from both ends.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

/// Returns the number of type T if all of the text is one, as std::from_chars() reads it: without a plus or blanks.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  return code == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace epsflow::io
