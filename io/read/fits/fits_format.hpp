// FITS among the formats, and its tables, through cfitsio.
#pragma once

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

[[nodiscard]] const Format& fits_format();

/// What this build has for it.
[[nodiscard]] Reader fits_reader();

/// Reads the columns of a binary or ASCII table as points. The table is source.options.table: an extension number (1 is
/// the first behind the primary array) or an EXTNAME; without it, the first table. Columns are numbers or truth values
/// (0 and 1) and are named without regard to case; one element of a vector is "POS[2]", counted from 0. Nulls become NaN: integers that
/// are stored as TNULL, and fields of ASCII tables that are TNULL but for blanks at their ends. TSCAL and TZERO are applied. Unscaled columns of type E only give float32 points, anything else float64.
///
/// A damaged file may crash cfitsio: to be called in a process of its own. Holds fits_mutex(), since cfitsio keeps global
/// state. Throws InputError with cfitsio's reason when the file is damaged or truncated, or lists the tables or columns
/// there are. Source: FITS Standard 4.0, section 7.
void parse_fits(const LibraryFile& file, const Source& source, ValueSink& points);

}  // namespace epsflow::io
