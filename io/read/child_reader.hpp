// Reading in a process of its own, for parsers that damaged files can crash.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/element_columns.hpp>
#include <epsflow/io/read/source.hpp>

namespace epsflow::io {

/// What a reader knows before the first value.
struct PointsShape {
  std::uint64_t rows = 0;
  Precision precision = Precision::float64;
  std::vector<ElementChoice> columns = {};  ///< one for each coordinate
  std::string kind = {};                    ///< as InputRows::kind
  std::uint64_t memory_taken = 0;           ///< bytes of ReadOptions::memory that the reader itself holds
};

/// Where a child process puts what it reads: first the shape, then every value, in any order.
class PointsSink {
 public:
  PointsSink() = default;
  virtual ~PointsSink() = default;
  PointsSink(const PointsSink&) = delete;
  PointsSink& operator=(const PointsSink&) = delete;

  /// The coordinate that stands for whole rows.
  static constexpr std::uint64_t kAllCoordinates = ~std::uint64_t{0};

  virtual void begin(const PointsShape& shape) = 0;

  /// Whole rows from row `first` on, row-major. T is of the shape's precision.
  template <class T>
  void put_rows(std::uint64_t first, std::span<const T> values) {
    put(first, kAllCoordinates, std::as_bytes(values));
  }
  /// Coordinate k of the rows from row `first` on. T is of the shape's precision.
  template <class T>
  void put_coordinate(std::uint64_t first, std::size_t k, std::span<const T> values) {
    put(first, k, std::as_bytes(values));
  }

 private:
  virtual void put(std::uint64_t first, std::uint64_t coordinate, std::span<const std::byte> values) = 0;
};

/// Runs `read` in a child process, a fork() of this one, and returns the points that it puts, after the NaN policy.
/// What `read` throws is thrown here. Throws InputError that calls the source damaged and names `library` when the
/// child crashes, sends what cannot be, or takes more than `patience` of processor time for one step; ResourceError
/// when there can be no child, or somebody killed it. Peak memory: the points, a block of them, and what `read` takes.
/// The child prints nothing, dumps no core, and ends with its parent. A thread that holds a lock which `read` takes
/// must be the calling one.
[[nodiscard]] FilePoints read_in_child(const Source& source, std::string_view library,
                                   const std::function<void(PointsSink&)>& read,
                                   std::chrono::seconds patience = std::chrono::seconds(60));

}  // namespace epsflow::io
