// HDF5 data sets and tables, through the C library.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/child_reader.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Reads points from a file of HDF5 or netCDF-4. What holds them is source.options.table, a path:
///
/// - a data set: two axes of numbers are rows and columns, one axis is n points in one dimension, and a table of compound
///   elements has its members as columns, of which an array gives one value per row as "name[0]";
/// - a group: source.options.columns are then paths, relative to it, of data sets of one axis and equal length.
///
/// Without a table, columns that begin with '/' are such paths, and otherwise the only data set that can give
/// the columns asked for is read. Integers and floats are numbers. float32 only gives float32 points, anything else
/// float64. netCDF's _FillValue and missing_value become NaN; scale_factor and add_offset are applied.
///
/// A plain regular file is read in place; a pipe or a gzipped file is unpacked into memory, within the budget. All of it
/// happens in a child process, as damaged files crash the library: its crash is an InputError here. Calls are serialised.
/// Throws InputError with the library's reason when the file is damaged or truncated, when it is open for writing, or
/// lists the data sets or columns there are; also for data frames of pandas, and for values kept in other files, unless
/// ReadOptions::external_storage. ResourceError when the points exceed the memory budget, or there can be no child.
[[nodiscard]] FilePoints read_hdf5(ByteStream& stream, const Source& source);

/// What the child does: the same in this process, where a damaged file may crash it.
void read_hdf5_here(LibraryFile file, const Source& source, PointsSink& points);

}  // namespace epsflow::io
