// NPY files, versions 1.0, 2.0 and 3.0.
#pragma once

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/format.hpp>
#include <epsflow/io/read/numpy/npy_header.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// Reads an array as points: two axes are rows and columns, in C or Fortran order; one axis is n points in one
/// dimension, or, with a structured type, n points whose columns are the fields. Values may be floats, integers or
/// booleans of any byte order. One element of a field that is an array is "pos[0]". Fields of other types are allowed
/// unless they are selected. Bytes after the array are ignored, as in numpy.
///
/// One pass, forward only; peak memory: the points and a block. Throws InputError if the header is damaged or claims
/// more than the file holds, if a type is not a plain number, and for a few long rows that look transposed;
/// ResourceError if the points exceed the memory budget.
[[nodiscard]] FilePoints read_npy(ByteStream& stream, const Source& source);

}  // namespace epsflow::io
