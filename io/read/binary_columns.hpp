// Converts columns of fixed-size binary values, as NPY and raw files hold them, to points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/byte_stream.hpp>
#include <epsflow/io/read/source.hpp>
#include <epsflow/io/read/value_sink.hpp>

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

[[nodiscard]] std::size_t bytes_of(ValueType type) noexcept;

/// Returns numpy's name of the type: "float32".
[[nodiscard]] std::string_view type_name(ValueType type) noexcept;

/// One column of binary values, unaligned.
struct BinaryColumn {
  ValueType type = ValueType::float64;
  bool big_endian = false;
  std::uint64_t offset = 0;  ///< byte offset of its first value in the data
};

/// Makes points of the next shape.rows rows of the stream, row_bytes each. columns[k] is where shape.columns[k] is
/// stored. Rows that source.options.share does not select are skipped. One pass. Rows that are laid out as points are
/// in memory are read into the points at once; others are converted a block at a time. Throws as PointsBuilder, and
/// InputError if the stream ends before the selected rows do or float64 would round an integer.
[[nodiscard]] FilePoints points_from_rows(ByteStream& stream, const PointsShape& shape, std::uint64_t row_bytes,
                                          std::span<const BinaryColumn> columns, const Source& source);

/// As points_from_rows(), for columns of one type. Each is stored as shape.rows consecutive values. Columns may be in
/// any order, and several may have the same offset. Values are converted a block at a time.
[[nodiscard]] FilePoints points_from_runs(ByteStream& stream, const PointsShape& shape,
                                          std::span<const BinaryColumn> columns, const Source& source);

/// Puts the next shape.rows values of the stream as coordinate k, whatever the share; `points` drops rows outside of
/// it. column: the type and byte order of the values; its offset is ignored. Throws InputError if the stream ends
/// before or float64 would round an integer.
void put_run(ByteStream& stream, const PointsShape& shape, const BinaryColumn& column, std::size_t k,
             ValueStore& points, const Source& source);

/// Throws InputError for a file that has `found` bytes of data in place of the `expected` ones.
[[noreturn]] void throw_truncated(const Source& source, std::uint64_t expected, std::uint64_t found);

}  // namespace epsflow::io
