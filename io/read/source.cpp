#include <epsflow/io/read/source.hpp>

#include <array>
#include <cmath>
#include <numeric>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/utf8.hpp>

namespace epsflow::io {
namespace {

/// The column of that name, spelled so or with other blanks around it.
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

/// The first and the last column that a number, from the end when it is negative, or a range means.
std::optional<std::pair<std::size_t, std::size_t>> find_numbers(const ColumnList& available, std::string_view wanted) {
  if (const auto number = whole_number<std::int64_t>(wanted)) {
    const std::int64_t column = *number < 0 ? *number + narrow<std::int64_t>(available.count) : *number;
    if (column < 0 || std::cmp_greater_equal(column, available.count)) return std::nullopt;
    return std::pair(static_cast<std::size_t>(column), static_cast<std::size_t>(column));
  }
  const std::size_t dash = wanted.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = whole_number<std::size_t>(trim(wanted.substr(0, dash)));
  const auto last = whole_number<std::size_t>(trim(wanted.substr(dash + 1)));
  if (!first || !last || *first > *last || *last >= available.count) return std::nullopt;
  return std::pair(*first, *last);
}

/// The first and the last of the columns that one entry of the option means.
std::pair<std::size_t, std::size_t> column_range(const Source& source, const ColumnList& available,
                                                 const std::string& entry, std::string_view option) {
  const std::string_view wanted = trim(entry);
  if (const auto column = find_name(source, available, wanted, option)) return {*column, *column};
  if (const auto numbers = find_numbers(available, wanted)) return *numbers;
  throw source.error("there is no column {}; {} may choose from: {}", show_text(entry), option, available.describe());
}

// Moves the rows without NaN or infinity to the front and returns how many there are; the others are dropped from `rows`.
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

// Whether all values are finite. x · 0 is 0 for finite x and NaN for all others, and a NaN stays in a sum; the lanes
// keep the additions from waiting for each other.
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

// Index of the first value that is NaN or infinite, or values.size().
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
void apply_nan_policy_to(FilePoints& points, const Source& source) {
  const std::span<T> values = points.values<T>();
  const std::size_t dims = points.dims();
  if (source.options.on_nan == NanPolicy::keep) return;
  const std::size_t bad = find_non_finite(std::span<const T>(values));
  if (bad == values.size()) return;
  if (source.options.on_nan == NanPolicy::error) {
    const ColumnList used{.count = dims, .names = points.column_names};
    const std::size_t k = bad % dims;
    const bool is_named = k < used.names.size() || points.column_numbers.empty();
    throw source.error(
        "row {}, column {} is {}; DBSCAN needs finite {}: drop such rows with ReadOptions::on_nan = NanPolicy::drop",
        points.inputs.front().first + bad / dims, is_named ? used.label(k) : std::to_string(points.column_numbers[k]),
        values[bad], kinds_of_values(source));
  }
  points.truncate(compact_finite(values, points.size(), dims, points.inputs.front()));
}

}  // namespace

std::string ColumnList::label(std::size_t column) const {
  return column < names.size() ? show_text(names[column]) : std::to_string(column);
}

std::string ColumnList::describe() const {
  if (count == 0 && names.empty()) return "none";
  if (names.empty()) return count == 1 ? "0" : fmt::format("0 to {}", count - 1);
  return list_of(names, show_name);
}

std::vector<std::size_t> columns_of(const Source& source, const ColumnList& available, const std::string& entry,
                                    std::string_view option) {
  const auto [first, last] = column_range(source, available, entry, option);
  std::vector<std::size_t> columns(last - first + 1);
  std::iota(columns.begin(), columns.end(), first);
  return columns;
}

std::vector<std::size_t> coordinate_columns(const Source& source, const ColumnList& available,
                                            std::optional<std::size_t> weight) {
  std::vector<std::size_t> selected;
  if (source.options.columns.empty()) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < available.count; ++i) {
      if (i != weight) others.push_back(i);
    }
    if (source.options.choose && !available.names.empty()) {
      selected = source.options.choose(selected_names(available, others));
    }
    if (selected.empty()) return others;
    for (std::size_t& column : selected) column = others.at(column);
    return selected;
  }
  for (const std::string& wanted : source.options.columns) {
    for (const std::size_t column : columns_of(source, available, wanted)) {
      if (std::find(selected.begin(), selected.end(), column) != selected.end()) {
        throw_named_twice(source, "column " + available.label(column));
      }
      selected.push_back(column);
    }
  }
  return selected;
}

std::vector<std::size_t> select_columns(const Source& source, const ColumnList& available) {
  const std::string& wanted = source.options.weight;
  if (wanted.empty()) return coordinate_columns(source, available, std::nullopt);
  const std::vector<std::size_t> weight = columns_of(source, available, wanted, kWeightOption);
  require_one_weight(source, weight.size());
  std::vector<std::size_t> selected = coordinate_columns(source, available, weight[0]);
  selected.push_back(weight[0]);
  return selected;
}

void require_one_weight(const Source& source, std::size_t columns) {
  if (columns == 1) return;
  throw UsageError(fmt::format("ReadOptions::weight is {}, {} of {}; a point has one weight: name one column",
                               show_text(source.options.weight), format_count(columns, "column"), source.name));
}

std::vector<std::string> selected_names(const ColumnList& available, std::span<const std::size_t> selected) {
  std::vector<std::string> names;
  if (available.names.empty()) return names;
  names.reserve(selected.size());
  for (const std::size_t column : selected) names.push_back(available.names[column]);
  return names;
}

std::string_view kinds_of_values(const Source& source) noexcept {
  return source.options.weight.empty() ? "coordinates" : "coordinates and weights";
}

std::string_view how_to_choose(const Source& source) noexcept {
  if (source.options.on_nan == NanPolicy::keep) return "choose other columns with ReadOptions::columns";
  return source.options.weight.empty() ? "choose the coordinates with ReadOptions::columns"
                                       : "choose the coordinates with ReadOptions::columns, and the weights with "
                                         "ReadOptions::weight,";
}

void throw_named_twice(const Source& source, std::string_view column) {
  throw UsageError(
      fmt::format("ReadOptions::columns names {} of {} twice; give every column once", column, source.name));
}

void throw_rounded(const Source& source, const std::string& where, const std::string& column,
                   const std::string& value) {
  throw source.error(
      "{}, column {} is {}, an integer beyond 2^53 that float64 does not hold: others would become the same {}; "
      "subtract "
      "an offset from the column{}",
      where, column, value, source.options.on_nan == NanPolicy::keep ? "number" : "coordinate",
      source.options.on_nan == NanPolicy::keep
          ? ", or " + std::string(how_to_choose(source))
          : " (divide weights, and minpts with them), or leave it out with ReadOptions::columns");
}

void throw_not_numeric(const Source& source, const ColumnList& available, std::size_t column, std::string_view type) {
  throw source.error("column {} holds {}, not numbers; {} from: {}", available.label(column), type,
                     how_to_choose(source), available.describe());
}

std::uint64_t memory_left(const Source& source) noexcept {
  return source.options.memory - std::min(source.options.memory, source.memory_taken);
}

void throw_over_memory(const Source& source, std::string_view points, std::uint64_t columns, std::uint64_t bytes) {
  const bool weighted = !source.options.weight.empty();
  const std::string others = source.memory_taken == 0 ? std::string()
                                                      : fmt::format(", of which the files before it take {}",
                                                                    format_bytes(source.memory_taken));
  const std::uint64_t budget = source.options.memory;
  const bool is_close = format_bytes(bytes) == format_bytes(budget);
  const auto size = [&](std::uint64_t count) { return is_close ? format_count(count, "byte") : format_bytes(count); };
  throw source.error<ResourceError>(
      "{} in {}{} need {}, but the budget is {}{}; raise ReadOptions::memory, or choose fewer columns", points,
      format_count(columns - (weighted ? 1 : 0), "dimension"), weighted ? " with weights" : "", size(bytes),
      size(budget), others);
}

void require_room(const Source& source, std::uint64_t n, std::uint64_t columns, std::uint64_t row_bytes) {
  const bool weighted = !source.options.weight.empty();
  if (columns == (weighted ? 1 : 0)) {
    throw source.error("no columns{}, so no coordinates; a point needs at least one",
                       weighted ? " but that of the weights" : "");
  }
  if (columns > kMaxDims) {
    throw source.error("{} columns{}, but points have at most {} dimensions; choose with ReadOptions::columns", columns,
                       weighted ? " with that of the weights" : "", kMaxDims);
  }
  if (n > kMaxPoints) {
    throw source.error("{}, but a data set has at most {} points; split the file", format_count(n, "row"),
                       format_count(kMaxPoints));
  }
  if (n > memory_left(source) / row_bytes) throw_over_memory(source, format_count(n, "point"), columns, n * row_bytes);
}

RowRange share_of(const ReadOptions& options, std::uint64_t n) noexcept {
  const std::uint64_t index = options.share.index;
  const std::uint64_t count = options.share.count;
  // n · i / count, which may be more than 64 bits on the way.
  const auto begin = [&](std::uint64_t i) { return n / count * i + n % count * i / count; };
  return {begin(index), begin(index + 1) - begin(index)};
}

FilePoints make_points(const Source& source, std::uint64_t n, std::uint64_t columns, Precision precision) {
  const RowRange rows = share_of(source.options, n);
  require_room(source, rows.count, columns, columns * bytes_of(precision));
  FilePoints points(narrow<std::size_t>(rows.count), narrow<std::size_t>(columns), precision);
  points.inputs = {{.name = source.name, .first = rows.first}};
  return points;
}

void apply_nan_policy(FilePoints& points, const Source& source) {
  const std::uint64_t first = points.inputs.empty() ? 0 : points.inputs.front().first;
  points.inputs = {{.name = source.name, .rows = points.size(), .first = first}};
  with_type(points.precision(), [&](auto zero) { apply_nan_policy_to<decltype(zero)>(points, source); });
}

void copy_coordinate(Points& points, std::size_t from, std::size_t to) {
  with_type(points.precision(), [&](auto zero) {
    const auto values = points.values<decltype(zero)>();
    for (std::size_t row = 0; row < values.size(); row += points.dims()) values[row + to] = values[row + from];
  });
}

void take_weights(FilePoints& points, const Source& source, Precision precision) {
  if (source.options.weight.empty()) return;
  const std::size_t dims = points.dims() - 1;
  FilePoints taken(points.size(), dims, precision);
  taken.weights.resize(points.size());
  points.view().visit([&](auto from) {
    with_type(precision, [&](auto zero) {
      using T = decltype(zero);
      T* to = taken.values<T>().data();
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto* const row = from.data() + i * (dims + 1);
        to = std::transform(row, row + dims, to, [](auto x) { return static_cast<T>(x); });
        taken.weights[i] = row[dims];
      }
    });
  });
  taken.column_names = std::move(points.column_names);
  taken.column_numbers = std::move(points.column_numbers);
  taken.weight_column = std::to_string(taken.column_numbers.back());
  taken.column_numbers.pop_back();
  if (!taken.column_names.empty()) {
    taken.weight_column = std::move(taken.column_names.back());
    taken.column_names.pop_back();
  }
  taken.inputs = std::move(points.inputs);
  points = std::move(taken);
}

std::string show_text(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string shown = "'";
  std::size_t i = 0;
  while (i < text.size() && i < kShown) {
    const std::size_t length = utf8_length(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too, in two bytes.
    const bool is_control =
        byte < 0x20 || byte == 0x7F || (byte == 0xC2 && length == 2 && static_cast<unsigned char>(text[i + 1]) < 0xA0);
    if (length > 0 && !is_control) {
      shown += text.substr(i, length);
      i += length;
    } else {
      shown += fmt::format("\\x{:02x}", byte);
      ++i;
    }
  }
  return shown + (i < text.size() ? "…'" : "'");
}

std::string show_name(std::string_view text) {
  const std::string shown = show_text(text);
  return shown.substr(1, shown.size() - 2);
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string_view trim(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace epsflow::io
