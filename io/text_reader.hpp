// Text tables: fields parted by comma, tab, semicolon or runs of blanks.
#pragma once

#include <span>

#include <epsflow/core/points.hpp>
#include <epsflow/io/source.hpp>

namespace epsflow::io {

/// Reads the text of a table as float64 points.
///
/// - The delimiter is the first of comma, tab, semicolon that occurs in the first row, and as often in the second;
/// without
///   any, runs of blanks part the fields.
/// - The first row is a header when one of its fields is not a number; nan, inf and empty fields count as numbers.
/// - Fields may be quoted with ", in which "" stands for one and delimiters and line ends for themselves.
/// - Lines that begin with # and blank lines are skipped. CRLF, LF, a UTF-8 byte order mark and a missing last line end
///   are accepted.
/// - Only the selected columns are converted. An empty field counts as NaN, and under NanPolicy::drop so does other
/// text.
///
/// Large texts without quotes are parsed by as many threads as there are cores. O(bytes). Throws InputError naming
/// line, row and column, ResourceError when the points exceed the memory budget.
[[nodiscard]] Points read_text(std::span<const char> text, const Source& source);

}  // namespace epsflow::io
