#include <epsflow/io/read/readers.hpp>

#include <vector>

#include <epsflow/core/format.hpp>
#include <epsflow/io/read/binary_columns.hpp>
#include <epsflow/io/read/library_file.hpp>

namespace epsflow::io {

FilePoints read_raw(ByteStream& stream, const Source& source) {
  const RawLayout& raw = source.options.raw;
  if (raw.dims == 0) {
    throw source.error<UsageError>(
        "a raw file does not say how many coordinates a point has; give ReadOptions::raw.dims");
  }
  if (raw.dims > kMaxDims) {
    throw UsageError(fmt::format("ReadOptions::raw.dims is {}; 1 to {} dimensions are possible", raw.dims, kMaxDims));
  }
  const Precision precision = raw.precision.value_or(Precision::float64);
  const std::size_t size = bytes_of(precision);
  const std::size_t row_bytes = raw.dims * size;
  // Only the size of the file gives the number of rows.
  if (!stream.size()) {
    const LibraryFile file = library_file(stream, source);
    return read_raw(*open_stream(file.path, Unpack::nothing), source.with_taken(file.memory_taken));
  }
  const std::uint64_t bytes = *stream.size();
  if (bytes % row_bytes != 0) {
    throw source.error(
        "{} are no whole number of points of {} ({} x float{}); it is truncated, or ReadOptions::raw.dims or "
        "ReadOptions::raw.precision is wrong",
        format_count(bytes, "byte"), format_count(row_bytes, "byte"), raw.dims, size * 8);
  }
  PointsShape shape{.rows = bytes / row_bytes,
                    .columns = select_elements(source, {.count = raw.dims, .names = {}}),
                    .kind = fmt::format("raw float{}", size * 8)};
  std::vector<BinaryColumn> columns;
  for (ElementChoice& choice : shape.columns) {
    choice.is_float32 = precision == Precision::float32;
    columns.push_back(
        {.type = choice.is_float32 ? ValueType::float32 : ValueType::float64, .offset = choice.column * size});
  }
  return points_from_rows(stream, shape, row_bytes, columns, source);
}

}  // namespace epsflow::io
