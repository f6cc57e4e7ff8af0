// Text tables: fields parted by comma, tab, semicolon, bar or runs of blanks.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& text_format();

/// Reads the text of a table as float64 points, as source.options.text says; what that leaves open is found out from
/// the first hundred rows, and refused with the option that decides where they leave it open too. InputRows::kind of
/// the points says what was found.
///
/// - Delimiter: the one of comma, tab, semicolon, bar and runs of blanks by which most fields are numbers. With bars,
///   lines may begin and end with one, and rules such as |---|---| below the header and +---+---+ anywhere are skipped.
/// - Header: the first row, when it holds text and no number and numbers follow below; or a comment directly before the
///   first row that has a word for every column. A row of units behind a header is skipped, and so are rules, such as "---- -----",
///   above a header, below it and below the units. Fields of up to three dashes are marks of missing values: a row of such fields alone
///   is no rule.
/// - Comments: lines that begin with TextLayout::comment, but not with what spreadsheets write for a missing value or a failed formula
///   (#N/A, #DIV/0!, …).
/// - Fields may be quoted with ", in which "" stands for one and delimiters and line ends for themselves.
/// - LF, CRLF, CR, a UTF-8 byte order mark and a missing last line end are accepted; blank lines are skipped.
/// - Only the selected columns are converted. Under NanPolicy::drop rows go where these hold NaN, infinity or a mark of
///   a missing value (nothing, NA, null, -, #DIV/0!, …); any other text is an error under either policy.
///
/// Blocks without quotes are parsed by as many threads as there are cores. O(bytes). Peak memory: the points, and a
/// fifth of ReadOptions::memory, but at least 1 MiB and at most 128 MiB, for the text at hand; for a moment the points
/// twice where far more rows come than a first block of the file lets expect. Throws InputError naming line, row and
/// column, ResourceError when the points exceed the memory budget.
[[nodiscard]] FilePoints read_text(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
