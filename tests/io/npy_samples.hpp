// Makes NPY files byte by byte.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

#include "io/io_test.hpp"

namespace epsflow::io::test {

/// dictionary: the text of the header, in Python's notation. version: of the format.
inline std::string npy_file(const std::string& dictionary, const std::string& data, int version = 1) {
  const std::string header = dictionary + "\n";
  std::string file = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

/// types: a record type in Python's notation. by_columns: the data are in Fortran's order.
inline std::string npy_records(const std::string& types, const std::string& shape, const std::string& data,
                               bool by_columns = false, int version = 1) {
  const std::string order = by_columns ? "True" : "False";
  return npy_file("{'descr': " + types + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }", data, version);
}

/// type: the type of one number, such as "<f8".
inline std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                       bool by_columns = false, int version = 1) {
  return npy_records("'" + type + "'", shape, data, by_columns, version);
}

/// Returns the bytes of the values, one after the other.
template <class T>
std::string pack(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) bytes += bytes_of_value(value);
  return bytes;
}

}  // namespace epsflow::io::test
