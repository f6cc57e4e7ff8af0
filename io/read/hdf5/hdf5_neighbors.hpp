// Tables of neighbours in HDF5, as write_hdf5_neighbors() writes them.
#pragma once

#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/neighbors_sink.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Throws InputError for a file that holds no such table, saying what it lacks.
void parse_hdf5_neighbors(const LibraryFile& file, const Source& source, NeighborsSink& table);

}  // namespace epsflow::io
