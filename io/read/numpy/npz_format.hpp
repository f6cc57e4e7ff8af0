// The format NPZ: NPY arrays in a ZIP file, read with libzip.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Returns the functions that read the format; all null if the build leaves libzip out.
[[nodiscard]] Reader npz_reader();

/// Reads an array of the archive as read_npy() does. source.options.table names its member, with or without .npy; by
/// default it is the only one that can be points. If source.options.columns names members of one axis, these are the
/// columns; they must have the same length.
///
/// An array is unpacked on the way, so that the peak memory is the points and a block, and the archive itself if it
/// comes through a pipe. Throws InputError for a damaged archive, or listing the arrays if none can be chosen;
/// ResourceError if the points exceed the memory budget.
[[nodiscard]] FilePoints read_npz(ByteStream& stream, const Source& source);

/// Opens a file once to read many tables of it. Returns a function that reads arrays of one axis, by name, as columns.
/// Throws as read_npz(), and the function throws InputError if an array is missing.
[[nodiscard]] std::function<FilePoints(std::vector<std::string>)> open_npz(const std::filesystem::path& file);

}  // namespace epsflow::io
