// HDF5 among the formats, and its data sets and tables, through the C library.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& hdf5_format();

/// What this build has for it.
[[nodiscard]] Reader hdf5_reader();

/// Reads points from a file of HDF5 or netCDF-4. What holds them is source.options.table, a path:
///
/// - a data set: two axes of numbers are rows and columns, one axis is n points in one dimension, and a table of compound
///   elements has its members as columns, of which an array gives one value per row as "name[0]";
/// - a group: source.options.columns are then paths, relative to it, of data sets of one axis and equal length.
///
/// Without a table a snapshot of a cosmological simulation has the columns of its particles (hdf5_snapshot.hpp). Of other files columns
/// that begin with '/' are such paths, and otherwise the only data set that can give
/// the columns asked for is read. Integers and floats are numbers. float32 only gives float32 points, anything else
/// float64. netCDF's _FillValue and missing_value become NaN; _Unsigned, scale_factor and add_offset are applied.
///
/// A damaged file may crash the library: to be called in a process of its own. Holds an Hdf5Session. Throws InputError with
/// the library's reason when the file is damaged or truncated, when it is open for writing, or lists the data sets or
/// columns there are; also for data frames of pandas, for values packed with a filter that the library lacks, and for values kept in
/// other files, unless ReadOptions::external_storage.
void parse_hdf5(const LibraryFile& file, const Source& source, ValueSink& points);

/// Reads a table of neighbours as write_hdf5_neighbors() writes it. Throws InputError for a file without one, saying
/// what it lacks.
void parse_hdf5_neighbors(const LibraryFile& file, const Source& source, ValueSink& table);

}  // namespace epsflow::io
