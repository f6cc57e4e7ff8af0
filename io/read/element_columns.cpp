#include <epsflow/io/read/element_columns.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

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
  const auto element = whole_number<std::uint64_t>(digits);
  if (!element) return std::nullopt;
  return ElementName{std::string(text.substr(0, open)), *element};
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
ElementChoice choose_whole(const Source& source, const ColumnList& available, const ElementCount& count_of,
                           std::size_t column, std::string_view option) {
  const std::uint64_t count = count_of(column);
  if (count == 0 || count == kUnknownCount) {
    throw source.error("column {} holds no values; choose others with {} from: {}", available.label(column), option,
                       available.describe());
  }
  if (count > 1) {
    throw source.error(
        "column {} holds {} in each row; choose one with {} as {} to {}, counted from 0, or other columns from: {}",
        available.label(column), format_count(count, "value"), option, show_text(plain_name(available, column) + "[0]"),
        show_text(fmt::format("{}[{}]", plain_name(available, column), count - 1)), available.describe());
  }
  return {column, 0, available.names.empty() ? std::string() : available.names[column]};
}

/// What one entry of the option means: more than one value where it is a range.
std::vector<ElementChoice> choose(const Source& source, const ColumnList& available, const ElementCount& count_of,
                                  const std::string& wanted, std::string_view option) {
  std::vector<ElementChoice> chosen;
  const std::optional<ElementName> parsed = parse_element(wanted);
  // A column's name may end in brackets of its own.
  if (!parsed || has_column(source, available, wanted)) {
    for (const std::size_t column : columns_of(source, available, wanted, option)) {
      chosen.push_back(choose_whole(source, available, count_of, column, option));
    }
    return chosen;
  }
  for (const std::size_t column : columns_of(source, available, parsed->column, option)) {
    if (const std::uint64_t count = count_of(column); parsed->element >= count) {
      throw source.error("there is no {}: column {} holds {} in each row, counted from 0", show_text(wanted),
                         available.label(column), format_count(count, "value"));
    }
    chosen.push_back({column, parsed->element, fmt::format("{}[{}]", plain_name(available, column), parsed->element)});
  }
  return chosen;
}

/// Where the weights are, if there are any.
std::optional<ElementChoice> choose_weight(const Source& source, const ColumnList& available,
                                           const ElementCount& count_of) {
  const std::string& wanted = source.options.weight;
  if (wanted.empty()) return std::nullopt;
  std::vector<ElementChoice> chosen = choose(source, available, count_of, wanted, kWeightOption);
  require_one_weight(source, chosen.size());
  return std::move(chosen[0]);
}

std::vector<ElementChoice> choose_coordinates(const Source& source, const ColumnList& available,
                                              const ElementCount& count_of,
                                              const std::optional<ElementChoice>& weight) {
  std::vector<ElementChoice> chosen;
  if (source.options.columns.empty()) {
    // The other values of a vector are no column of their own.
    const bool is_whole = weight && count_of(weight->column) == 1;
    const std::optional<std::size_t> taken = is_whole ? std::optional(weight->column) : std::nullopt;
    for (const std::size_t column : coordinate_columns(source, available, taken)) {
      chosen.push_back(choose_whole(source, available, count_of, column, kColumnsOption));
    }
    return chosen;
  }
  for (const std::string& wanted : source.options.columns) {
    for (ElementChoice& choice : choose(source, available, count_of, wanted, kColumnsOption)) {
      const bool is_double = std::any_of(chosen.begin(), chosen.end(), [&](const ElementChoice& other) {
        return other.column == choice.column && other.element == choice.element;
      });
      if (is_double) {
        throw_named_twice(source,
                          "column " + (choice.name.empty() ? available.label(choice.column) : show_text(choice.name)));
      }
      chosen.push_back(std::move(choice));
    }
  }
  return chosen;
}

}  // namespace

Precision precision_of(std::span<const ElementChoice> columns) noexcept {
  const bool single = std::all_of(columns.begin(), columns.end(), [](const auto& column) { return column.is_float32; });
  return single ? Precision::float32 : Precision::float64;
}

std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                           std::span<const std::uint64_t> elements) {
  return select_elements(source, available, [elements](std::size_t column) { return elements[column]; });
}

std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                           const ElementCount& count_of) {
  std::optional<ElementChoice> weight = choose_weight(source, available, count_of);
  std::vector<ElementChoice> chosen = choose_coordinates(source, available, count_of, weight);
  if (weight) chosen.push_back(*std::move(weight));
  return chosen;
}

void refuse_transposed(const Source& source, std::uint64_t rows, std::uint64_t columns) {
  constexpr std::uint64_t kFewRows = 4;
  constexpr std::uint64_t kManyColumns = 32;
  // Without rows no bytes vouch for the width, so that it is bounded here, before a list of columns is made of it.
  constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 20;
  if (columns > kMostColumns) {
    throw source.error("{} columns, but points have at most {}; transpose the array", format_count(columns),
                       format_count(kMaxDims, "dimension"));
  }
  if (rows == 0 || rows > kFewRows || columns <= kManyColumns || !source.options.columns.empty()) return;
  throw source.error(
      "{} of {} look transposed: points are rows, coordinates columns; save the array transposed (array.T), or choose "
      "the coordinates with ReadOptions::columns",
      format_count(rows, "row"), format_count(columns, "column"));
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

void finish_points(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source) {
  apply_nan_policy(points, source);
  const auto columns = chosen.first(chosen.size() - (source.options.weight.empty() ? 0 : 1));
  const Precision coordinates = precision_of(columns);
  if (std::ranges::any_of(columns, [](const ElementChoice& column) { return !column.unit.empty(); })) {
    for (const ElementChoice& column : columns) points.inputs.front().units.push_back(column.unit);
  }
  take_weights(points, source, points.precision() == Precision::float32 ? Precision::float32 : coordinates);
}

}  // namespace epsflow::io
