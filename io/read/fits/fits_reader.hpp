// FITS tables, through cfitsio.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/child_reader.hpp>
#include <epsflow/io/read/library_file.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Reads the columns of a binary or ASCII table as points. The table is source.options.table: an extension number (1 is
/// the first behind the primary array) or an EXTNAME; without it, the first table. Columns are numbers or truth values
/// (0 and 1) and are named without regard to case; one element of a vector is "POS[2]", counted from 0. Nulls become NaN;
/// TSCAL and TZERO are applied. Unscaled columns of type E only give float32 points, anything else float64.
///
/// A plain regular file is opened by its path; a pipe or a gzipped file is unpacked into memory, within the budget. All of
/// it happens in a child process, as damaged files crash cfitsio: its crash is an InputError here. Calls are serialised by
/// fits_mutex(), since cfitsio keeps global state. Throws InputError with cfitsio's reason when the file is damaged or
/// truncated, or lists the tables or columns there are; ResourceError when the points exceed the memory budget, or there
/// can be no child. Source: FITS Standard 4.0, section 7.
[[nodiscard]] FilePoints read_fits(ByteStream& stream, const Source& source);

/// What the child does: the same in this process, where a damaged file may crash it.
void read_fits_here(LibraryFile file, const Source& source, PointsSink& points);

}  // namespace epsflow::io
