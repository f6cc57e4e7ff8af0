// Converts rows of a text table to rows of coordinates. Reading text spends most of its time in this loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <epsflow/io/read/text/text_fields.hpp>
#include <epsflow/io/read_points.hpp>

namespace epsflow::io {

/// Slots of fields that are not coordinates: the field is ignored, or must be empty, as after the last bar of a line.
inline constexpr std::size_t kUnused = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kBar = kUnused - 1;

/// The layout of every row of a table.
struct RowShape {
  Dialect dialect;
  /// For each field of a row: its coordinate (the first if there are several), kUnused or kBar
  std::vector<std::size_t> slots;
  std::size_t dims = 0;
};

enum class Fault : std::uint8_t { none, ragged, open_quote, not_finite, not_a_number, rounded_integer };

/// The result of parsing consecutive lines.
struct ChunkResult {
  std::uint64_t rows = 0;   ///< data rows read, except the faulty one
  std::uint64_t kept = 0;   ///< rows written to `out`
  std::uint64_t lines = 0;  ///< lines before the faulty row
  Fault fault = Fault::none;
  std::size_t fault_field = 0;         ///< index of the faulty field in its row
  const char* fault_row = nullptr;     ///< begin of the faulty row; null without a fault
  std::vector<std::uint64_t> dropped;  ///< dropped rows, counted from the first row of the lines
};

/// Parses whole lines into rows of `out`, which must have space for all of them. Stops at the first fault. O(bytes).
/// Thread-safe for disjoint `out`.
[[nodiscard]] ChunkResult parse_rows(const RowShape& shape, NanPolicy on_nan, std::span<const char> lines, double* out);

}  // namespace epsflow::io
