// Makes usual row sizes known to the compiler.
#pragma once

#include <cstddef>
#include <type_traits>

namespace epsflow::parts {

/// Calls f(row) once. row: the bytes of the coordinates of a point. If it is the size of two or three coordinates, f
/// gets a std::integral_constant, so that copies of that size are inlined.
template <class F>
void with_row_bytes(std::size_t row, F&& f) {
  switch (row) {
    case 8:
      return f(std::integral_constant<std::size_t, 8>());
    case 12:
      return f(std::integral_constant<std::size_t, 12>());
    case 16:
      return f(std::integral_constant<std::size_t, 16>());
    case 24:
      return f(std::integral_constant<std::size_t, 24>());
    default:
      return f(row);
  }
}

}  // namespace epsflow::parts
