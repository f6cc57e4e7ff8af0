#include <epsflow/io/read/value_sink.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/format.hpp>

namespace epsflow::io {
namespace {

constexpr std::size_t kSinkBlockBytes = std::size_t{1} << 16;

/// Reads bytes and discards them.
void pass_over(std::uint64_t bytes, const ReadBytes& read) {
  std::array<std::byte, kSinkBlockBytes> block;
  for (; bytes > 0; bytes -= std::min<std::uint64_t>(bytes, kSinkBlockBytes)) {
    read(std::span(block).first(std::min<std::uint64_t>(bytes, kSinkBlockBytes)));
  }
}

/// Reads `count` values of type T, and writes them at intervals of `stride` bytes.
template <class T>
void scatter(std::byte* to, std::size_t stride, std::uint64_t count, const ReadBytes& read) {
  std::array<T, kSinkBlockBytes / sizeof(T)> block;
  for (std::uint64_t done = 0; done < count; done += block.size()) {
    const std::span<T> values = std::span(block).first(std::min<std::uint64_t>(block.size(), count - done));
    read(std::as_writable_bytes(values));
    for (const T& value : values) {
      std::memcpy(to, &value, sizeof(T));
      to += stride;
    }
  }
}

}  // namespace

void ValueStore::expect(std::vector<ColumnTarget> columns, std::uint64_t bytes) {
  require(columns_.empty());
  columns_ = std::move(columns);
  missing_ = bytes;
}

void ValueStore::put(std::uint64_t first, std::uint64_t column, std::span<const std::byte> values) {
  put_from(first, column, values.size(), [&](std::span<std::byte> to) {
    std::memcpy(to.data(), values.data(), to.size());
    values = values.subspan(to.size());
  });
}

void ValueStore::put_from(std::uint64_t first, std::uint64_t column, std::uint64_t bytes, const ReadBytes& read) {
  require(column < columns_.size());
  const auto& [to, size, stride, of_file, kept] = columns_[column];
  const std::uint64_t rows = bytes / size;
  require(rows * size == bytes && first <= of_file && rows <= of_file - first);
  const std::uint64_t begin = std::clamp(kept.first, first, first + rows);
  const std::uint64_t end = std::clamp(kept.end(), begin, std::max(begin, first + rows));
  const std::uint64_t count = end - begin;
  require(count * size <= missing_);
  pass_over((begin - first) * size, read);
  std::byte* const at = count > 0 ? to + (begin - kept.first) * stride : nullptr;
  if (size == stride) {
    if (count > 0) read({at, count * size});
  } else if (size == sizeof(float)) {
    scatter<float>(at, stride, count, read);
  } else {
    scatter<double>(at, stride, count, read);
  }
  pass_over((first + rows - end) * size, read);
  missing_ -= count * size;
}

void PointsBuilder::begin(const PointsShape& shape) {
  require(std::ranges::all_of(shape.box, [](double side) { return std::isfinite(side) && side >= 0; }));
  require(shape.pieces > 0);
  require(shape.box.empty() || shape.box.size() == shape.columns.size() - (source_.options.weight.empty() ? 0 : 1));
  require(shape.memory_taken <= std::numeric_limits<std::uint64_t>::max() - source_.memory_taken);
  shape_ = shape;
  points_ = make_points(source_.with_taken(shape.memory_taken), shape.rows, shape.columns.size(), shape.precision());
  const std::size_t size = bytes_of(points_.precision());
  const std::size_t row_bytes = size * points_.dims();
  const RowRange kept{points_.inputs.front().first, points_.size()};
  auto* const to = with_type(points_.precision(), [&](auto zero) {
    return reinterpret_cast<std::byte*>(points_.values<decltype(zero)>().data());
  });
  std::vector<ColumnTarget> columns{{to, row_bytes, row_bytes, shape.rows, kept}};
  for (std::size_t k = 0; k < points_.dims(); ++k) {
    columns.push_back({to + k * size, size, row_bytes, shape.rows, kept});
  }
  expect(std::move(columns), points_.size() * row_bytes);
}

FilePoints PointsBuilder::take() {
  finish_points(points_, shape_.columns, source_);
  points_.inputs.front().kind = std::move(shape_.kind);
  points_.inputs.front().pieces = shape_.pieces;
  points_.box = std::move(shape_.box);
  points_.has_masses = shape_.has_masses;
  return std::move(points_);
}

void NeighborsBuilder::begin(const NeighborsShape& shape) {
  require(shape.memory_taken <= std::numeric_limits<std::uint64_t>::max() - source_.memory_taken);
  const std::uint64_t most = std::max({shape.offsets, shape.ids, shape.distances});
  static_cast<void>(checked_multiply(most, 4 * sizeof(double), "the table of neighbours"));  // checks that the sum fits
  const std::uint64_t bytes =
      shape.offsets * sizeof(std::uint64_t) + shape.ids * sizeof(std::uint32_t) + shape.distances * sizeof(double);
  if (bytes > memory_left(source_.with_taken(shape.memory_taken))) {
    throw source_.error<ResourceError>(
        "its table of neighbours takes {}, but the budget is {}; raise ReadOptions::memory", format_bytes(bytes),
        format_bytes(source_.options.memory));
  }
  table_ = {Buffer<std::uint64_t>(shape.offsets), Buffer<std::uint32_t>(shape.ids), Buffer<double>(shape.distances),
            shape.eps};
  const auto column = [](auto& values) -> ColumnTarget {
    constexpr std::size_t kSize = sizeof(values[0]);
    return {reinterpret_cast<std::byte*>(values.data()), kSize, kSize, values.size(), {0, values.size()}};
  };
  expect({column(table_.offsets), column(table_.ids), column(table_.distances)}, bytes);
}

}  // namespace epsflow::io
