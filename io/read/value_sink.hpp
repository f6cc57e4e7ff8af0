// The interface through which readers pass values, and the stores that make points or a neighbour table of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <epsflow/core/points.hpp>
#include <epsflow/io/file_points.hpp>
#include <epsflow/io/read/element_columns.hpp>
#include <epsflow/io/read_neighbors.hpp>

namespace epsflow::io {

/// The shape of points, which a reader passes before the first value.
struct PointsShape {
  std::uint64_t rows = 0;                   ///< rows of the file, whatever ReadOptions::share selects
  std::vector<ElementChoice> columns = {};  ///< one for each coordinate, followed by the weights if there are any
  std::string kind = {};                    ///< as InputRows::kind
  std::uint64_t memory_taken = 0;           ///< bytes of ReadOptions::memory that the reader itself holds
  std::vector<double> box = {};             ///< as PointsOrigin::box
  bool has_masses = false;                  ///< as PointsOrigin::has_masses
  std::uint64_t pieces = 1;                 ///< as InputRows::pieces

  /// The type of the values that are put.
  [[nodiscard]] Precision precision() const noexcept { return precision_of(columns); }
};

/// The shape of a neighbour table, which a reader passes before the first value.
struct NeighborsShape {
  std::uint64_t offsets = 0;       ///< number of values of FileNeighbors::offsets
  std::uint64_t ids = 0;           ///< number of values of FileNeighbors::ids
  std::uint64_t distances = 0;     ///< number of values of FileNeighbors::distances
  double eps = 0;                  ///< as FileNeighbors::eps
  std::uint64_t memory_taken = 0;  ///< bytes of ReadOptions::memory that the reader itself holds
};

/// The arrays of a table: offsets as std::uint64_t, ids as std::uint32_t, distances as double.
enum class TableArray : std::uint64_t { offsets, ids, distances };

/// Thrown for an impossible shape or values. A process that reads a damaged file may send anything.
struct BadValues {};

/// Takes first a shape, by one of the two begin(), then every value once, in any order. Rows outside of
/// ReadOptions::share are optional.
class ValueSink {
 public:
  ValueSink() = default;
  virtual ~ValueSink() = default;
  ValueSink(const ValueSink&) = delete;
  ValueSink& operator=(const ValueSink&) = delete;

  virtual void begin(const PointsShape& /*shape*/) { throw BadValues(); }
  virtual void begin(const NeighborsShape& /*shape*/) { throw BadValues(); }

  /// The column number that stands for whole rows of points. Column k + 1 is coordinate k, and the weights count as the
  /// last coordinate. Column a of a table is TableArray a.
  static constexpr std::uint64_t kWholeRows = 0;

  /// Puts the bytes of values of one column, from row `first` of the file on. The bytes must be whole values, or whole
  /// rows for kWholeRows.
  virtual void put(std::uint64_t first, std::uint64_t column, std::span<const std::byte> values) = 0;

  /// Puts whole rows from row `first` on, row-major. T must match the shape's precision.
  template <class T>
  void put_rows(std::uint64_t first, std::span<const T> values) {
    put(first, kWholeRows, std::as_bytes(values));
  }
  /// Puts coordinate k of the rows from row `first` on. T must match the shape's precision.
  template <class T>
  void put_coordinate(std::uint64_t first, std::size_t k, std::span<const T> values) {
    put(first, k + 1, std::as_bytes(values));
  }
  /// Puts values of an array of a table from value `first` on.
  template <class T>
  void put_array(TableArray array, std::uint64_t first, std::span<const T> values) {
    put(first, static_cast<std::uint64_t>(array), std::as_bytes(values));
  }
};

/// Fills `to` with the next bytes of the values that are put.
using ReadBytes = std::function<void(std::span<std::byte> to)>;

/// A sink that stores the values of rows within ReadOptions::share, and drops other rows. Throws BadValues for values
/// beyond the shape, for a second shape, and for values before the shape.
class ValueStore : public ValueSink {
 public:
  void put(std::uint64_t first, std::uint64_t column, std::span<const std::byte> values) override;

  /// As put(), for `bytes` bytes that `read` writes: directly into the store if the rows of the column are contiguous.
  void put_from(std::uint64_t first, std::uint64_t column, std::uint64_t bytes, const ReadBytes& read);

  /// True if it takes a neighbour table, not points.
  [[nodiscard]] virtual bool takes_table() const noexcept { return false; }
  /// True if the shape has been passed.
  [[nodiscard]] bool has_begun() const noexcept { return !columns_.empty(); }
  /// True if the shape has been passed, and as many values as there are in the stored rows.
  [[nodiscard]] bool is_complete() const noexcept { return has_begun() && missing_ == 0; }

 protected:
  /// The destination of the values of a column. Rows outside of `kept` are dropped.
  struct ColumnTarget {
    std::byte* to = nullptr;  ///< address of the first row that is kept
    std::size_t size = 0;     ///< bytes of the column in a row
    std::size_t stride = 0;   ///< bytes from one row to the next
    std::uint64_t rows = 0;   ///< rows in the file
    RowRange kept = {};
  };

  /// Sets the destinations of columns 0, 1, …, and the number of bytes that all stored values take together. Throws
  /// BadValues if they are set already.
  void expect(std::vector<ColumnTarget> columns, std::uint64_t bytes);
  static void require(bool is_possible) {
    if (!is_possible) throw BadValues();
  }

 private:
  std::vector<ColumnTarget> columns_;
  std::uint64_t missing_ = 0;  ///< bytes that have not been put
};

/// Makes points. begin() throws as make_points(), and BadValues.
class PointsBuilder final : public ValueStore {
 public:
  /// The source must outlive the object.
  explicit PointsBuilder(const Source& source) noexcept : source_(source) {}

  using ValueSink::begin;
  void begin(const PointsShape& shape) override;

  /// Applies the NaN policy and returns the points. Must be called at most once, and only if is_complete(). Throws
  /// InputError as finish_points().
  [[nodiscard]] FilePoints take();

 private:
  const Source& source_;
  PointsShape shape_;
  FilePoints points_;
};

/// Makes a neighbour table. begin() throws ResourceError if the table exceeds memory_left(), and BadValues.
class NeighborsBuilder final : public ValueStore {
 public:
  /// The source must outlive the object.
  explicit NeighborsBuilder(const Source& source) noexcept : source_(source) {}

  [[nodiscard]] bool takes_table() const noexcept override { return true; }
  using ValueSink::begin;
  void begin(const NeighborsShape& shape) override;

  /// Returns the table, whose values are not checked. Must be called at most once, and only if is_complete().
  [[nodiscard]] FileNeighbors take() noexcept { return std::move(table_); }

 private:
  const Source& source_;
  FileNeighbors table_;
};

}  // namespace epsflow::io
