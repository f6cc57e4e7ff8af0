// A source of points: a function that writes rows into memory of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <epsflow/core/points.hpp>

namespace epsflow {

/// A data set that need not be in memory as a whole. Instead of an array it has a function that writes some of its
/// rows. PointSet describes which runs read all rows into memory.
struct PointsSource {
  std::size_t size = 0;
  std::size_t dims = 1;
  Precision precision = Precision::float64;
  /// Writes the rows [first, last), row-major, to `to`, which can hold (last − first) · row_bytes() bytes. It is
  /// called for any ranges, in any order and repeatedly, from several threads at once. It may throw; loading rethrows.
  std::function<void(std::size_t first, std::size_t last, void* to)> write;

  [[nodiscard]] std::size_t row_bytes() const noexcept { return dims * bytes_of(precision); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{size} * row_bytes(); }
};

}  // namespace epsflow
