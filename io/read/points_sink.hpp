// Where a parser of a foreign library puts what it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/io/read/element_columns.hpp>

namespace epsflow::io {

/// What a reader knows before the first value.
struct PointsShape {
  std::uint64_t rows = 0;
  Precision precision = Precision::float64;
  std::vector<ElementChoice> columns = {};  ///< one for each coordinate
  std::string kind = {};                    ///< as InputRows::kind
  std::uint64_t memory_taken = 0;           ///< bytes of ReadOptions::memory that the reader itself holds
  std::vector<double> box = {};             ///< as PointsOrigin::box
  bool has_masses = false;                  ///< as PointsOrigin::has_masses
  std::uint64_t pieces = 1;                 ///< as InputRows::pieces
};

/// Takes first the shape, then every value, in any order. Of rows that ReadOptions::share does not ask for it takes any or none.
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

}  // namespace epsflow::io
