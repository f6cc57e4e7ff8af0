// The header of an NPY file: a dictionary in Python's spelling with the array's type, order and shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/read/binary_columns.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// The type of an array element or of a field.
struct NpyType {
  std::string name = {};                 ///< the name in errors
  std::optional<ValueType> number = {};  ///< nullopt if values are not numbers of a type in ValueType
  bool big_endian = false;
  std::uint64_t elements = 1;  ///< number of elements, for a field that is an array itself
  std::uint64_t bytes = 0;     ///< bytes of all elements
};

struct NpyField {
  std::string name;
  NpyType type;
  std::uint64_t offset = 0;  ///< byte offset in its row
};

struct NpyHeader {
  bool is_record = false;
  NpyType type;                  ///< type of an element, unless it is a record
  std::vector<NpyField> fields;  ///< fields of a record, without padding
  std::uint64_t row_bytes = 0;   ///< bytes of an element or record
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::optional<std::uint64_t> data_bytes;  ///< bytes after the header, if the size of the stream is known
};

/// True if the bytes begin as an NPY file does.
[[nodiscard]] bool is_npy(std::span<const char> bytes) noexcept;

/// Reads the header, which leaves the stream at the array. Names are UTF-8, whatever the version of the file. Throws
/// InputError for a damaged header, for a version other than 1 to 3, and for Python objects. Source: "NEP 1: A simple
/// file format for NumPy arrays".
[[nodiscard]] NpyHeader read_npy_header(ByteStream& stream, const Source& source);

/// Returns a · b. Throws InputError on overflow, because sizes come from the file.
[[nodiscard]] std::uint64_t multiply_sizes(std::uint64_t a, std::uint64_t b, const Source& source);

}  // namespace epsflow::io
