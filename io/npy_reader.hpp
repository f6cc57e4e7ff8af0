// NPY files, versions 1.0, 2.0 and 3.0.
#pragma once

#include <span>

#include <epsflow/core/points.hpp>
#include <epsflow/io/source.hpp>

namespace epsflow::io {

/// Whether the bytes begin as an NPY file does.
[[nodiscard]] bool is_npy(std::span<const char> bytes) noexcept;

/// Reads an array as points: two axes are rows and columns, in C or Fortran order; one axis is n points in one
/// dimension, or, with a structured type, n points whose columns are the fields. Values of any byte order: float32,
/// float64, integers, booleans. Fields of other types may be there as long as they are not selected. Bytes behind the
/// array are ignored, as numpy does.
///
/// Throws InputError for a header that is damaged or claims more than the bytes hold, and for types that are no plain
/// numbers; ResourceError when the points exceed the memory budget.
/// Source: "NEP 1: A simple file format for NumPy arrays".
[[nodiscard]] Points read_npy(std::span<const char> bytes, const Source& source);

}  // namespace epsflow::io
