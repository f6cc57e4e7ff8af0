// NPZ among the formats: NPY arrays in a ZIP file, through libzip.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& npz_format();

/// What this build has for it.
[[nodiscard]] Reader npz_reader();

/// Reads an array of the archive as read_npy does: source.options.table names its member, with or without .npy; without it
/// the only one that can be points. Where source.options.columns names members of one axis, these are the columns; they
/// must have one length.
///
/// An array is unpacked on the way, so that the peak memory is the points and a block, and the archive itself where it
/// comes through a pipe. Throws InputError listing the arrays there are, or for a damaged archive; ResourceError when the
/// points exceed the memory budget.
[[nodiscard]] FilePoints read_npz(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
