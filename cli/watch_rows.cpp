#include <epsflow/cli/watch_rows.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include <epsflow/cli/output.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_fields.hpp>

namespace epsflow::cli {
namespace {

/// Names of the values of TimeKind in errors.
constexpr std::array kTimeKinds{"", "a number", "a date with a time zone", "a date without a time zone"};

/// text: an ISO 8601 time.
TimeKind kind_of_date(std::string_view text) {
  constexpr std::size_t kDate = 10;  // characters; the dashes before are not the sign of an offset
  const bool has_zone = text.size() > kDate && text.find_first_of("Z+-", kDate) != std::string_view::npos;
  return has_zone ? TimeKind::date_with_zone : TimeKind::date_without_zone;
}

/// Calls take(field number, text) for each field of a line of CSV, and returns their number.
template <class Take>
std::size_t for_each_field(std::string_view line, std::string& scratch, Take take) {
  const char* p = line.data();
  const char* const end = p + line.size();
  for (std::size_t count = 0;;) {
    const io::Field field = io::scan_field(p, end, ',', scratch);
    if (field.open_quote) throw InputError("a quote is not closed in this line");
    take(count++, field.text);
    if (io::at_line_end(field.end, end)) return count;
    p = field.end + 1;
  }
}

/// Returns a line of JSON with null in place of NaN, Infinity and -Infinity, which Python's json writes and JSON lacks.
std::string with_null(std::string_view line) {
  std::string text;
  bool quoted = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    std::size_t length = 1;
    if (quoted && rest.front() == '\\') {
      length = std::min<std::size_t>(2, rest.size());
    } else if (rest.front() == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) length = rest.starts_with(word) ? 0 : length;
    }
    text += length == 0 ? "null" : rest.substr(0, length);
    at += length == 0 ? rest.find_first_of("Ny", 1) + 1 : length;
  }
  return text;
}

}  // namespace

WatchRowParser::WatchRowParser(std::vector<std::string> columns, std::string time, bool drop)
    : names_(std::move(columns)), drop_(drop) {
  names_.push_back(std::move(time));
}

bool WatchRowParser::holds_row(std::string_view line) {
  const char* p = line.data();
  if (line.empty() || io::skip_line(p, p + line.size(), {})) return false;
  if (layout_ != Layout::unknown) return true;
  if (io::trim(line).starts_with('{')) {
    layout_ = Layout::json;
    return true;
  }
  read_header(line);
  layout_ = Layout::csv;
  return false;
}

void WatchRowParser::read_header(std::string_view line) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> header;
  field_count_ = for_each_field(line, scratch_, [&](std::size_t, std::string_view name) { header.emplace_back(name); });
  fields_.clear();
  for (const std::string& name : names_) {
    const auto at = std::ranges::find(header, name);
    if (at == header.end()) {
      throw input_error("the header has no column {}; it has {}", io::show_text(name),
                        io::list_of(header, [](const std::string& text) { return io::show_text(text); }));
    }
    fields_.push_back(static_cast<std::size_t>(at - header.begin()));
  }
}

bool WatchRowParser::parse(std::string_view line, StreamRow& row) {
  row.x.resize(names_.size() - 1);
  return layout_ == Layout::json ? parse_json(line, row) : parse_csv(line, row);
}

bool WatchRowParser::parse_csv(std::string_view line, StreamRow& row) {
  bool whole = true;
  const std::size_t count = for_each_field(line, scratch_, [&](std::size_t field, std::string_view text) {
    for (std::size_t k = 0; k < fields_.size(); ++k) {
      if (fields_[k] == field) whole &= set_text(k, text, row);
    }
  });
  if (count == field_count_) return whole;
  throw input_error("{} in a table of {}", format_count(count, "field"), format_count(field_count_, "column"));
}

bool WatchRowParser::parse_json(std::string_view line, StreamRow& row) {
  auto object = nlohmann::json::parse(line, nullptr, false);
  if (object.is_discarded()) object = nlohmann::json::parse(with_null(line), nullptr, false);
  const bool has_nul = line.find('\0') != line.npos;  // where the parser would end
  if (has_nul || !object.is_object()) throw input_error("{} is not a JSON object", io::show_text(line));
  bool whole = true;
  for (std::size_t k = 0; k < names_.size(); ++k) {
    const auto at = object.find(names_[k]);
    if (at != object.end() && at->is_number()) {
      if (k + 1 == names_.size()) require_kind(TimeKind::number, at->dump());
      whole &= set_number(k, at->get<double>(), row);
    } else if (at != object.end() && at->is_string() && k + 1 == names_.size()) {
      whole &= set_text(k, at->get_ref<const std::string&>(), row);
    } else if (at == object.end() || at->is_null()) {
      whole &= set_number(k, NAN, row);
    } else {
      throw input_error("{} is {}, which is not a number", io::show_text(names_[k]), io::show_text(at->dump()));
    }
  }
  return whole;
}

bool WatchRowParser::set_text(std::size_t k, std::string_view text, StreamRow& row) {
  text = io::trim(text);
  if (io::marks_nothing(text)) return set_number(k, NAN, row);
  const bool is_time = k + 1 == names_.size();
  if (const auto number = io::number_of(text, '.')) {
    if (is_time && std::isfinite(*number)) require_kind(TimeKind::number, text);
    return set_number(k, *number, row);
  }
  const auto seconds = is_time ? io::iso_seconds(text) : std::nullopt;
  if (!seconds) {
    throw input_error("{} is {}, which is not a number{}", io::show_text(names_[k]), io::show_text(text),
                      is_time ? " or a date as 2026-01-31T12:00:00Z" : "");
  }
  require_kind(kind_of_date(text), text);
  return set_number(k, *seconds, row);
}

bool WatchRowParser::set_number(std::size_t k, double value, StreamRow& row) const {
  (k < row.x.size() ? row.x[k] : row.time) = value;
  if (std::isfinite(value)) return true;
  if (drop_) return false;
  throw input_error("{} is NaN, infinite or missing; --on-nan drop leaves such rows out", io::show_text(names_[k]));
}

void WatchRowParser::require_kind(TimeKind kind, std::string_view text) {
  if (times_ == TimeKind::unknown) times_ = kind;
  if (times_ == kind) return;
  throw input_error("{} is {}, {}, and is {} in earlier rows: write all times in one way", io::show_text(names_.back()),
                    io::show_text(text), kTimeKinds[static_cast<std::size_t>(kind)],
                    kTimeKinds[static_cast<std::size_t>(times_)]);
}

}  // namespace epsflow::cli
