// The format HDF5, whose data sets and tables are read with the C library.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& hdf5_format();

/// Returns the functions that read the format; all null if the build leaves HDF5 out.
[[nodiscard]] Reader hdf5_reader();

/// Reads points from a file of HDF5 or netCDF-4. source.options.table is the path of one of these:
///
/// - a data set: two axes of numbers are rows and columns, one axis is n points in one dimension, and the members of a
///   table of compound elements are its columns; a member that is an array gives one value per row as "name[0]";
/// - a group: source.options.columns are then paths, relative to it, of data sets of one axis and equal length.
///
/// Without a table, a snapshot of a cosmological simulation has the columns of its particles (hdf5_snapshot.hpp). In
/// other files, columns that begin with '/' are such paths; otherwise the only data set that has the chosen columns is
/// read. Columns hold integers or floats. If all are float32, so are the points; otherwise float64. netCDF's _FillValue
/// and missing_value become NaN; _Unsigned, scale_factor and add_offset are applied.
///
/// A damaged file may crash the library, so call it in a child process. Holds an Hdf5Session. Throws InputError with
/// the library's reason if the file is damaged, truncated or open for writing; with a list of the data sets or columns
/// if a chosen one does not exist; also for data frames of pandas, for values packed with a filter that the library
/// lacks, and for values stored in other files, unless ReadOptions::external_storage is set.
void parse_hdf5(const LibraryFile& file, const Source& source, ValueSink& points);

/// Reads a neighbour table as write_hdf5_neighbors() writes it. Throws InputError naming the part that a file lacks.
void parse_hdf5_neighbors(const LibraryFile& file, const Source& source, ValueSink& table);

}  // namespace epsflow::io
