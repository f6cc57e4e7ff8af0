// The layout of a text table: its delimiter, header and units, detected from the first rows; and the conversion of its
// rows to coordinates, in which reading text spends most of its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/element_columns.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_fields.hpp>

namespace epsflow::io {

/// The slot of a field that is ignored.
inline constexpr std::size_t kUnused = std::numeric_limits<std::size_t>::max();
/// The slot of a field that must be empty, as after the last bar of a line.
inline constexpr std::size_t kBar = kUnused - 1;

/// The layout of every row of a table.
struct RowShape {
  Dialect dialect;
  /// For each field of a row: its coordinate (the first if there are several), kUnused or kBar
  std::vector<std::size_t> slots;
  std::size_t dims = 0;  ///< number of coordinates, the weights included
};

enum class Fault : std::uint8_t { none, ragged, open_quote, not_finite, not_a_number, rounded_integer };

/// The result of parsing consecutive lines.
struct ChunkResult {
  std::uint64_t rows = 0;   ///< data rows read, except the faulty one
  std::uint64_t kept = 0;   ///< rows written to `out`
  std::uint64_t lines = 0;  ///< lines before the faulty row; all lines without a fault
  Fault fault = Fault::none;
  std::size_t fault_field = 0;         ///< index of the faulty field in its row
  const char* fault_row = nullptr;     ///< begin of the faulty row; null without a fault
  std::vector<std::uint64_t> dropped;  ///< numbers of the dropped rows, from 0 at the first row of the lines
};

/// Parses whole lines into rows of shape.dims values at `out`, which must have space for all of them. Stops at the
/// first fault. O(bytes). Thread-safe for disjoint `out`.
[[nodiscard]] ChunkResult parse_rows(const RowShape& shape, NanPolicy on_nan, std::span<const char> lines, double* out);

/// The layout of a table.
struct TextTable {
  RowShape shape;                     ///< the fields of a row that the parser reads
  ColumnList columns;                 ///< all columns of the table
  std::vector<ElementChoice> chosen;  ///< the columns to be read, as select_elements() returns them
  bool has_units = false;             ///< true if a row below the header names units, all of which may be empty
  std::size_t first_field = 0;        ///< the field of a row that is column 0: 1 if rows begin with a bar
  std::string kind;                   ///< description of the layout for InputRows::kind
  const char* data = nullptr;         ///< the first line of data, in the text that find_table() was given
  std::uint64_t lines_before = 0;     ///< lines before `data`

  /// Returns the name of a field's column for errors. field: index in a row, including empty fields outside of bars.
  [[nodiscard]] std::string label(std::size_t field) const;
};

/// Detects the layout from the first hundred rows of `text`, which holds whole lines from line `lines_before` + 1 of
/// the file on. is_whole: true if no more lines follow. source: the file and the options, for errors and choices.
/// Returns nullopt if `text` does not yet contain a row.
///
/// Throws InputError if the options leave the meaning of rows open (a first row that may be a header or data, numbers
/// with decimal commas), for JSON, and if a default column holds text; ResourceError if more lines follow and `text`
/// has fewer than two rows. Throws also as select_elements().
[[nodiscard]] std::optional<TextTable> find_table(std::span<const char> text, bool is_whole, std::uint64_t lines_before,
                                                  const Source& source);

}  // namespace epsflow::io
