// The blocks that an HDF5 data set is stored in: which of them are there, and whether they are as large as they must be.
#pragma once

#include <cstdint>
#include <string_view>

#include <epsflow/io/read/hdf5/hdf5_columns.hpp>

namespace epsflow::io {

/// Rows to read at once: whole chunks, so that none is unpacked twice, and at least a few MiB.
[[nodiscard]] std::uint64_t rows_per_block(const Hdf5Dataset& dataset, std::uint64_t row_bytes);

/// Throws InputError when parts of the data set were never written and no fill value says what stands for them, or when
/// what is stored has another size than its shape tells: the library would take the one for zeros, and read past the end
/// of the other.
void require_written(const Hdf5Dataset& dataset, const Source& source);

/// The InputError of values that could not be read, with the library's reason: damage, or a filter that it lacks. Chunks that a filter
/// could not shrink are stored without it, so that only the attempt to read them shows whether it is needed.
[[noreturn]] void throw_unread(const Hdf5Dataset& dataset, const Source& source, std::string_view doing);

}  // namespace epsflow::io
