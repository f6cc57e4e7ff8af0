// Files of Arrow's IPC format, through Apache Arrow's C++ library.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// As read_parquet(), for a file of Arrow's IPC format, which is also version 2 of Feather: the chosen columns of each of
/// its record batches are in memory at once. Streams of that format are refused.
[[nodiscard]] FilePoints read_arrow(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
