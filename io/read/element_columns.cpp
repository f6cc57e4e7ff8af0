#include <epsflow/io/read/element_columns.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

struct ElementName {
  std::string column;
  std::uint64_t element = 0;
};

/// "POS[2]" as its parts.
std::optional<ElementName> parse_element(std::string_view text) {
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos || open == 0 || text.back() != ']') return std::nullopt;
  const std::string_view digits = text.substr(open + 1, text.size() - open - 2);
  std::uint64_t element = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), element);
  if (digits.empty() || code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return ElementName{std::string(text.substr(0, open)), element};
}

/// The columns that one entry of ReadOptions::columns stands for: more than one where it is a range.
std::vector<std::size_t> columns_of(const Source& source, const ColumnList& available, const std::string& wanted) {
  ReadOptions options = source.options;
  options.columns = {wanted};
  return select_columns({.name = source.name, .options = options}, available);
}

bool has_column(const Source& source, const ColumnList& available, const std::string& wanted) {
  try {
    return !columns_of(source, available, wanted).empty();
  } catch (const InputError&) {
    return false;
  }
}

std::string plain_name(const ColumnList& available, std::size_t column) {
  return available.names.empty() ? std::to_string(column) : available.names[column];
}

/// The only value that the column holds in each row.
ElementChoice choose_whole(const Source& source, const ColumnList& available, std::span<const std::uint64_t> elements,
                           std::size_t column) {
  const std::uint64_t count = elements[column];
  if (count == 0) {
    throw InputError(fmt::format("{}: column {} holds no values; choose others with ReadOptions::columns from: {}",
                                 source.name, available.label(column), available.describe()));
  }
  if (count > 1) {
    throw InputError(fmt::format(
        "{}: column {} holds {} in each row; choose one with ReadOptions::columns as {} to {}, counted from 0, or "
        "other columns from: {}",
        source.name, available.label(column), format_count(count, "value"),
        show_text(plain_name(available, column) + "[0]"),
        show_text(fmt::format("{}[{}]", plain_name(available, column), count - 1)), available.describe()));
  }
  return {column, 0, available.names.empty() ? std::string() : available.names[column]};
}

std::vector<ElementChoice> choose(const Source& source, const ColumnList& available,
                                  std::span<const std::uint64_t> elements, const std::string& wanted) {
  std::vector<ElementChoice> chosen;
  const std::optional<ElementName> parsed = parse_element(wanted);
  // A column's name may end in brackets of its own.
  if (!parsed || has_column(source, available, wanted)) {
    for (const std::size_t column : columns_of(source, available, wanted)) {
      chosen.push_back(choose_whole(source, available, elements, column));
    }
    return chosen;
  }
  for (const std::size_t column : columns_of(source, available, parsed->column)) {
    if (parsed->element >= elements[column]) {
      throw InputError(fmt::format("{}: there is no {}: column {} holds {} in each row, counted from 0", source.name,
                                   show_text(wanted), available.label(column),
                                   format_count(elements[column], "value")));
    }
    chosen.push_back({column, parsed->element, fmt::format("{}[{}]", plain_name(available, column), parsed->element)});
  }
  return chosen;
}

}  // namespace

std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                           std::span<const std::uint64_t> elements) {
  std::vector<ElementChoice> chosen;
  if (source.options.columns.empty()) {
    for (const std::size_t column : select_columns(source, available)) {
      chosen.push_back(choose_whole(source, available, elements, column));
    }
    return chosen;
  }
  for (const std::string& wanted : source.options.columns) {
    for (ElementChoice& choice : choose(source, available, elements, wanted)) {
      const bool is_double = std::any_of(chosen.begin(), chosen.end(), [&](const ElementChoice& other) {
        return other.column == choice.column && other.element == choice.element;
      });
      if (is_double) {
        throw UsageError(fmt::format("ReadOptions::columns names column {} of {} twice; give every column once",
                                     choice.name.empty() ? available.label(choice.column) : show_text(choice.name),
                                     source.name));
      }
      chosen.push_back(std::move(choice));
    }
  }
  return chosen;
}

void refuse_transposed(const Source& source, std::uint64_t rows, std::uint64_t columns) {
  constexpr std::uint64_t kFewRows = 4;
  constexpr std::uint64_t kManyColumns = 32;
  // Without rows no bytes vouch for the width, so that it is bounded here, before a list of columns is made of it.
  constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 20;
  if (columns > kMostColumns) {
    throw InputError(fmt::format("{}: {} columns, but points have at most {}; transpose the array", source.name,
                                 format_count(columns), format_count(kMaxDims, "dimension")));
  }
  if (rows == 0 || rows > kFewRows || columns <= kManyColumns || !source.options.columns.empty()) return;
  throw InputError(
      fmt::format("{}: {} of {} look transposed: points are rows, coordinates columns; save the array transposed "
                  "(array.T), or choose the coordinates with ReadOptions::columns",
                  source.name, format_count(rows, "row"), format_count(columns, "column")));
}

std::string describe_wide(std::uint64_t rows, std::uint64_t columns) {
  constexpr std::uint64_t kFew = 4;
  if (rows == 0 || rows > kFew || columns <= kFew) return {};
  return fmt::format(", {} of {}; transposed?", format_count(rows, "row"), format_count(columns, "column"));
}

void set_columns(FilePoints& points, std::span<const ElementChoice> chosen) {
  points.column_names.clear();
  points.column_numbers.clear();
  for (const ElementChoice& choice : chosen) {
    if (!choice.name.empty()) points.column_names.push_back(choice.name);
    points.column_numbers.push_back(choice.column);
  }
}

}  // namespace epsflow::io
