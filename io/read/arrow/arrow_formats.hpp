// Parquet and Arrow among the formats, through Apache Arrow's C++ libraries.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& parquet_format();
[[nodiscard]] const Format& arrow_format();

/// What this build has for them.
[[nodiscard]] Reader parquet_reader();
[[nodiscard]] Reader arrow_reader();

/// Reads columns of a Parquet file as points. They hold integers, floats of 16, 32 or 64 bits, or truth values (0 and
/// 1), or lists of these, which are vectors as in select_elements(); encoded by dictionaries or runs or not. Nulls
/// become NaN, those of lists in all of their values. float32 only gives float32 points, anything else float64. With
/// NanPolicy::keep, times become seconds (since 1970, UTC). Decimals, which float64 would round, structures, and
/// whatever else is not a number are refused by name, and so are lists of different lengths.
///
/// Columns in which pandas stored the index of a frame are read only if ReadOptions name them. Numbers of columns count
/// the others.
///
/// The chosen columns alone are read, some 65,000 rows at a time, fewer of long vectors. A damaged file may crash the
/// library: to be called in a process of its own. Throws InputError with the library's reason when the file is damaged
/// or truncated, or claims more memory than a file of its size and rows can need, or lists the columns there are;
/// ResourceError for want of memory.
void parse_parquet(const LibraryFile& file, const Source& source, ValueSink& points);

/// As parse_parquet(), for a file of Arrow's IPC format, which is also version 2 of Feather: the chosen columns of each of
/// its record batches are in memory at once.
void parse_arrow(const LibraryFile& file, const Source& source, ValueSink& points);

}  // namespace epsflow::io
