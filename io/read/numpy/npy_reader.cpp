#include <epsflow/io/read/readers.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <epsflow/core/checked.hpp>
#include <epsflow/io/read/element_columns.hpp>
#include <epsflow/io/read/numpy/npy_header.hpp>

namespace epsflow::io {
namespace {

/// Throws InputError before memory is allocated if the file is known to be too short.
void require_bytes(const NpyHeader& header, std::uint64_t expected, const Source& source) {
  if (header.data_bytes && expected > *header.data_bytes) throw_truncated(source, expected, *header.data_bytes);
}

FilePoints read_structured(ByteStream& stream, const NpyHeader& header, const Source& source) {
  if (header.shape.size() != 1) {
    throw source.error("a structured array must have one axis to be points, but it has {}; save it as array.ravel()",
                       header.shape.size());
  }
  ColumnList available{.count = header.fields.size(), .names = {}};
  for (const NpyField& field : header.fields) available.names.push_back(field.name);
  std::vector<ElementChoice> chosen = select_elements(source, available, [&](std::size_t column) {
    const NpyType& type = header.fields[column].type;
    return type.number ? type.elements : 1;
  });
  std::vector<BinaryColumn> columns;
  for (ElementChoice& choice : chosen) {
    const NpyField& field = header.fields[choice.column];
    if (!field.type.number) throw_not_numeric(source, available, choice.column, field.type.name);
    choice.is_float32 = *field.type.number == ValueType::float32;
    columns.push_back({.type = *field.type.number,
                       .big_endian = field.type.big_endian,
                       .offset = field.offset + choice.element * bytes_of(*field.type.number)});
  }
  require_bytes(header, multiply_sizes(header.shape[0], header.row_bytes, source), source);
  const PointsShape shape{.rows = header.shape[0], .columns = std::move(chosen), .kind = "NPY records"};
  return points_from_rows(stream, shape, header.row_bytes, columns, source);
}

FilePoints read_plain(ByteStream& stream, const NpyHeader& header, const Source& source) {
  if (!header.type.number) {
    throw source.error("the array holds {}, not plain numbers; convert it with astype('float64') first",
                       header.type.name);
  }
  if (header.shape.empty() || header.shape.size() > 2) {
    throw source.error("points need one axis or two (rows, columns), but the array has {}; reshape it first",
                       header.shape.size());
  }
  const ValueType type = *header.type.number;
  const std::uint64_t rows = header.shape[0];
  const std::uint64_t width = header.shape.size() == 2 ? header.shape[1] : 1;
  require_bytes(header, multiply_sizes(multiply_sizes(rows, width, source), header.row_bytes, source), source);
  const std::string wide = describe_width(source, rows, width);
  PointsShape shape{.rows = rows,
                    .columns = select_elements(source, {.count = narrow<std::size_t>(width), .names = {}}),
                    .kind = fmt::format("NPY {}{}", type_name(type), wide)};
  std::vector<BinaryColumn> columns;
  columns.reserve(shape.columns.size());
  for (ElementChoice& choice : shape.columns) {
    choice.is_float32 = type == ValueType::float32;
    columns.push_back({.type = type,
                       .big_endian = header.type.big_endian,
                       .offset = choice.column * header.row_bytes * (header.fortran_order ? rows : 1)});
  }
  return header.fortran_order ? points_from_runs(stream, shape, columns, source)
                              : points_from_rows(stream, shape, width * header.row_bytes, columns, source);
}

}  // namespace

FilePoints read_npy(ByteStream& stream, const Source& source) {
  const NpyHeader header = read_npy_header(stream, source);
  return header.is_record ? read_structured(stream, header, source) : read_plain(stream, header, source);
}

}  // namespace epsflow::io
