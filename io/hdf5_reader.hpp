// HDF5 data sets and compound tables, through the C library.
#pragma once

#include <filesystem>

#include <epsflow/core/points.hpp>
#include <epsflow/io/source.hpp>

namespace epsflow::io {

/// Reads a data set as points: two axes of numbers are rows and columns, one axis is n points in one dimension, and a
/// table of compound elements has its members as columns. The data set is source.options.table, a path; without it, the
/// only one in the file that can give the columns asked for. Members must be scalar integers or floats. float32 only
/// gives float32 points, anything else float64. Chunks and compression are the library's business.
///
/// Calls are serialised, since the library may be built without thread safety; its error printing is off during the
/// call. Throws InputError with the library's reason when the file is damaged or truncated, or lists the data sets or
/// columns there are; ResourceError when the points exceed the memory budget.
[[nodiscard]] Points read_hdf5(const std::filesystem::path& file, const Source& source);

}  // namespace epsflow::io
