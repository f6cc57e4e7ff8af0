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

/// Reads a text table as float64 points, by source.options.text. If an option leaves the layout open, the first hundred
/// rows decide. If they are ambiguous, the error names the option that the user must set. InputRows::kind of the points
/// is a text that describes the layout.
///
/// - Delimiter: the one of comma, tab, semicolon, bar and runs of blanks that makes most fields numbers. With bars,
///   lines may begin and end with a bar. Rules with bars are skipped: |---|---| before the data, +---+---+ anywhere.
/// - Header: the first row, if it holds text and no number and a number follows below its text; or a comment directly
///   before the first row, if it has a word for every column. A row of units after a header is skipped, and so are
///   rules, such as "---- -----", above a header, below it and below the units. Fields of up to three dashes mark
///   missing values. So a row of only such fields is not a rule, except |---|---| before the data.
/// - Comments: lines that begin with TextLayout::comment, except spreadsheets' marks of a missing value or a failed
///   formula (#N/A, #DIV/0!, …).
/// - Fields may be quoted with ". A quoted field may contain delimiters and line ends; "" in it stands for one quote.
/// - LF, CRLF, CR, a UTF-8 byte order mark and a missing last line end are accepted; blank lines are skipped.
/// - Only the selected columns are converted. For NaN, infinity or a mark of a missing value (nothing, NA, null,
///   -, #DIV/0!, …) in them, NanPolicy::drop drops the row, NanPolicy::error throws, and NanPolicy::keep stores
///   infinity or NaN. With keep, times in ISO 8601 become seconds since 1970. Any other text is an error under each
///   policy.
///
/// Blocks without quotes are parsed in parallel. Do not call read_text() in a group of tasks that may be cancelled: the
/// parallel loops would then skip lines. O(bytes). Peak memory: the points, and for the text a fifth of
/// ReadOptions::memory, but at least 1 MiB and at most 128 MiB. The points take twice their memory for a moment if the
/// file has far more rows than its first block suggests. Throws InputError naming line, row and column, ResourceError
/// if the points exceed the memory budget or a line is longer than a block, UsageError as OpenText.
[[nodiscard]] FilePoints read_text(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
