// Fixed-size binary columns, as NPY and raw files hold them, to rows of coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// How the values of a column are stored. Booleans are unsigned8.
enum class ValueType : std::uint8_t {
  float32,
  float64,
  signed8,
  signed16,
  signed32,
  signed64,
  unsigned8,
  unsigned16,
  unsigned32,
  unsigned64,
  float16,
};

/// Bytes of one value.
[[nodiscard]] std::size_t bytes_of(ValueType type) noexcept;

/// As numpy calls it: "float32".
[[nodiscard]] std::string_view type_name(ValueType type) noexcept;

/// One column of binary values, unaligned.
struct BinaryColumn {
  ValueType type = ValueType::float64;
  bool big_endian = false;
  std::uint64_t offset = 0;  ///< of its first value in the data
  std::string label = {};    ///< as errors name it
};

/// float32 when every column is float32, else float64, to which integers are converted, nearest even.
[[nodiscard]] Precision precision_of(std::span<const BinaryColumn> columns) noexcept;

/// Of the next n rows of the stream, row_bytes each, those that source.options.share asks for, as points of the columns that lie in
/// every row. Values already laid out
/// as points are read straight into them. One pass, a block at a time. Throws as make_points does, InputError where the
/// stream is shorter, and for an integer that float64 would round.
[[nodiscard]] FilePoints points_from_rows(ByteStream& stream, std::uint64_t n, std::uint64_t row_bytes,
                                          std::span<const BinaryColumn> columns, const Source& source);

/// The same for columns that lie behind each other, n values each.
[[nodiscard]] FilePoints points_from_runs(ByteStream& stream, std::uint64_t n, std::span<const BinaryColumn> columns,
                                          const Source& source);

/// The next points.size() values of the stream as coordinate k of the points.
void read_run(ByteStream& stream, const BinaryColumn& column, FilePoints& points, std::size_t k, const Source& source);

/// The InputError of a file that ends before its data do.
[[noreturn]] void throw_truncated(const Source& source, std::uint64_t expected, std::uint64_t found);

}  // namespace epsflow::io
