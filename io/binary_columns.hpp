// Fixed-size binary columns, as NPY and raw files hold them, to rows of coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <epsflow/core/points.hpp>
#include <epsflow/io/source.hpp>

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
};

/// Bytes of one value.
[[nodiscard]] std::size_t bytes_of(ValueType type) noexcept;

/// One column: value i lies at offset + i · stride, unaligned.
struct BinaryColumn {
  ValueType type = ValueType::float64;
  bool big_endian = false;
  std::uint64_t offset = 0;
  std::uint64_t stride = 0;
};

/// Rows 0…n-1 of the columns, which must lie within `bytes`, as points: float32 when every column is float32, else
/// float64, to which integers are converted, nearest even. Values already laid out as points are copied at the speed of
/// memory. O(n·d). Throws as make_points does.
[[nodiscard]] Points points_from_columns(std::span<const char> bytes, std::uint64_t n,
                                         std::span<const BinaryColumn> columns, const Source& source);

}  // namespace epsflow::io
