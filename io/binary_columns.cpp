#include <epsflow/io/binary_columns.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

/// Rows converted column by column before the next ones, so that neither side leaves the cache in between.
constexpr std::uint64_t kBlockRows = 1024;

template <class From, class To>
void convert_run(const char* from, std::uint64_t stride, bool swap, std::uint64_t count, To* to, std::size_t dims) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::array<char, sizeof(From)> bytes;
    std::memcpy(bytes.data(), from + i * stride, sizeof(From));
    if (swap) std::reverse(bytes.begin(), bytes.end());
    to[i * dims] = static_cast<To>(std::bit_cast<From>(bytes));
  }
}

template <class To>
void convert_column(const BinaryColumn& column, const char* from, std::uint64_t count, To* to, std::size_t dims) {
  const bool swap = column.big_endian != (std::endian::native == std::endian::big);
  const auto run = [&](auto zero) { convert_run<decltype(zero)>(from, column.stride, swap, count, to, dims); };
  if constexpr (std::is_same_v<To, float>) {
    run(float{});  // float32 points are made of float32 columns only
  } else {
    switch (column.type) {
      case ValueType::float32:
        return run(float{});
      case ValueType::float64:
        return run(double{});
      case ValueType::signed8:
        return run(std::int8_t{});
      case ValueType::signed16:
        return run(std::int16_t{});
      case ValueType::signed32:
        return run(std::int32_t{});
      case ValueType::signed64:
        return run(std::int64_t{});
      case ValueType::unsigned8:
        return run(std::uint8_t{});
      case ValueType::unsigned16:
        return run(std::uint16_t{});
      case ValueType::unsigned32:
        return run(std::uint32_t{});
      case ValueType::unsigned64:
        return run(std::uint64_t{});
    }
  }
}

bool is_native(const BinaryColumn& column) noexcept {
  return column.big_endian == (std::endian::native == std::endian::big);
}

/// Whether the columns follow each other without gaps, as the coordinates of points do.
bool is_point_layout(std::span<const BinaryColumn> columns, Precision precision) noexcept {
  const ValueType type = precision == Precision::float32 ? ValueType::float32 : ValueType::float64;
  const std::size_t size = bytes_of(precision);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const BinaryColumn& column = columns[k];
    if (column.type != type || !is_native(column)) return false;
    if (column.stride != size * columns.size() || column.offset != columns[0].offset + k * size) return false;
  }
  return true;
}

template <class To>
void fill(std::span<To> values, std::span<const char> bytes, std::uint64_t n, std::span<const BinaryColumn> columns) {
  for (std::uint64_t first = 0; first < n; first += kBlockRows) {
    const std::uint64_t count = std::min(kBlockRows, n - first);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      convert_column(columns[k], bytes.data() + columns[k].offset + first * columns[k].stride, count,
                     values.data() + first * columns.size() + k, columns.size());
    }
  }
}

}  // namespace

std::size_t bytes_of(ValueType type) noexcept {
  constexpr std::array<std::size_t, 10> kBytes{4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

Points points_from_columns(std::span<const char> bytes, std::uint64_t n, std::span<const BinaryColumn> columns,
                           const Source& source) {
  const bool single = std::all_of(columns.begin(), columns.end(),
                                  [](const BinaryColumn& column) { return column.type == ValueType::float32; });
  Points points = make_points(source, n, columns.size(), single ? Precision::float32 : Precision::float64);
  if (n == 0) return points;
  if (is_point_layout(columns, points.precision())) {
    void* const to = single ? static_cast<void*>(points.values<float>().data()) : points.values<double>().data();
    std::memcpy(to, bytes.data() + columns[0].offset, points.view().bytes());
  } else if (single) {
    fill(points.values<float>(), bytes, n, columns);
  } else {
    fill(points.values<double>(), bytes, n, columns);
  }
  return points;
}

}  // namespace epsflow::io
