// What all readers share: the source that they name in errors, the choice of columns, the memory check, the NaN policy.
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
  std::string name;  ///< as errors name it
  const ReadOptions& options;
  std::uint64_t memory_taken = 0;  ///< bytes of options.memory that earlier files of the same data set hold

  /// An error that begins with the name of the source.
  template <class E = InputError, class... Args>
  [[nodiscard]] E error(fmt::format_string<Args...> text, Args&&... args) const {
    return E(name + ": " + fmt::format(text, std::forward<Args>(args)...));
  }
  /// The same source where `bytes` more of the memory are taken.
  [[nodiscard]] Source with_taken(std::uint64_t bytes) const {
    return {.name = name, .options = options, .memory_taken = memory_taken + bytes};
  }
};

/// Calls f with a zero of the type of such coordinates.
template <class F>
decltype(auto) with_type(Precision precision, F f) {
  return precision == Precision::float32 ? f(float{}) : f(double{});
}

/// The columns that a file offers.
struct ColumnList {
  std::size_t count = 0;
  /// count of them, or empty when the file has none. Names behind these are of columns that are chosen by name alone.
  std::vector<std::string> names;
  bool ignore_case = false;  ///< FITS names its columns without regard to case

  /// As errors name a column: 'lat' or 3.
  [[nodiscard]] std::string label(std::size_t column) const;
  /// For errors: "a, b, c", or "0 to 2" without names; of many the first 40.
  [[nodiscard]] std::string describe() const;
};

/// Names of options, for errors.
inline constexpr std::string_view kColumnsOption = "ReadOptions::columns";
inline constexpr std::string_view kWeightOption = "ReadOptions::weight";

/// The columns that one entry of the option means, as indices into `available`: by name, blanks around it aside, else by 0-based
/// number, -1 for the last one, or a range such as 0-2. Throws InputError listing the columns there are.
[[nodiscard]] std::vector<std::size_t> columns_of(const Source& source, const ColumnList& available,
                                                  const std::string& entry, std::string_view option = kColumnsOption);

/// The UsageError of a column that source.options asks for twice; `column` is how it is shown: "column 3".
[[noreturn]] void throw_named_twice(const Source& source, std::string_view column);

/// For errors: what the options read, "coordinates" or "coordinates and weights", and how to choose other columns.
[[nodiscard]] std::string_view kinds_of_values(const Source& source) noexcept;
[[nodiscard]] std::string_view how_to_choose(const Source& source) noexcept;

/// The error for a selected column that holds no plain numbers; `type` says what it holds instead.
[[noreturn]] void throw_not_numeric(const Source& source, const ColumnList& available, std::size_t column,
                                    std::string_view type);

/// 2^53: float64 holds every integer up to it, and further on only some. What lies below needs no second look.
inline constexpr double kMostExact = 9007199254740992.0;

[[nodiscard]] inline bool may_be_rounded(double value) noexcept { return std::abs(value) >= kMostExact; }

/// Whether float64 holds the integer itself.
template <class Integer>
[[nodiscard]] bool is_exact(Integer value) noexcept {
  static_assert(std::is_integral_v<Integer>);
  const auto nearest = static_cast<double>(value);
  // Behind the largest integer, a cast back would be undefined.
  const double end = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return nearest < end && static_cast<Integer>(nearest) == value;
}

/// The InputError of an integer that float64 would round; `where` names its row, `column` its column.
[[noreturn]] void throw_rounded(const Source& source, const std::string& where, const std::string& column,
                                const std::string& value);

/// Bytes of options.memory that earlier files of the same data set have left.
[[nodiscard]] std::uint64_t memory_left(const Source& source) noexcept;

/// The error for points that exceed the memory budget; `points` says which: "2 points". `columns`: that of the weights counts.
[[noreturn]] void throw_over_memory(const Source& source, std::string_view points, std::uint64_t columns,
                                    std::uint64_t bytes);

/// Throws InputError for sizes that no data set may have, ResourceError when n rows of the columns exceed the memory budget.
void require_room(const Source& source, std::uint64_t n, std::uint64_t columns, std::uint64_t row_bytes);

/// Rows of a file that follow each other.
struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  [[nodiscard]] std::uint64_t end() const noexcept { return first + count; }
};

/// The rows that options.share asks for of a file with n rows.
[[nodiscard]] RowRange share_of(const ReadOptions& options, std::uint64_t n) noexcept;

/// Room for all columns to be read of those of n rows that source.options.share asks for: that of the weights is one more coordinate
/// until finish_points(). Its InputRows::first is set. Throws as require_room() does.
[[nodiscard]] FilePoints make_points(const Source& source, std::uint64_t n, std::uint64_t columns, Precision precision);

/// Text from a file as errors show it: in quotes, shortened between characters, and with control characters and bytes
/// that are no UTF-8 escaped, so that none reaches a terminal.
[[nodiscard]] std::string show_text(std::string_view text);
/// The same without the quotes.
[[nodiscard]] std::string show_name(std::string_view text);

/// For errors: "a, b, c", what `show` gives of each item; of many the first 40 and how many there are more.
template <class Items, class Show>
std::string list_of(const Items& items, Show show) {
  constexpr std::size_t kShown = 40;
  std::string list;
  for (const auto& item : std::span(items).first(std::min(items.size(), kShown))) {
    list += (list.empty() ? "" : ", ") + show(item);
  }
  return items.size() > kShown ? fmt::format("{} and {} more", list, items.size() - kShown) : list;
}

/// A to Z in lower case, whatever the locale.
[[nodiscard]] std::string to_lower(std::string_view text);

/// Without blanks and tabs at either end.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

/// The number that all of the text is, in digits, with a minus where T has one.
template <class T>
std::optional<T> whole_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  return code == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace epsflow::io
