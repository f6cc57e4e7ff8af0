// Parquet files, through Apache Arrow's C++ libraries.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Reads columns of a Parquet file as points. They hold integers, floats of 16, 32 or 64 bits, or truth values (0 and 1),
/// dictionary-encoded or not; nulls become NaN. float32 only gives float32 points, anything else float64. Decimals, which
/// float64 would round, lists, structures and whatever else is no number are refused by name.
///
/// The chosen columns alone are read, some 65,000 rows at a time. A plain regular file is read in place; a pipe or a
/// gzipped file is unpacked into memory, within the budget. All of it happens in a child process: a crash on a damaged file
/// is an InputError here. Throws InputError with the library's reason when the file is damaged or truncated, or lists the
/// columns there are; ResourceError when the points exceed the memory budget, or there can be no child.
[[nodiscard]] FilePoints read_parquet(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
