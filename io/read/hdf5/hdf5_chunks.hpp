// The blocks in which an HDF5 data set is stored: checks that all exist and have the right size.
#pragma once

#include <cstdint>
#include <string_view>

#include <epsflow/io/read/hdf5/hdf5_columns.hpp>

namespace epsflow::io {

/// Returns the number of rows to read at once: whole chunks, so that none is unpacked twice, and at least a few MiB.
[[nodiscard]] std::uint64_t rows_per_block(const Hdf5Dataset& dataset, std::uint64_t row_bytes);

/// Throws InputError if parts of the data set were never written and it has no fill value, because the library would
/// read zeros, or if the stored size differs from the size of the shape, because the library would read past the end.
void require_written(const Hdf5Dataset& dataset, const Source& source);

/// Throws InputError for values that could not be read, with the library's reason: damage, or a filter that it lacks.
/// Chunks that a filter could not shrink are stored without it, so that only the attempt to read them shows whether it
/// is needed.
[[noreturn]] void throw_unread(const Hdf5Dataset& dataset, const Source& source, std::string_view doing);

}  // namespace epsflow::io
