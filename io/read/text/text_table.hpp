// What a text table looks like: its delimiter, its header, its units, found out from the first rows or refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/element_columns.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_parser.hpp>

namespace epsflow::io {

struct TextTable {
  RowShape shape;
  ColumnList columns;
  std::vector<ElementChoice> chosen;  ///< the columns to be read, as select_elements() returns them
  std::vector<std::size_t> selected;  ///< their numbers
  bool has_units = false;             ///< a row below the header names units, of which all may be empty
  std::size_t first_field = 0;        ///< which field of a row is column 0: 1 where rows begin with a bar
  std::string kind;                   ///< what was taken for what, as InputRows::kind says it
  const char* data = nullptr;         ///< the line behind the header
  std::uint64_t lines_before = 0;     ///< lines before `data`

  /// As errors name the column of a field.
  [[nodiscard]] std::string label(std::size_t field) const;
};

/// Looks at the first hundred rows of `text`, whole lines from line `lines_before` + 1 of the file on; `is_whole` says
/// that no more follow. Nothing when there is no row among them yet.
///
/// Throws InputError where the options leave open what the rows mean: a first row that may be a header or data,
/// numbers with decimal commas; where columns are missing or hold text; ResourceError where `text` is too short to tell.
[[nodiscard]] std::optional<TextTable> find_table(std::span<const char> text, bool is_whole, std::uint64_t lines_before,
                                                  const Source& source);

}  // namespace epsflow::io
