#include <epsflow/io/read/source.hpp>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>
#include <epsflow/io/read/utf8.hpp>

namespace epsflow::io {

std::string ColumnList::label(std::size_t column) const {
  return column < names.size() ? show_text(names[column]) : std::to_string(column);
}

std::string ColumnList::describe() const {
  if (count == 0 && names.empty()) return "none";
  if (names.empty()) return count == 1 ? "0" : fmt::format("0 to {}", count - 1);
  return list_of(names, show_name);
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
      "subtract an offset from the column{}",
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

void require_points_fit(const Source& source, std::uint64_t n, std::uint64_t columns, std::uint64_t row_bytes) {
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
  // n · i / count, computed without the overflow of n · i.
  const auto begin = [&](std::uint64_t i) { return n / count * i + n % count * i / count; };
  return {begin(index), begin(index + 1) - begin(index)};
}

FilePoints make_points(const Source& source, std::uint64_t n, std::uint64_t columns, Precision precision) {
  const RowRange rows = share_of(source.options, n);
  require_points_fit(source, rows.count, columns, columns * bytes_of(precision));
  FilePoints points(narrow<std::size_t>(rows.count), narrow<std::size_t>(columns), precision);
  points.inputs = {{.name = source.name, .first = rows.first, .after = n - rows.end()}};
  return points;
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
