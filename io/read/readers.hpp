// The readers of all formats but text (text/text_reader.hpp), which the list of formats names (format.cpp). The comment
// of a function that returns a Reader describes what this reads. All members of a Reader are null if the build leaves
// out the library of its format.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/value_sink.hpp>

namespace epsflow::io {

/// Reads a stream that is at its beginning as little-endian rows of source.options.raw.dims columns, all float64, or of
/// source.options.raw.precision if that is set. Columns are chosen by number. Throws UsageError if dims is 0 or above
/// kMaxDims, InputError if the file ends within a row.
[[nodiscard]] FilePoints read_raw(ByteStream& stream, const Source& source);

/// Reads an array as points: two axes are rows and columns, in C or Fortran order; one axis is n points in one
/// dimension, or, with a structured type, n points whose columns are the fields. Values may be floats, integers or
/// booleans of any byte order. One element of a field that is an array is "pos[0]". Fields of other types are allowed
/// unless they are selected. Bytes after the array are ignored, as in numpy.
///
/// One pass, forward only; peak memory: the points and a block. Throws InputError if the header is damaged or claims
/// more than the file holds, if a type is not a plain number, and for a few long rows that look transposed;
/// ResourceError if the points exceed the memory budget.
[[nodiscard]] FilePoints read_npy(ByteStream& stream, const Source& source);

/// Reads an array of the archive as read_npy() does. source.options.table names its member, with or without .npy; by
/// default it is the only one that can be points. If no table is named and all entries of source.options.columns are
/// names of members, these members are the columns, and so is the member that source.options.weight names. They must
/// have one axis and the same length.
///
/// An array is unpacked on the way, so that the peak memory is the points and a block, and the archive itself if it
/// comes through a pipe or is gzipped. Throws InputError for a damaged archive, or listing the arrays if none can be
/// chosen; ResourceError if the points exceed the memory budget.
[[nodiscard]] Reader npz_reader();

/// Opens a file once to read many tables of it. Returns a function that reads arrays of one axis, by name, as columns.
/// Throws as the reader of npz_reader(). The function throws InputError if an array is missing or has NaN or infinity.
[[nodiscard]] std::function<FilePoints(std::vector<std::string>)> open_npz(const std::filesystem::path& file);

/// Reads the columns of a binary or ASCII table as points. The table is source.options.table: an extension number (1 is
/// the first after the primary array) or an EXTNAME; by default the first table. Columns hold numbers or truth values
/// (0 and 1) and are named without regard to case; one element of a vector is "POS[2]", counted from 0. Nulls become
/// NaN: integers that are stored as TNULL, undefined truth values, and fields of ASCII tables that equal TNULL apart
/// from blanks at their ends. TSCAL and TZERO are applied. If all coordinate columns are unscaled and of type E in a
/// binary table, the points are float32; otherwise float64.
///
/// Holds fits_mutex(), since cfitsio keeps global state. Throws InputError with cfitsio's reason if the file is damaged
/// or truncated, or listing the tables or columns if a chosen one does not exist. Source: FITS Standard 4.0, section 7.
[[nodiscard]] Reader fits_reader();

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
/// Columns hold integers or floats. If all coordinate columns are float32 and unscaled, so are the points; otherwise
/// they are float64. netCDF's _FillValue and missing_value become NaN; _Unsigned, scale_factor and add_offset are
/// applied.
///
/// Holds an Hdf5Session. Throws InputError
///
/// - with the library's reason, if the file is damaged, truncated or open for writing;
/// - with a list of the data sets or columns, if a chosen one does not exist, or if several data sets fit;
/// - if source.options.table names a data frame of pandas, or if rule 3 or 4 applies to a file that has one;
/// - if values are packed with a filter that the library lacks;
/// - if some values were never written, and there is no fill value for them;
/// - if values are stored in other files or data sets, unless ReadOptions::external_storage is set.
///
/// Throws UsageError if source.options.particles is not the default and the particles of a snapshot are not read.
[[nodiscard]] Reader hdf5_reader();

/// Reads a neighbour table as write_hdf5_neighbors() writes it. Throws InputError naming the part that a file lacks.
void parse_hdf5_neighbors(const LibraryFile& file, const Source& source, ValueSink& table);

/// Reads columns of a Parquet file as points. A column holds integers, floats of 16, 32 or 64 bits, or truth values (0
/// and 1), or lists of these, which are vectors as in select_elements(). Dictionary and run-length encodings are read.
/// A null becomes NaN, a null list NaN in all of its values. If all coordinate columns are float32, so are the points;
/// otherwise they are float64. With NanPolicy::keep, times become seconds: dates and timestamps since 1970 (UTC), times
/// of day since midnight, and durations. A chosen column of another type throws InputError that names the type, such as
/// a decimal, which float64 would round, or a structure. So do lists of different lengths.
///
/// Columns in which pandas stored the index of a frame are read only if ReadOptions name them. Column numbers skip
/// them.
///
/// Only the chosen columns are read, some 65,000 rows at a time, fewer of long vectors. Throws InputError with the
/// library's reason if the file is damaged or truncated, or claims more memory than a file of its size and rows can
/// need; InputError listing the columns if a chosen one does not exist; ResourceError if memory runs out.
[[nodiscard]] Reader parquet_reader();

/// As parquet_reader(), for a file of Arrow's IPC format, which is also version 2 of Feather. The chosen columns of a
/// whole record batch are in memory at once.
[[nodiscard]] Reader arrow_reader();

}  // namespace epsflow::io
