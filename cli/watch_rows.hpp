// Rows of a stream of points: lines of CSV below a header, or a JSON object in each line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace epsflow::cli {

/// How the column of the time is written: unknown before the first row. All rows write it in the same way.
enum class TimeKind : std::uint8_t { unknown, number, date_with_zone, date_without_zone };

struct StreamRow {
  std::vector<double> x;  ///< [d]
  double time = 0;        ///< the time as a number; for dates the seconds since 1970
};

/// Parses the lines of one file after another.
class WatchRowParser {
 public:
  /// columns: the columns of the coordinates. time: the column of the time. drop: rows in which one of these values is
  /// missing, NaN or infinite are dropped; else they are an error.
  WatchRowParser(std::vector<std::string> columns, std::string time, bool drop);

  /// Forgets the header of the last file.
  void begin_file() noexcept { layout_ = Layout::unknown; }
  /// Returns true if a line holds a row, false if it is blank, a comment or the header, which it reads. The first other
  /// line of a file is the header, unless it begins with a brace. Throws InputError for a header without the columns.
  [[nodiscard]] bool holds_row(std::string_view line);
  /// Parses a row. Returns false if the row is dropped. Throws InputError with the fault, without file and line.
  [[nodiscard]] bool parse(std::string_view line, StreamRow& row);

  [[nodiscard]] TimeKind times() const noexcept { return times_; }
  void set_times(TimeKind times) noexcept { times_ = times; }

 private:
  enum class Layout : std::uint8_t { unknown, csv, json };

  void read_header(std::string_view line);
  /// Return whether no value is missing.
  [[nodiscard]] bool parse_csv(std::string_view line, StreamRow& row);
  [[nodiscard]] bool parse_json(std::string_view line, StreamRow& row);
  [[nodiscard]] bool set_text(std::size_t k, std::string_view text, StreamRow& row);
  [[nodiscard]] bool set_number(std::size_t k, double value, StreamRow& row) const;
  void require_kind(TimeKind kind, std::string_view text);

  std::vector<std::string> names_;  ///< of the values of a row: the coordinates, then the time
  bool drop_;
  TimeKind times_ = TimeKind::unknown;
  Layout layout_ = Layout::unknown;
  std::vector<std::size_t> fields_;  ///< the field of each value in a line of CSV
  std::size_t field_count_ = 0;
  std::string scratch_;
};

}  // namespace epsflow::cli
