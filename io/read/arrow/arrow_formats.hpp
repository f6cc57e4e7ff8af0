// The formats Parquet and Arrow, read with Apache Arrow's C++ libraries.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Return the functions that read the formats; all null if the build leaves Arrow out.
[[nodiscard]] Reader parquet_reader();
[[nodiscard]] Reader arrow_reader();

/// Reads columns of a Parquet file as points. A column holds integers, floats of 16, 32 or 64 bits, or truth values (0
/// and 1), or lists of these, which are vectors as in select_elements(). Dictionary and run-length encodings are read.
/// A null becomes NaN, a null list NaN in all of its values. If all columns are float32, so are the points; otherwise
/// they are float64. With NanPolicy::keep, times become seconds: dates and timestamps since 1970 (UTC), times of day
/// since midnight, and durations. Decimals, which float64 would round, structures, and all other types are refused by
/// name, and so are lists of different lengths.
///
/// Columns in which pandas stored the index of a frame are read only if ReadOptions name them. Column numbers skip
/// them.
///
/// Only the chosen columns are read, some 65,000 rows at a time, fewer of long vectors. A damaged file may crash the
/// library, so call it in a child process. Throws InputError with the library's reason if the file is damaged or
/// truncated, or claims more memory than a file of its size and rows can need; InputError listing the columns if a
/// chosen one does not exist; ResourceError if memory runs out.
void parse_parquet(const LibraryFile& file, const Source& source, ValueSink& points);

/// As parse_parquet(), for a file of Arrow's IPC format, which is also version 2 of Feather. The chosen columns of a
/// whole record batch are in memory at once.
void parse_arrow(const LibraryFile& file, const Source& source, ValueSink& points);

}  // namespace epsflow::io
