#include <epsflow/io/read/element_columns.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

struct ElementName {
  std::string column;
  std::uint64_t element = 0;
};

/// Splits "POS[2]" into name and index.
std::optional<ElementName> parse_element(std::string_view text) {
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos || open == 0 || text.back() != ']') return std::nullopt;
  const std::string_view digits = text.substr(open + 1, text.size() - open - 2);
  const auto element = number_in<std::uint64_t>(digits);
  if (!element) return std::nullopt;
  return ElementName{std::string(text.substr(0, open)), *element};
}

/// Returns the column of that name; blanks around names are ignored. Throws InputError if two columns match.
std::optional<std::size_t> find_name(const Source& source, const ColumnList& available, std::string_view wanted,
                                     std::string_view option) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < available.names.size(); ++i) {
    const std::string_view name = trim(available.names[i]);
    if (available.ignore_case ? to_lower(name) != to_lower(wanted) : name != wanted) continue;
    if (found) {
      throw source.error("columns {} and {} are both named {}; give the number in {}", *found, i, show_text(wanted),
                         option);
    }
    found = i;
  }
  return found;
}

/// Consecutive columns, as indices into a ColumnList.
struct ColumnRange {
  std::size_t first;
  std::size_t last;
};

/// Returns the columns that a number (negative: from the end) or a range selects.
std::optional<ColumnRange> find_numbers(const ColumnList& available, std::string_view wanted) {
  if (const auto number = number_in<std::int64_t>(wanted)) {
    const std::int64_t column = *number < 0 ? *number + narrow<std::int64_t>(available.count) : *number;
    if (column < 0 || std::cmp_greater_equal(column, available.count)) return std::nullopt;
    return ColumnRange{static_cast<std::size_t>(column), static_cast<std::size_t>(column)};
  }
  const std::size_t dash = wanted.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number_in<std::size_t>(trim(wanted.substr(0, dash)));
  const auto last = number_in<std::size_t>(trim(wanted.substr(dash + 1)));
  if (!first || !last || *first > *last || *last >= available.count) return std::nullopt;
  return ColumnRange{*first, *last};
}

/// Returns the columns that one entry of the option selects: by name, without blanks around it, else by number from 0,
/// -1 for the last column, or a range such as 0-2. Throws InputError if two columns have the name.
std::optional<ColumnRange> find_columns(const Source& source, const ColumnList& available, std::string_view entry,
                                        std::string_view option) {
  const std::string_view wanted = trim(entry);
  if (const auto column = find_name(source, available, wanted, option)) return ColumnRange{*column, *column};
  return find_numbers(available, wanted);
}

std::string plain_name(const ColumnList& available, std::size_t column) {
  return available.names.empty() ? std::to_string(column) : available.names[column];
}

/// Returns the only value that the column holds in each row.
ElementChoice choose_whole(const Source& source, const ColumnList& available, const ElementCount& count_of,
                           std::size_t column, std::string_view option) {
  const std::uint64_t count = count_of ? count_of(column) : 1;
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

/// Returns the values that one entry of the option selects: more than one if it is a range.
std::vector<ElementChoice> choose(const Source& source, const ColumnList& available, const ElementCount& count_of,
                                  const std::string& wanted, std::string_view option) {
  std::optional<ColumnRange> columns = find_columns(source, available, wanted, option);
  // A column's name may end in brackets of its own.
  const std::optional<ElementName> parsed = columns || !count_of ? std::nullopt : parse_element(wanted);
  if (parsed) columns = find_columns(source, available, parsed->column, option);
  if (!columns) {
    throw source.error("there is no column {}; {} may choose from: {}", show_text(parsed ? parsed->column : wanted),
                       option, available.describe());
  }
  std::vector<ElementChoice> chosen;
  for (std::size_t column = columns->first; column <= columns->last; ++column) {
    if (!parsed) {
      chosen.push_back(choose_whole(source, available, count_of, column, option));
      continue;
    }
    if (const std::uint64_t count = count_of(column); parsed->element >= count) {
      throw source.error("there is no {}: column {} holds {} in each row, counted from 0", show_text(wanted),
                         available.label(column), format_count(count, "value"));
    }
    chosen.push_back({column, parsed->element, fmt::format("{}[{}]", plain_name(available, column), parsed->element)});
  }
  return chosen;
}

/// Returns the weight column, if the options name one.
std::optional<ElementChoice> choose_weight(const Source& source, const ColumnList& available,
                                           const ElementCount& count_of) {
  const std::string& wanted = source.options.weight;
  if (wanted.empty()) return std::nullopt;
  std::vector<ElementChoice> chosen = choose(source, available, count_of, wanted, kWeightOption);
  if (chosen.size() == 1) return std::move(chosen[0]);
  throw UsageError(fmt::format("ReadOptions::weight is {}, {} of {}; a point has one weight: name one column",
                               show_text(wanted), format_count(chosen.size(), "column"), source.name));
}

/// Returns the default coordinates: the columns that ReadOptions::choose returns, else all but `weight`, if given.
std::vector<std::size_t> default_columns(const Source& source, const ColumnList& available,
                                         const ElementChoice* weight) {
  std::vector<std::size_t> others;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < available.count; ++i) {
    if (weight != nullptr && i == weight->column) continue;
    others.push_back(i);
    if (!available.names.empty()) names.push_back(available.names[i]);
  }
  std::vector<std::size_t> selected;
  if (source.options.choose && !available.names.empty()) selected = source.options.choose(names);
  if (selected.empty()) return others;
  for (std::size_t& column : selected) column = others.at(column);
  return selected;
}

std::vector<ElementChoice> choose_coordinates(const Source& source, const ColumnList& available,
                                              const ElementCount& count_of,
                                              const std::optional<ElementChoice>& weight) {
  std::vector<ElementChoice> chosen;
  if (source.options.columns.empty()) {
    // If the weight is one value of a vector, the column is not left out of the coordinates.
    const bool is_whole = weight && (!count_of || count_of(weight->column) == 1);
    for (const std::size_t column : default_columns(source, available, is_whole ? &*weight : nullptr)) {
      chosen.push_back(choose_whole(source, available, count_of, column, kColumnsOption));
    }
    return chosen;
  }
  for (const std::string& wanted : source.options.columns) {
    for (ElementChoice& choice : choose(source, available, count_of, wanted, kColumnsOption)) {
      const bool is_double = std::any_of(chosen.begin(), chosen.end(), [&](const ElementChoice& other) {
        return other.column == choice.column && other.element == choice.element;
      });
      if (is_double) throw_named_twice(source, "column " + choice.label());
      chosen.push_back(std::move(choice));
    }
  }
  return chosen;
}

// Moves the rows without NaN or infinity to the front and returns their number; records the others in `rows.dropped`.
template <class T>
std::size_t compact_finite(std::span<T> values, std::size_t n, std::size_t dims, InputRows& rows) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = values.data() + i * dims;
    if (!std::all_of(row, row + dims, [](T x) { return std::isfinite(x); })) {
      rows.dropped.push_back(rows.first + i);
      continue;
    }
    if (kept != i) std::copy_n(row, dims, values.data() + kept * dims);
    ++kept;
  }
  return kept;
}

// True if all values are finite. x · 0 is 0 for finite x and NaN for all others, and a NaN stays in a sum. Several
// lanes keep the additions independent of each other.
template <class T>
bool all_finite(std::span<const T> values) noexcept {
  constexpr std::size_t kLanes = 16;
  std::array<T, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane] * T{0};
  }
  T sum = 0;
  for (; i < values.size(); ++i) sum += values[i] * T{0};
  for (const T lane : sums) sum += lane;
  return sum == 0;
}

// Returns the index of the first value that is NaN or infinite, or values.size().
template <class T>
std::size_t find_non_finite(std::span<const T> values) noexcept {
  constexpr std::size_t kBlock = 4096;
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    const std::span<const T> block = values.subspan(first, std::min(kBlock, values.size() - first));
    if (all_finite(block)) continue;
    const auto bad = std::find_if(block.begin(), block.end(), [](T x) { return !std::isfinite(x); });
    return first + static_cast<std::size_t>(bad - block.begin());
  }
  return values.size();
}

template <class T>
void apply_nan_policy(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source) {
  const std::span<T> values = points.values<T>();
  const std::size_t dims = points.dims();
  if (source.options.on_nan == NanPolicy::keep) return;
  const std::size_t bad = find_non_finite(std::span<const T>(values));
  if (bad == values.size()) return;
  if (source.options.on_nan == NanPolicy::error) {
    throw source.error(
        "row {}, column {} is {}; clustering needs finite {}: drop such rows with ReadOptions::on_nan = "
        "NanPolicy::drop",
        points.inputs.front().first + bad / dims, chosen[bad % dims].label(), values[bad], kinds_of_values(source));
  }
  points.truncate(compact_finite(values, points.size(), dims, points.inputs.front()));
}

/// Makes the last coordinate the weights, and the others points of `precision`, which holds them exactly. O(n·d).
void take_weights(FilePoints& points, Precision precision) {
  const std::size_t dims = points.dims() - 1;
  FilePoints taken(points.size(), dims, precision);
  taken.weights.resize(points.size());
  points.view().visit([&](auto from) {
    with_type(precision, [&]<class T>(T /*zero*/) {
      T* to = taken.values<T>().data();
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto* const row = from.data() + i * (dims + 1);
        to = std::transform(row, row + dims, to, [](auto x) { return static_cast<T>(x); });
        taken.weights[i] = row[dims];
      }
    });
  });
  taken.inputs = std::move(points.inputs);
  points = std::move(taken);
}

}  // namespace

std::string ElementChoice::label() const { return name.empty() ? std::to_string(column) : show_text(name); }

Precision precision_of(std::span<const ElementChoice> columns) noexcept {
  const bool single = std::all_of(columns.begin(), columns.end(), [](const auto& column) { return column.is_float32; });
  return single ? Precision::float32 : Precision::float64;
}

std::vector<ElementChoice> select_elements(const Source& source, const ColumnList& available,
                                           const ElementCount& count_of) {
  std::optional<ElementChoice> weight = choose_weight(source, available, count_of);
  std::vector<ElementChoice> chosen = choose_coordinates(source, available, count_of, weight);
  if (weight) chosen.push_back(*std::move(weight));
  return chosen;
}

std::string describe_width(const Source& source, std::uint64_t rows, std::uint64_t columns) {
  constexpr std::uint64_t kFew = 4;
  constexpr std::uint64_t kManyColumns = 32;
  // Without rows, the size of the file does not bound the width; this limit prevents a huge list of columns.
  constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 20;
  if (columns > kMostColumns) {
    throw source.error("{} columns, but points have at most {}; transpose the array", format_count(columns),
                       format_count(kMaxDims, "dimension"));
  }
  if (rows == 0 || rows > kFew || columns <= kFew) return {};
  const std::string shape = fmt::format("{} of {}", format_count(rows, "row"), format_count(columns, "column"));
  if (columns <= kManyColumns || !source.options.columns.empty()) return fmt::format(", {}; transposed?", shape);
  throw source.error(
      "{} look transposed: points are rows, coordinates columns; save the array transposed (array.T), or choose the "
      "coordinates with ReadOptions::columns",
      shape);
}

void finish_points(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source) {
  points.inputs.front().rows = points.size();
  with_type(points.precision(), [&](auto zero) { apply_nan_policy<decltype(zero)>(points, chosen, source); });
  take_columns(points, chosen, source);
}

void take_columns(FilePoints& points, std::span<const ElementChoice> chosen, const Source& source) {
  const bool weighted = !source.options.weight.empty();
  const auto columns = chosen.first(chosen.size() - (weighted ? 1 : 0));
  if (weighted) {
    take_weights(points, points.precision() == Precision::float32 ? Precision::float32 : precision_of(columns));
    points.weight_column = chosen.back().name.empty() ? std::to_string(chosen.back().column) : chosen.back().name;
  }
  const bool has_units = std::ranges::any_of(columns, [](const ElementChoice& column) { return !column.unit.empty(); });
  for (const ElementChoice& column : columns) {
    if (!column.name.empty()) points.column_names.push_back(column.name);
    points.column_numbers.push_back(column.column);
    if (has_units) points.inputs.front().units.push_back(column.unit);
  }
}

}  // namespace epsflow::io
