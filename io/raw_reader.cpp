#include <epsflow/io/raw_reader.hpp>

#include <vector>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>
#include <epsflow/io/binary_columns.hpp>

namespace epsflow::io {

Points read_raw(std::span<const char> bytes, const Source& source) {
  const RawLayout& raw = source.options.raw;
  if (raw.dims == 0) {
    throw UsageError(source.name +
                     ": a raw file does not say how many coordinates a point has; give ReadOptions::raw.dims");
  }
  if (raw.dims > kMaxDims) {
    throw UsageError(fmt::format("ReadOptions::raw.dims is {}; 1 to {} dimensions are possible", raw.dims, kMaxDims));
  }
  const Precision precision = raw.precision.value_or(Precision::float64);
  const std::size_t size = bytes_of(precision);
  const std::size_t row_bytes = raw.dims * size;
  if (bytes.size() % row_bytes != 0) {
    throw InputError(
        fmt::format("{}: {} bytes are no whole number of points of {} bytes ({} x float{}); it is truncated, or "
                    "ReadOptions::raw.dims or ReadOptions::raw.precision is wrong",
                    source.name, bytes.size(), row_bytes, raw.dims, size * 8));
  }
  const ColumnList available{.count = raw.dims, .names = {}};
  std::vector<BinaryColumn> columns;
  const std::vector<std::size_t> selected = select_columns(source, available);
  for (const std::size_t i : selected) {
    const ValueType type = precision == Precision::float32 ? ValueType::float32 : ValueType::float64;
    columns.push_back({.type = type, .big_endian = false, .offset = i * size, .stride = row_bytes});
  }
  Points points = points_from_columns(bytes, bytes.size() / row_bytes, columns, source);
  points.column_numbers = selected;
  apply_nan_policy(points, source);
  return points;
}

}  // namespace epsflow::io
