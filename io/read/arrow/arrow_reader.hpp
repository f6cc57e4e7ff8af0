// Files of Arrow's IPC format, through Apache Arrow's C++ library.
#pragma once

#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/points_sink.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// As parse_parquet(), for a file of Arrow's IPC format, which is also version 2 of Feather: the chosen columns of each of
/// its record batches are in memory at once.
void parse_arrow(const LibraryFile& file, const Source& source, PointsSink& points);

}  // namespace epsflow::io
