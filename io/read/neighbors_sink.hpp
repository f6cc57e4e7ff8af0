// Where a parser of a foreign library puts a table of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace epsflow::io {

/// What a reader knows before the first value.
struct NeighborsShape {
  std::uint64_t offsets = 0;
  std::uint64_t ids = 0;
  std::uint64_t distances = 0;
  double eps = 0;
  std::uint64_t memory_taken = 0;  ///< bytes of ReadOptions::memory that the reader itself holds
};

/// The arrays of a table.
enum class TableArray : std::uint64_t { offsets, ids, distances };

/// Takes first the shape, then every value: offsets as std::uint64_t, ids as std::uint32_t, distances as double.
class NeighborsSink {
 public:
  NeighborsSink() = default;
  virtual ~NeighborsSink() = default;
  NeighborsSink(const NeighborsSink&) = delete;
  NeighborsSink& operator=(const NeighborsSink&) = delete;

  virtual void begin(const NeighborsShape& shape) = 0;
  /// Bytes of values from the `first` on.
  virtual void put(TableArray array, std::uint64_t first, std::span<const std::byte> values) = 0;
};

}  // namespace epsflow::io
