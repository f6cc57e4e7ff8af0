// Raw files, which hold only coordinates, little-endian and row-major.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Reads the rest of a stream as points of source.options.raw.dims coordinates in source.options.raw.precision. Columns
/// are chosen by number. Throws UsageError without dims, InputError if the file ends within a point.
[[nodiscard]] FilePoints read_raw(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
