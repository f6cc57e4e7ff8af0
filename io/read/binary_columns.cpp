#include <epsflow/io/read/binary_columns.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

/// Bytes that are read and converted at once, column by column; small enough to stay in the cache.
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

template <class T>
T load(const char* from, bool swap) noexcept {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// A number of half precision (IEEE 754 binary16).
struct Half {
  std::uint16_t bits = 0;

  explicit operator double() const noexcept {
    const int exponent = bits >> 10 & 0x1F;
    const int fraction = bits & 0x3FF;
    double value = 0;
    if (exponent == 0x1F) {
      value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else {
      value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 0x400, exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -value : value;
  }
};

/// The C++ types in the order of ValueType.
using ValueTypes = std::tuple<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                              std::uint16_t, std::uint32_t, std::uint64_t, Half>;

bool is_native(const BinaryColumn& column) noexcept {
  return column.big_endian == (std::endian::native == std::endian::big);
}

/// Consecutive values of a column in memory.
struct ValueRun {
  const BinaryColumn& column;
  const ElementChoice& choice;
  const char* from;
  std::uint64_t stride;
  RowRange rows;
  const Source& source;
};

template <class From, class To>
void convert_run(const ValueRun& run, bool swap, To* to, std::size_t dims) {
  bool is_large = false;
  for (std::uint64_t i = 0; i < run.rows.count; ++i) {
    const auto value = static_cast<To>(load<From>(run.from + i * run.stride, swap));
    if constexpr (std::is_integral_v<From> && sizeof(From) == 8) is_large |= may_be_rounded(value);
    to[i * dims] = value;
  }
  if constexpr (std::is_integral_v<From>) {
    for (std::uint64_t i = 0; is_large && i < run.rows.count; ++i) {
      const auto value = load<From>(run.from + i * run.stride, swap);
      if (is_exact(value)) continue;
      throw_rounded(run.source, fmt::format("row {}", run.rows.first + i), run.choice.label(), std::to_string(value));
    }
  }
}

/// Calls f with a zero of the type.
template <class F>
void with_value_type(ValueType type, F f) {
  const auto visit = [&]<class... T>(std::type_identity<std::tuple<T...>>) {
    std::size_t number = 0;
    ((static_cast<std::size_t>(type) == number++ ? f(T{}) : void()), ...);
  };
  visit(std::type_identity<ValueTypes>());
}

template <class To>
void convert_column(const ValueRun& values, To* to, std::size_t dims) {
  const bool swap = !is_native(values.column);
  const auto run = [&](auto zero) { convert_run<decltype(zero)>(values, swap, to, dims); };
  if constexpr (std::is_same_v<To, float>) {
    run(float{});  // Only float32 columns give float32 points.
  } else {
    with_value_type(values.column.type, run);
  }
}

/// True if the columns fill the row one after the other, as the coordinates of points do.
bool is_point_layout(std::span<const BinaryColumn> columns, std::uint64_t row_bytes, Precision precision) noexcept {
  const ValueType type = precision == Precision::float32 ? ValueType::float32 : ValueType::float64;
  const std::size_t size = bytes_of(precision);
  if (row_bytes != size * columns.size()) return false;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].type != type || !is_native(columns[k]) || columns[k].offset != k * size) return false;
  }
  return true;
}

/// The data of a stream; reports a stream that ends too early.
class DataStream {
 public:
  DataStream(ByteStream& stream, std::uint64_t expected, const Source& source)
      : stream_(stream), expected_(expected), source_(source) {}

  void read(std::span<char> to) {
    const std::size_t got = stream_.read(to);
    taken_ += got;
    if (got < to.size()) throw_truncated(source_, expected_, taken_);
  }

  [[nodiscard]] const Source& source() const noexcept { return source_; }

  /// Skips bytes up to an offset in the data.
  void skip_to(std::uint64_t offset) {
    const std::uint64_t count = offset - taken_;
    const std::uint64_t got = stream_.skip(count);
    taken_ += got;
    if (got < count) throw_truncated(source_, expected_, taken_);
  }

 private:
  ByteStream& stream_;
  std::uint64_t expected_;
  std::uint64_t taken_ = 0;
  const Source& source_;
};

template <class T>
void put_rows(DataStream& data, const PointsShape& shape, std::uint64_t row_bytes,
              std::span<const BinaryColumn> columns, const RowRange& rows, ValueStore& points) {
  const std::size_t dims = columns.size();
  const std::uint64_t block = std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, row_bytes));
  Buffer<char> bytes(checked_multiply(block, row_bytes, "rows"));
  Buffer<T> values(checked_multiply(block, dims, "rows"));
  for (RowRange some{rows.first}; some.first < rows.end(); some.first += block) {
    some.count = std::min(block, rows.end() - some.first);
    data.read(bytes.span().first(some.count * row_bytes));
    for (std::size_t k = 0; k < dims; ++k) {
      convert_column({columns[k], shape.columns[k], bytes.data() + columns[k].offset, row_bytes, some, data.source()},
                     values.data() + k, dims);
    }
    points.put_rows(some.first, std::span<const T>(values.data(), some.count * dims));
  }
}

/// Puts the next values of the stream as the given coordinates.
void put_run(DataStream& data, const PointsShape& shape, const BinaryColumn& column,
             std::span<const std::size_t> coordinates, const RowRange& rows, ValueStore& points) {
  const std::size_t size = bytes_of(column.type);
  const std::uint64_t block = kBlockBytes / size;
  std::vector<char> bytes(kBlockBytes);
  with_type(shape.precision(), [&]<class T>(T /*zero*/) {
    std::vector<T> values(block);
    for (RowRange some{rows.first}; some.first < rows.end(); some.first += block) {
      some.count = std::min(block, rows.end() - some.first);
      data.read(std::span(bytes).first(some.count * size));
      const ElementChoice& choice = shape.columns[coordinates[0]];
      convert_column({column, choice, bytes.data(), size, some, data.source()}, values.data(), 1);
      for (const std::size_t k : coordinates) {
        points.put_coordinate(some.first, k, std::span<const T>(values).first(some.count));
      }
    }
  });
}

}  // namespace

std::size_t bytes_of(ValueType type) noexcept {
  constexpr std::array<std::size_t, 11> kBytes{4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2};
  return kBytes[static_cast<std::size_t>(type)];
}

std::string_view type_name(ValueType type) noexcept {
  constexpr std::array<std::string_view, 11> kNames{"float32", "float64", "int8",   "int16",  "int32",  "int64",
                                                    "uint8",   "uint16",  "uint32", "uint64", "float16"};
  return kNames[static_cast<std::size_t>(type)];
}

void throw_truncated(const Source& source, std::uint64_t expected, std::uint64_t found) {
  throw source.error("truncated: the header tells of {} of data, but there are {}; fetch or write it again",
                     format_count(expected, "byte"), format_count(found));
}

FilePoints points_from_rows(ByteStream& stream, const PointsShape& shape, std::uint64_t row_bytes,
                            std::span<const BinaryColumn> columns, const Source& source) {
  PointsBuilder points(source);
  points.begin(shape);
  DataStream data(stream, checked_multiply(shape.rows, row_bytes, "rows"), source);
  const RowRange rows = share_of(source.options, shape.rows);
  if (rows.count == 0) return points.take();
  data.skip_to(rows.first * row_bytes);
  if (is_point_layout(columns, row_bytes, shape.precision())) {
    points.put_from(rows.first, ValueSink::kWholeRows, rows.count * row_bytes, [&](std::span<std::byte> to) {
      data.read({reinterpret_cast<char*>(to.data()), to.size()});
    });
  } else {
    with_type(shape.precision(),
              [&](auto zero) { put_rows<decltype(zero)>(data, shape, row_bytes, columns, rows, points); });
  }
  return points.take();
}

FilePoints points_from_runs(ByteStream& stream, const PointsShape& shape, std::span<const BinaryColumn> columns,
                            const Source& source) {
  PointsBuilder points(source);
  points.begin(shape);
  const RowRange rows = share_of(source.options, shape.rows);
  if (rows.count == 0) return points.take();
  // The stream goes forward only, so columns are read by offset. The weight column may be a coordinate as well.
  std::map<std::uint64_t, std::vector<std::size_t>> coordinates;
  for (std::size_t k = 0; k < columns.size(); ++k) coordinates[columns[k].offset].push_back(k);
  const std::size_t size = bytes_of(columns[0].type);
  DataStream data(stream, coordinates.rbegin()->first + checked_multiply(shape.rows, size, "columns"), source);
  for (const auto& [offset, of_run] : coordinates) {
    data.skip_to(offset + rows.first * size);
    put_run(data, shape, columns[of_run[0]], of_run, rows, points);
  }
  return points.take();
}

void put_run(ByteStream& stream, const PointsShape& shape, const BinaryColumn& column, std::size_t k,
             ValueStore& points, const Source& source) {
  DataStream data(stream, checked_multiply(shape.rows, bytes_of(column.type), "column"), source);
  put_run(data, shape, column, std::span(&k, 1), {0, shape.rows}, points);
}

}  // namespace epsflow::io
