#include <epsflow/io/read/binary_columns.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include <epsflow/core/buffer.hpp>
#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

/// Bytes that are read and converted before the next ones: column by column, so that they should stay in the cache.
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

/// In the order of ValueType.
using ValueTypes = std::tuple<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                              std::uint16_t, std::uint32_t, std::uint64_t, Half>;

bool is_native(const BinaryColumn& column) noexcept {
  return column.big_endian == (std::endian::native == std::endian::big);
}

/// Where the values of a column come from.
struct Run {
  const BinaryColumn& column;
  const char* from;
  std::uint64_t stride;
  std::uint64_t first_row;
  std::uint64_t count;
  const Source& source;
};

template <class From, class To>
void convert_run(const Run& run, bool swap, To* to, std::size_t dims) {
  bool is_large = false;
  for (std::uint64_t i = 0; i < run.count; ++i) {
    const auto value = static_cast<To>(load<From>(run.from + i * run.stride, swap));
    if constexpr (std::is_integral_v<From> && sizeof(From) == 8) is_large |= may_be_rounded(value);
    to[i * dims] = value;
  }
  if constexpr (std::is_integral_v<From>) {
    for (std::uint64_t i = 0; is_large && i < run.count; ++i) {
      const auto value = load<From>(run.from + i * run.stride, swap);
      if (is_exact(value)) continue;
      throw_rounded(run.source, fmt::format("row {}", run.first_row + i), run.column.label, std::to_string(value));
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
void convert_column(const Run& values, To* to, std::size_t dims) {
  const bool swap = !is_native(values.column);
  const auto run = [&](auto zero) { convert_run<decltype(zero)>(values, swap, to, dims); };
  if constexpr (std::is_same_v<To, float>) {
    run(float{});  // float32 points are made of float32 columns only
  } else {
    with_value_type(values.column.type, run);
  }
}

/// Whether the columns are all of the row and follow each other, as the coordinates of points do.
bool is_point_layout(std::span<const BinaryColumn> columns, std::uint64_t row_bytes, Precision precision) noexcept {
  const ValueType type = precision == Precision::float32 ? ValueType::float32 : ValueType::float64;
  const std::size_t size = bytes_of(precision);
  if (row_bytes != size * columns.size()) return false;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].type != type || !is_native(columns[k]) || columns[k].offset != k * size) return false;
  }
  return true;
}

/// The data of a stream, which may end before they do.
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

  /// Passes over bytes up to a place in the data.
  void skip_to(std::uint64_t place) {
    const std::uint64_t count = place - taken_;
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
void fill_rows(DataStream& data, FilePoints& points, std::uint64_t row_bytes, std::span<const BinaryColumn> columns) {
  const std::span<T> values = points.values<T>();
  const std::size_t block =
      static_cast<std::size_t>(std::max<std::uint64_t>(1, kBlockBytes / std::max<std::uint64_t>(1, row_bytes)));
  Buffer<char> rows(checked_multiply(block, row_bytes, "rows"));
  for (std::size_t first = 0; first < points.size(); first += block) {
    const std::size_t count = std::min(block, points.size() - first);
    data.read(rows.span().first(count * row_bytes));
    for (std::size_t k = 0; k < columns.size(); ++k) {
      convert_column(Run{columns[k], rows.data() + columns[k].offset, row_bytes, points.inputs.front().first + first,
                         count, data.source()},
                     values.data() + first * columns.size() + k, columns.size());
    }
  }
}

template <class T>
void fill_run(DataStream& data, const BinaryColumn& column, FilePoints& points, std::size_t k) {
  const std::span<T> values = points.values<T>();
  const std::size_t size = bytes_of(column.type);
  const std::size_t block = kBlockBytes / size;
  std::vector<char> run(kBlockBytes);
  for (std::size_t first = 0; first < points.size(); first += block) {
    const std::size_t count = std::min(block, points.size() - first);
    data.read(std::span(run).first(count * size));
    convert_column(Run{column, run.data(), size, points.inputs.front().first + first, count, data.source()},
                   values.data() + first * points.dims() + k, points.dims());
  }
}

void fill_run(DataStream& data, const BinaryColumn& column, FilePoints& points, std::size_t k) {
  with_type(points.precision(), [&](auto zero) { fill_run<decltype(zero)>(data, column, points, k); });
}

/// The points' own storage.
std::span<char> storage_of(Points& points) {
  return with_type(points.precision(), [&](auto zero) {
    const auto values = points.values<decltype(zero)>();
    return std::span(reinterpret_cast<char*>(values.data()), values.size_bytes());
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

Precision precision_of(std::span<const BinaryColumn> columns) noexcept {
  const bool single = std::all_of(columns.begin(), columns.end(),
                                  [](const BinaryColumn& column) { return column.type == ValueType::float32; });
  return single ? Precision::float32 : Precision::float64;
}

void throw_truncated(const Source& source, std::uint64_t expected, std::uint64_t found) {
  throw source.error("truncated: the header tells of {} of data, but there are {}; fetch or write it again",
                     format_count(expected, "byte"), format_count(found));
}

FilePoints points_from_rows(ByteStream& stream, std::uint64_t n, std::uint64_t row_bytes,
                            std::span<const BinaryColumn> columns, const Source& source) {
  FilePoints points = make_points(source, n, columns.size(), precision_of(columns));
  DataStream data(stream, checked_multiply(n, row_bytes, "rows"), source);
  if (points.size() == 0) return points;
  data.skip_to(points.inputs.front().first * row_bytes);
  if (is_point_layout(columns, row_bytes, points.precision())) {
    data.read(storage_of(points));
  } else {
    with_type(points.precision(), [&](auto zero) { fill_rows<decltype(zero)>(data, points, row_bytes, columns); });
  }
  return points;
}

FilePoints points_from_runs(ByteStream& stream, std::uint64_t n, std::span<const BinaryColumn> columns,
                            const Source& source) {
  FilePoints points = make_points(source, n, columns.size(), precision_of(columns));
  if (points.size() == 0) return points;
  // The stream goes forward only.
  std::vector<std::size_t> order(columns.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return columns[a].offset < columns[b].offset; });
  const BinaryColumn& last = columns[order.back()];
  DataStream data(stream, last.offset + checked_multiply(n, bytes_of(last.type), "columns"), source);
  const std::size_t* before = nullptr;
  for (const std::size_t& k : order) {
    // The weights may be a coordinate as well, and its values have passed.
    if (before != nullptr && columns[*before].offset == columns[k].offset) {
      copy_coordinate(points, *before, k);
      continue;
    }
    data.skip_to(columns[k].offset + points.inputs.front().first * bytes_of(columns[k].type));
    fill_run(data, columns[k], points, k);
    before = &k;
  }
  return points;
}

void read_run(ByteStream& stream, const BinaryColumn& column, FilePoints& points, std::size_t k, const Source& source) {
  DataStream data(stream, checked_multiply(points.size(), bytes_of(column.type), "column"), source);
  fill_run(data, column, points, k);
}

}  // namespace epsflow::io
