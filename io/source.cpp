#include <epsflow/io/source.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b, bool ignore_case) noexcept {
  if (!ignore_case) return a == b;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::size_t> as_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::size_t find_column(const Source& source, const ColumnList& available, const std::string& wanted) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < available.names.size(); ++i) {
    if (!same_name(available.names[i], wanted, available.ignore_case)) continue;
    if (found) {
      throw InputError(fmt::format("{}: columns {} and {} are both named {}; give the number in --columns", source.name,
                                   *found, i, show_text(wanted)));
    }
    found = i;
  }
  if (!found) found = as_number(wanted);
  if (!found || *found >= available.count) {
    throw InputError(fmt::format("{}: there is no column {}; --columns may choose from: {}", source.name,
                                 show_text(wanted), available.describe()));
  }
  return *found;
}

// Moves the rows without NaN or infinity to the front and returns how many there are; the others go to `dropped`.
template <class T>
std::size_t compact_finite(std::span<T> values, std::size_t n, std::size_t dims, std::vector<std::uint64_t>& dropped) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = values.data() + i * dims;
    if (!std::all_of(row, row + dims, [](T x) { return std::isfinite(x); })) {
      dropped.push_back(i);
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
void apply_nan_policy_to(Points& points, const Source& source) {
  const std::span<T> values = points.values<T>();
  const std::size_t dims = points.dims();
  const std::size_t bad = find_non_finite(std::span<const T>(values));
  if (bad == values.size()) return;
  if (source.options.on_nan == NanPolicy::error) {
    const ColumnList used{.count = dims, .names = points.column_names};
    throw InputError(
        fmt::format("{}: row {}, column {} is {}; DBSCAN needs finite coordinates: drop such rows with --on-nan drop",
                    source.name, bad / dims, used.label(bad % dims), values[bad]));
  }
  points.truncate(compact_finite(values, points.size(), dims, points.inputs.front().dropped));
}

}  // namespace

std::string ColumnList::label(std::size_t column) const {
  return column < names.size() ? show_text(names[column]) : std::to_string(column);
}

std::string ColumnList::describe() const {
  constexpr std::size_t kShown = 400;
  if (count == 0) return "none";
  if (names.empty()) return count == 1 ? "0" : fmt::format("0 to {}", count - 1);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    if (i > 0) text += ", ";
    const std::string shown = show_text(names[i]);
    text.append(shown, 1, shown.size() - 2);
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

std::vector<std::size_t> select_columns(const Source& source, const ColumnList& available) {
  std::vector<std::size_t> selected;
  if (source.options.columns.empty()) {
    selected.resize(available.count);
    for (std::size_t i = 0; i < available.count; ++i) selected[i] = i;
    return selected;
  }
  for (const std::string& wanted : source.options.columns) {
    const std::size_t column = find_column(source, available, wanted);
    if (std::find(selected.begin(), selected.end(), column) != selected.end()) {
      throw UsageError(fmt::format("--columns names column {} of {} twice; give every column once",
                                   available.label(column), source.name));
    }
    selected.push_back(column);
  }
  return selected;
}

std::vector<std::string> selected_names(const ColumnList& available, std::span<const std::size_t> selected) {
  std::vector<std::string> names;
  if (available.names.empty()) return names;
  names.reserve(selected.size());
  for (const std::size_t column : selected) names.push_back(available.names[column]);
  return names;
}

void throw_not_numeric(const Source& source, const ColumnList& available, std::size_t column, std::string_view type) {
  throw InputError(fmt::format("{}: column {} holds {}, not numbers; choose the coordinates with --columns from: {}",
                               source.name, available.label(column), type, available.describe()));
}

std::uint64_t memory_left(const Source& source) noexcept {
  return source.options.memory - std::min(source.options.memory, source.memory_taken);
}

bool fits_memory(const Source& source, std::uint64_t n, std::uint64_t dims, Precision precision) {
  const std::uint64_t left = memory_left(source);
  const std::uint64_t bytes_per_point = checked_multiply(dims, bytes_of(precision), "bytes of a point");
  return bytes_per_point == 0 || n <= left / bytes_per_point;
}

Points make_points(const Source& source, std::uint64_t n, std::uint64_t dims, Precision precision) {
  if (dims == 0) throw InputError(source.name + ": no columns, so no coordinates; a point needs at least one");
  if (dims > kMaxDims) {
    throw InputError(fmt::format("{}: {} columns, but points have at most {} dimensions; choose with --columns",
                                 source.name, dims, kMaxDims));
  }
  if (n > kMaxPoints) {
    throw InputError(
        fmt::format("{}: {} rows, but a data set has at most {} points; split the file", source.name, n, kMaxPoints));
  }
  if (!fits_memory(source, n, dims, precision)) {
    const std::string others = source.memory_taken == 0
                                   ? std::string()
                                   : fmt::format(", of which the files before it take {}", source.memory_taken);
    throw ResourceError(
        fmt::format("{}: {} points in {} dimensions need {} bytes, but the budget is {} bytes{}; raise "
                    "--memory, or choose fewer columns",
                    source.name, n, dims, n * dims * bytes_of(precision), source.options.memory, others));
  }
  return {narrow<std::size_t>(n), narrow<std::size_t>(dims), precision};
}

void apply_nan_policy(Points& points, const Source& source) {
  points.inputs = {{source.name, {}, points.size(), {}}};
  if (points.precision() == Precision::float32) {
    apply_nan_policy_to<float>(points, source);
  } else {
    apply_nan_policy_to<double>(points, source);
  }
}

std::string show_text(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown + (text.size() > kShown ? "…'" : "'");
}

}  // namespace epsflow::io
