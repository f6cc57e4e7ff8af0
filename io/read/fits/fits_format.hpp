// The format FITS, whose tables are read with cfitsio.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

/// Returns the functions that read the format; all null if the build leaves cfitsio out.
[[nodiscard]] Reader fits_reader();

/// Reads the columns of a binary or ASCII table as points. The table is source.options.table: an extension number (1 is
/// the first after the primary array) or an EXTNAME; by default the first table. Columns hold numbers or truth values
/// (0 and 1) and are named without regard to case; one element of a vector is "POS[2]", counted from 0. Nulls become
/// NaN: integers that are stored as TNULL, and fields of ASCII tables that equal TNULL apart from blanks at their ends.
/// TSCAL and TZERO are applied. If all columns are unscaled and of type E in a binary table, the points are float32;
/// otherwise float64.
///
/// A damaged file may crash cfitsio, so call it in a child process. Holds fits_mutex(), since cfitsio keeps global
/// state. Throws InputError with cfitsio's reason if the file is damaged or truncated, or listing the tables or columns
/// if a chosen one does not exist. Source: FITS Standard 4.0, section 7.
void parse_fits(const LibraryFile& file, const Source& source, ValueSink& points);

}  // namespace epsflow::io
