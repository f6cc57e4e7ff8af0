// Makes NPY files byte by byte.
#pragma once

#include <initializer_list>
#include <string>

#include "io/io_test.hpp"

namespace epsflow::io::test {

/// types: a record type in Python's notation.
inline std::string npy_records(const std::string& types, const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': " + types + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

/// type: the type of one number, such as "<f8".
inline std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  return npy_records("'" + type + "'", shape, data);
}

/// Returns the bytes of the values, one after the other.
template <class T>
std::string pack(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) bytes += bytes_of_value(value);
  return bytes;
}

}  // namespace epsflow::io::test
