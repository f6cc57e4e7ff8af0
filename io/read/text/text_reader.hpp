// Text tables, whose fields are separated by comma, tab, semicolon, bar or runs of blanks.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/text/text_blocks.hpp>
#include <epsflow/io/read/text/text_table.hpp>

namespace epsflow::io {

/// Skips everything before the rows and detects their layout; `blocks` continues with the first row. Throws as
/// find_table(), InputError for UTF-16 and for a text without rows, and UsageError for an unusable delimiter or decimal
/// mark.
struct OpenText {
  OpenText(ByteStream& stream, const Source& source);

  TextBlocks blocks;
  TextTable table;
};

/// Reads a text table as float64 points, by source.options.text. The layout that the options leave open is
/// detected from the first hundred rows; if it stays ambiguous, the error names the option that decides it.
/// InputRows::kind of the points describes the result.
///
/// - Delimiter: the one of comma, tab, semicolon, bar and runs of blanks that makes most fields numbers. With bars,
///   lines may begin and end with one, and rules such as |---|---| below the header and +---+---+ anywhere are skipped.
/// - Header: the first row, if it holds text and no number and numbers follow below; or a comment directly before the
///   first row that has a word for every column. A row of units after a header is skipped, and so are rules, such as
///   "---- -----", above a header, below it and below the units. Fields of up to three dashes mark missing values: a
///   row of only such fields is not a rule.
/// - Comments: lines that begin with TextLayout::comment, except spreadsheets' marks of a missing value or a failed
///   formula (#N/A, #DIV/0!, …).
/// - Fields may be quoted with ", in which "" stands for one quote and delimiters and line ends for themselves.
/// - LF, CRLF, CR, a UTF-8 byte order mark and a missing last line end are accepted; blank lines are skipped.
/// - Only the selected columns are converted. NanPolicy::drop drops rows that hold NaN, infinity or a mark of a missing
///   value (nothing, NA, null, -, #DIV/0!, …) there; any other text is an error under either policy.
///
/// Blocks without quotes are parsed in parallel, so it must not be called in a group of tasks that may be cancelled.
/// O(bytes). Peak memory: the points, and
/// a fifth of ReadOptions::memory, but at least 1 MiB and at most 128 MiB, for the text in memory; for a moment twice
/// the points if the file has far more rows than its first block suggests. Throws InputError naming line, row and
/// column, ResourceError if the points exceed the memory budget or a line is longer than a block, UsageError as
/// OpenText.
[[nodiscard]] FilePoints read_text(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
