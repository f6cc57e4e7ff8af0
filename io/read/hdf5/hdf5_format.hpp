// The format HDF5, whose data sets and tables are read with the C library.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Returns the functions that read the format; all null if the build leaves HDF5 out.
[[nodiscard]] Reader hdf5_reader();

/// Reads points from a file of HDF5 or netCDF-4. If source.options.table is set, it is the path of one of these:
///
/// - a data set with two axes of numbers, which are rows and columns;
/// - a data set with one axis of numbers, which are points in one dimension;
/// - a table, a data set of compound elements, whose members are its columns. An array as a member has several columns,
///   "name[0]" and so on;
/// - a group. Then source.options.columns are paths, relative to it unless they begin with '/', of data sets with one
///   axis and equal length.
///
/// Without source.options.table, the first of these that applies is read:
///
/// 1. If a chosen column begins with '/', all chosen columns are paths of data sets with one axis and equal length.
/// 2. If the file is a snapshot of a cosmological simulation (hdf5_columns.hpp), the columns of its particles, unless
///    all chosen columns are paths of data sets.
/// 3. The only data set that has the chosen columns.
/// 4. If no data set has them and all chosen columns are paths without a leading '/', these data sets.
///
/// Columns hold integers or floats. If all are float32, so are the points; otherwise they are float64. netCDF's
/// _FillValue and missing_value become NaN; _Unsigned, scale_factor and add_offset are applied.
///
/// A damaged file may crash the library, so call it in a child process. Holds an Hdf5Session. Throws InputError
///
/// - with the library's reason, if the file is damaged, truncated or open for writing;
/// - with a list of the data sets or columns, if a chosen one does not exist, or if several data sets fit;
/// - if a data frame of pandas would be read;
/// - if values are packed with a filter that the library lacks;
/// - if values are stored in other files, unless ReadOptions::external_storage is set.
///
/// Throws UsageError if source.options.particles is not the default and the particles of a snapshot are not read.
void parse_hdf5(const LibraryFile& file, const Source& source, ValueSink& points);

/// Reads a neighbour table as write_hdf5_neighbors() writes it. Throws InputError naming the part that a file lacks.
void parse_hdf5_neighbors(const LibraryFile& file, const Source& source, ValueSink& table);

}  // namespace epsflow::io
